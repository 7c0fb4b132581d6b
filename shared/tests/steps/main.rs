//! Kills a process at each step that others can see: at each store to the segment, and before and
//! after each call of the system, while it joins, releases, leaves, publishes, creates, takes over
//! and closes. Whenever that is, the others go on. `several` has the same beside other writers.
//!
//! The process is traced (`ptrace`), so each of its instructions is a stop at which it can be killed.

#![cfg(all(target_os = "linux", target_arch = "x86_64", not(loom)))]

mod role;
mod several;
mod trace;

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use lapwing_shared::error::{PollError, WaitError};
use lapwing_shared::{Reader, Segment, Writer};

use trace::{At, Traced};

/// Long enough for whatever has to happen, however busy the machine is.
const LONG: Duration = Duration::from_secs(20);

const CAPACITY: usize = 4;

fn folder() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("lapwing-steps-").tempdir().unwrap()
}

/// An event is its sequence.
fn segment(folder: &Path) -> Segment<u64> {
    Segment::named("steps").folder(folder).seats(2)
}

/// Publishes the next event. Fails if that takes so long that nobody has woken the writer.
fn publish_in_time(writer: &mut Writer<u64>) -> u64 {
    let (next, start) = (writer.sequence(), Instant::now());
    assert_eq!(writer.publish_timeout(LONG, |event| *event = next), Ok(next));
    assert!(start.elapsed() < LONG, "a dead reader holds up the writer");
    next
}

/// Publishes `count` events, each of which the reader gets.
fn hand_over(writer: &mut Writer<u64>, reader: &mut Reader<u64>, count: usize) {
    for _ in 0..count {
        let next = publish_in_time(writer);
        while reader.sequence() <= next {
            read(reader).unwrap();
        }
    }
}

/// Reads what there is. Checks that no event is missing, and none comes twice.
fn read(reader: &mut Reader<u64>) -> Result<(), PollError> {
    let (next, start) = (reader.sequence(), Instant::now());
    let batch = reader.wait_timeout(LONG);
    assert!(start.elapsed() < LONG, "nobody has woken the reader");
    let mut batch = batch?;
    for (expected, (sequence, event)) in (next..).zip(batch.iter()) {
        assert_eq!((sequence, *event), (expected, expected));
    }
    Ok(())
}

/// Runs `trial` with each store until the process gets to the end of what it does. Returns the number
/// of stores.
fn for_each_store(trial: impl Fn(At) -> bool) -> usize {
    let stores = (0..).take_while(|&store| trial(At::Store(store))).count();
    println!("{stores} stores");
    stores
}

/// Runs `trial` with calls like [`for_each_store`], but with each third one only, unless
/// `LAPWING_STEPS` is `all`: there are many.
fn for_each_call(trial: impl Fn(At) -> bool) -> usize {
    let stride =
        if std::env::var("LAPWING_STEPS").is_ok_and(|steps| steps == "all") { 1 } else { 3 };
    let calls = (0..).step_by(stride).take_while(|&call| trial(At::Call(call))).count();
    println!("{calls} calls, {stride} apart");
    calls * stride
}

/// Publishes like [`hand_over`], but tries again and again, as a program does that never parks.
fn hand_over_without_parking(writer: &mut Writer<u64>, reader: &mut Reader<u64>, count: usize) {
    let deadline = Instant::now() + LONG;
    for _ in 0..count {
        let next = writer.sequence();
        while writer.try_publish(|event| *event = next).is_err() {
            assert!(Instant::now() < deadline, "a dead reader holds up the writer");
            thread::yield_now();
        }
        while reader.sequence() <= next {
            read(reader).unwrap();
        }
    }
}

/// A reader is killed while it joins. The writer and the other reader go on.
fn check_join(at: At) -> bool {
    let folder = folder();
    let mut writer = segment(folder.path()).create(CAPACITY).unwrap();
    let mut steady = segment(folder.path()).open().unwrap();
    hand_over(&mut writer, &mut steady, 2);
    let is_killed = Traced::start("join", folder.path()).kill_at(at);
    hand_over_without_parking(&mut writer, &mut steady, 3 * CAPACITY);
    assert_eq!(writer.readers().len(), 1);
    writer.close();
    assert_eq!(read(&mut steady), Err(PollError::Closed));
    drop(steady);
    assert!(is_empty(folder.path()));
    is_killed
}

