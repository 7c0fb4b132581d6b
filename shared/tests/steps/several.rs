//! A process is killed at each step beside other writers: while it joins, publishes, leaves, closes, and
//! repairs what another dead writer left.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use lapwing_shared::error::PollError;
use lapwing_shared::{MultiWriter, Reader};

use crate::role::{begin, end};
use crate::trace::{At, Traced};
use crate::{CAPACITY, LONG, folder, for_each_call, for_each_store, is_empty, segment};

/// The events of the process that is killed are this and more.
const OF_CHILD: u64 = 1_000;

/// What the traced process does beside other writers.
pub(crate) fn play(role: &str, folder: &Path) {
    match role {
        "join writers" => {
            begin();
            let writer = join(folder);
            end();
            drop(writer);
        }
        "publish beside others" => {
            let mut writer = join(folder);
            for number in 0..2 {
                writer.publish(|event| *event = OF_CHILD + number);
            }
            begin();
            writer.publish(|event| *event = OF_CHILD + 2);
            end();
        }
        "leave writers" => {
            let writer = join(folder);
            begin();
            drop(writer);
            end();
        }
        other => panic!("no role {other}"),
    }
}

fn join(folder: &Path) -> MultiWriter<u64> {
    segment(folder).writers(2).create_or_join(CAPACITY).unwrap()
}

/// What a reader has got: the next number of each writer.
#[derive(Debug, Default, PartialEq, Eq)]
struct Got {
    steady: u64,
    child: u64,
}

impl Got {
    /// Reads what there is. Checks that no event of either writer is missing, and none comes twice.
    fn read(&mut self, reader: &mut Reader<u64>) -> Result<(), PollError> {
        let start = Instant::now();
        let batch = reader.wait_timeout(LONG);
        assert!(start.elapsed() < LONG, "nobody has woken the reader");
        for (_, &event) in batch?.iter() {
            let (next, number) = match event.checked_sub(OF_CHILD) {
                Some(number) => (&mut self.child, number),
                None => (&mut self.steady, event),
            };
            assert_eq!(number, *next);
            *next += 1;
        }
        Ok(())
    }
}

/// Publishes the next event of the writer that is not killed.
fn publish_in_time(writer: &mut MultiWriter<u64>, next: &mut u64) {
    let (number, start) = (*next, Instant::now());
    assert!(writer.publish_timeout(LONG, |event| *event = number).is_ok());
    assert!(start.elapsed() < LONG, "a dead process holds up the writer");
    *next += 1;
}

/// Publishes `count` events, each of which the reader gets.
fn hand_over(
    (writer, next): (&mut MultiWriter<u64>, &mut u64),
    (reader, got): (&mut Reader<u64>, &mut Got),
    count: usize,
) {
    for _ in 0..count {
        publish_in_time(writer, next);
        while got.steady < *next {
            got.read(reader).unwrap();
        }
    }
}

/// Waits until the seats of all dead writers are free.
fn wait_until_alone(writer: &MultiWriter<u64>) {
    let deadline = Instant::now() + LONG;
    while writer.writers().len() != 1 {
        assert!(Instant::now() < deadline, "a dead writer keeps its seat");
        thread::yield_now();
    }
}

/// A writer is killed while it does its part beside another one, for whose events a reader is parked.
fn check_beside(role: &str, at: At) -> bool {
    let folder = folder();
    let mut steady = join(folder.path());
    let mut reader = segment(folder.path()).open().unwrap();
    let (mut next, mut got) = (0, Got::default());
    hand_over((&mut steady, &mut next), (&mut reader, &mut got), 2);
    let child = Traced::start(role, folder.path());
    let is_killed = thread::scope(|scope| {
        let reading = scope.spawn(|| {
            while got.steady < 3 {
                got.read(&mut reader).unwrap();
            }
        });
        thread::sleep(Duration::from_millis(2)); // it parks
        let is_killed = child.kill_at(at);
        publish_in_time(&mut steady, &mut next);
        reading.join().unwrap();
        is_killed
    });
    hand_over((&mut steady, &mut next), (&mut reader, &mut got), 3 * CAPACITY);
    wait_until_alone(&steady);
    drop(steady);
    assert_eq!(got.read(&mut reader), Err(PollError::Closed));
    drop(reader);
    assert!(is_empty(folder.path()));
    is_killed
}

#[test]
fn a_writer_dies_while_it_joins_others() {
    assert!(for_each_store(|at| check_beside("join writers", at)) >= 2);
    assert!(for_each_call(|at| check_beside("join writers", at)) > 20);
}

#[test]
fn a_writer_dies_while_it_publishes_beside_others() {
    assert!(for_each_store(|at| check_beside("publish beside others", at)) >= 4);
    assert!(for_each_call(|at| check_beside("publish beside others", at)) >= 2);
}

#[test]
fn a_writer_dies_while_it_leaves_others() {
    assert!(for_each_store(|at| check_beside("leave writers", at)) >= 1);
    assert!(for_each_call(|at| check_beside("leave writers", at)) > 4);
}

/// The last writer is killed while it publishes, or while it closes the segment. A reader gets what it
/// published, and the next writer goes on.
fn check_last(role: &str, at: At) -> bool {
    let folder = folder();
    let child = Traced::start(role, folder.path());
    let mut reader = segment(folder.path()).from_oldest().open().unwrap();
    let mut got = Got::default();
    let is_killed = child.kill_at(at);
    let end = loop {
        if let Err(error) = got.read(&mut reader) {
            break error;
        }
    };
    assert!(got.child >= 2 || !role.starts_with("publish"));
    let mut steady = join(folder.path());
    let mut next = 0;
    if steady.has_joined() {
        assert_eq!(end, PollError::WriterGone);
        assert!(reader.wait_for_writer(LONG));
    } else {
        assert_eq!(end, PollError::Closed);
        reader = segment(folder.path()).open().unwrap();
    }
    hand_over((&mut steady, &mut next), (&mut reader, &mut got), 3 * CAPACITY);
    drop((steady, reader));
    assert!(is_empty(folder.path()));
    is_killed
}

#[test]
fn the_last_writer_dies_while_it_publishes() {
    assert!(for_each_store(|at| check_last("publish beside others", at)) >= 4);
}

#[test]
fn the_last_writer_dies_while_it_closes() {
    assert!(for_each_store(|at| check_last("leave writers", at)) >= 2);
    assert!(for_each_call(|at| check_last("leave writers", at)) > 10);
}

/// A process is killed while it repairs what another one left that was killed before. The next one
/// goes on with that.
fn check_repair(at: At) -> bool {
    let folder = folder();
    assert!(Traced::start("publish beside others", folder.path()).kill_at(At::Store(AFTER_CLAIM)));
    if !Traced::start("join writers", folder.path()).kill_at(at) {
        return false; // and the last writer has closed the segment
    }
    let mut reader = segment(folder.path()).from_oldest().open().unwrap();
    let mut got = Got::default();
    while got.child < 2 {
        got.read(&mut reader).unwrap();
    }
    let (mut steady, mut next) = (join(folder.path()), 0);
    hand_over((&mut steady, &mut next), (&mut reader, &mut got), 3 * CAPACITY);
    assert_eq!(got.child, 2);
    wait_until_alone(&steady);
    drop((steady, reader));
    assert!(is_empty(folder.path()));
    true
}

/// Number of stores of a publication until the sequence is claimed.
const AFTER_CLAIM: usize = 2;

#[test]
fn a_writer_dies_while_it_repairs() {
    assert!(for_each_store(check_repair) >= 4);
    assert!(for_each_call(check_repair) > 20);
}

/// The last writer has closed the segment, and is stopped before it has removed it. The next one does
/// not wait for it.
#[test]
fn a_writer_that_is_stopped_after_its_close_is_replaced() {
    let folder = folder();
    let child = Traced::start("leave writers", folder.path());
    let mut reader = segment(folder.path()).from_oldest().open().unwrap();
    let mut stores = 0;
    while reader.poll().err() != Some(PollError::Closed) {
        assert!(child.go_to_store(1));
        stores += 1;
    }
    println!("closed by store {stores}");
    assert!(!join(folder.path()).has_joined());
}