#[test]
fn a_reader_dies_while_it_joins() {
    assert!(for_each_store(check_join) > 4);
    assert!(for_each_call(check_join) > 20);
}

/// A reader is killed while it releases an event for which the writer is parked, or leaves.
fn check_parked(role: &str, at: At) -> bool {
    let folder = folder();
    let mut writer = segment(folder.path()).create(CAPACITY).unwrap();
    let child = Traced::start(role, folder.path());
    (0..CAPACITY as u64).for_each(|next| _ = writer.publish(|event| *event = next));
    thread::scope(|scope| {
        let writing = scope.spawn(|| publish_in_time(&mut writer));
        thread::sleep(Duration::from_millis(2)); // it parks
        let is_killed = child.kill_at(at);
        writing.join().unwrap();
        is_killed
    })
}

#[test]
fn a_reader_dies_while_it_releases() {
    assert!(for_each_store(|at| check_parked("release", at)) >= 2);
    assert!(for_each_call(|at| check_parked("release", at)) >= 2);
}

#[test]
fn a_reader_dies_while_it_leaves() {
    assert!(for_each_store(|at| check_parked("leave", at)) >= 2);
    assert!(for_each_call(|at| check_parked("leave", at)) > 4);
}

/// A writer is killed while it publishes an event for which a reader is parked.
fn check_publish(at: At) -> bool {
    let folder = folder();
    let child = Traced::start("publish", folder.path());
    let mut reader = segment(folder.path()).from_oldest().open().unwrap();
    thread::scope(|scope| {
        let reading = scope.spawn(|| {
            while reader.sequence() < 3 && read(&mut reader).is_ok() {}
            reader
        });
        thread::sleep(Duration::from_millis(2)); // it parks
        let is_killed = child.kill_at(at);
        let mut reader = reading.join().unwrap();
        if is_killed {
            let gone = loop {
                if let Err(error) = read(&mut reader) {
                    break error;
                }
            };
            assert_eq!(gone, PollError::WriterGone);
            let mut writer = segment(folder.path()).create(CAPACITY).unwrap();
            assert_eq!((writer.has_taken_over(), writer.sequence()), (true, reader.sequence()));
            assert!(reader.wait_for_writer(LONG));
            hand_over(&mut writer, &mut reader, 3 * CAPACITY);
        }
        is_killed
    })
}

#[test]
fn a_writer_dies_while_it_publishes() {
    assert!(for_each_store(check_publish) >= 2);
    assert!(for_each_call(check_publish) >= 2);
}

/// A writer is killed while it creates a segment, takes one over or closes it.
fn check_writer(role: &str, at: At) -> bool {
    let folder = folder();
    let mut old = (role != "create").then(|| {
        let mut writer = segment(folder.path()).create(CAPACITY).unwrap();
        let mut reader = segment(folder.path()).open().unwrap();
        hand_over(&mut writer, &mut reader, 2);
        writer.hand_over();
        reader
    });
    let is_killed = Traced::start(role, folder.path()).kill_at(at);
    let mut writer = segment(folder.path()).create(CAPACITY).unwrap();
    match &mut old {
        Some(reader) if writer.has_taken_over() => {
            assert!(reader.wait_for_writer(LONG));
            hand_over(&mut writer, reader, 3 * CAPACITY);
        }
        Some(reader) => {
            assert_eq!(reader.wait().err(), Some(WaitError::Closed));
            assert!(writer.sequence() == 0);
        }
        None => assert_eq!(writer.sequence(), 0),
    }
    drop(old);
    let mut reader = segment(folder.path()).open().unwrap();
    hand_over(&mut writer, &mut reader, 3 * CAPACITY);
    drop((writer, reader));
    assert!(is_empty(folder.path()));
    is_killed
}

#[test]
fn a_writer_dies_while_it_creates_a_segment() {
    assert!(for_each_call(|at| check_writer("create", at)) > 20);
}

#[test]
fn a_writer_dies_while_it_takes_a_segment_over() {
    assert!(for_each_store(|at| check_writer("take over", at)) >= 2);
    assert!(for_each_call(|at| check_writer("take over", at)) > 20);
}

#[test]
fn a_writer_dies_while_it_closes_a_segment() {
    assert!(for_each_store(|at| check_writer("close", at)) >= 2);
    assert!(for_each_call(|at| check_writer("close", at)) > 10);
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().count() == 0
}
