//! Several writers of one segment: their events are in one order, and one that is killed or stopped
//! harms nobody else.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use lapwing_shared::error::{CreateError, Difference, Full, OpenError, PollError, WaitError};
use lapwing_shared::{MultiWriter, Reader};

use crate::child::{Child, say, segment};
use crate::{Event, Folder, LONG};

const CAPACITY: usize = 64;

/// The number of events of each writer so far. An event is its writer and its number there.
type Counts = BTreeMap<u64, u64>;

fn join(folder: &Folder) -> MultiWriter<Event> {
    folder.segment().create_or_join(CAPACITY).unwrap()
}

/// Publishes the next events of a writer: one by one, and then several at once.
fn publish_some(writer: &mut MultiWriter<Event>, own: u64, next: &mut u64) {
    let event = |number| [own, number];
    for _ in 0..5 {
        writer.publish(|slot| {
            *slot = event(*next);
            (0..500).for_each(|_| std::hint::spin_loop()); // so that some are killed here
        });
        *next += 1;
    }
    let events: Vec<_> = (*next..*next + 20).map(event).collect();
    writer.publish_all(&events);
    *next += 20;
}

/// Takes what there is. Checks that the events of each writer are in order, that none is missing and
/// none comes twice. Returns how many sequences were skipped.
fn take(reader: &mut Reader<Event>, counts: &mut Counts, wait: Duration) -> Result<u64, PollError> {
    let before = reader.sequence();
    let mut batch = reader.wait_timeout(wait)?;
    let skipped = batch.first_sequence() - before;
    for (_, &[writer, number]) in batch.iter() {
        let count = counts.entry(writer).or_default();
        assert_eq!(number, *count, "of writer {writer}");
        *count += 1;
    }
    Ok(skipped)
}

/// Takes all events until there are no more. Returns how many sequences were skipped, and why there
/// are no more.
fn take_all(reader: &mut Reader<Event>, counts: &mut Counts) -> (u64, PollError) {
    let mut skipped = 0;
    loop {
        match take(reader, counts, LONG) {
            Ok(count) => skipped += count,
            Err(end) => return (skipped, end),
        }
    }
}

/// In a child: publishes until it is killed.
pub(crate) fn write() {
    let mut writer = loop {
        match segment().create_or_join(CAPACITY) {
            Ok(writer) => break writer,
            Err(CreateError::NoSeat { .. }) => std::thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    };
    let (own, mut next) = (std::process::id().into(), 0);
    loop {
        publish_some(&mut writer, own, &mut next);
    }
}

/// In a child: publishes 1,000 events.
pub(crate) fn write_a_thousand() {
    let mut writer = segment().create_or_join(CAPACITY).unwrap();
    say("ready");
    let (own, mut next) = (std::process::id().into(), 0);
    while next < 1_000 {
        publish_some(&mut writer, own, &mut next);
    }
    drop(writer);
    say("done");
}

/// In a child: publishes three events, and one that it does not complete.
pub(crate) fn write_and_hold() {
    let mut writer = segment().create_or_join(CAPACITY).unwrap();
    let own = std::process::id().into();
    for number in 0..3 {
        writer.publish(|event| *event = [own, number]);
    }
    writer.publish(|event| {
        *event = [own, 3];
        say("ready");
        std::thread::sleep(LONG);
    });
}

/// Reads 3,000 events, without a gap. Returns the writer and the number of each.
fn read_three_thousand(reader: &mut Reader<Event>) -> Vec<Event> {
    let (mut counts, mut order) = (Counts::new(), Vec::new());
    while order.len() < 3_000 {
        let mut batch = reader.wait_timeout(LONG).unwrap();
        for (sequence, &[writer, number]) in batch.iter() {
            assert_eq!(sequence, order.len() as u64);
            let count = counts.entry(writer).or_default();
            assert_eq!(number, *count);
            *count += 1;
            order.push([writer, number]);
        }
    }
    order
}

#[test]
fn readers_get_the_events_of_all_writers_in_one_order() {
    let folder = Folder::new();
    let first = join(&folder);
    let mut readers = [(); 2].map(|()| folder.segment().open().unwrap());
    let start = |()| Child::ready("write a thousand beside others", folder.path());
    let mut writers = [(); 3].map(start);
    drop(first);
    let seen = std::thread::scope(|scope| {
        let threads = readers.each_mut().map(|reader| scope.spawn(|| read_three_thousand(reader)));
        threads.map(|thread| thread.join().unwrap())
    });
    assert!(seen[0] == seen[1]);
    for writer in &mut writers {
        assert_eq!(writer.line(), "done");
    }
    for reader in &mut readers {
        assert_eq!(reader.wait().err(), Some(WaitError::Closed));
    }
    drop(readers);
    assert_eq!(folder.entries().len(), 0);
}

#[test]
fn what_a_dead_writer_had_claimed_is_skipped() {
    let folder = Folder::new();
    let mut writer = join(&folder);
    let mut reader = folder.segment().open().unwrap();
    let child = Child::ready("claim and hold", folder.path());
    assert_eq!(writer.writers(), [std::process::id(), child.pid()]);
    assert_eq!(writer.publish(|event| *event = [0, 0]), 4);
    assert_eq!(reader.wait().unwrap().len(), 3);
    reader.poll().unwrap().consume_all();
    assert_eq!(reader.wait_timeout(Duration::from_millis(50)).err(), Some(PollError::Empty));

    child.kill();
    let start = Instant::now();
    let mut batch = reader.wait_timeout(LONG).unwrap();
    println!("the reader went on after {:?}", start.elapsed());
    assert_eq!(batch.iter().collect::<Vec<_>>(), [(4, &[0, 0])]);
    drop(batch);
    assert_eq!((reader.sequence(), writer.writers().len()), (5, 1));
}

#[test]
fn a_stopped_writer_keeps_its_claim() {
    let folder = Folder::new();
    let mut writer = join(&folder);
    let child = Child::ready("claim and hold", folder.path());
    child.stop();
    // Without readers, the slot of its event is the only one that is not free.
    let published = std::iter::from_fn(|| {
        let timeout = Duration::from_millis(100);
        writer.publish_timeout(timeout, |event| *event = [0, 0]).ok()
    });
    assert_eq!(published.last(), Some(2 + CAPACITY as u64));
    child.kill();
    let start = Instant::now();
    assert_eq!(writer.publish_timeout(LONG, |event| *event = [0, 0]), Ok(3 + CAPACITY as u64));
    assert!(start.elapsed() < LONG);
}

#[test]
fn an_event_whose_writer_panics_is_skipped() {
    let folder = Folder::new();
    let mut writer = join(&folder);
    let mut reader = folder.segment().open().unwrap();
    let panics = AssertUnwindSafe(|| writer.publish(|_| panic!("as it should")));
    assert!(catch_unwind(panics).is_err());
    assert_eq!(reader.poll().err(), Some(PollError::Empty));
    assert_eq!(reader.sequence(), 1);
    assert_eq!(writer.publish(|event| *event = [0, 0]), 1);
    assert_eq!(reader.poll().unwrap().as_slice(), [[0, 0]]);
}

#[test]
fn the_last_writer_closes() {
    let folder = Folder::new();
    let (mut first, mut second) = (join(&folder), join(&folder));
    let (mut reader, mut counts) = (folder.segment().open().unwrap(), Counts::new());
    publish_some(&mut first, 1, &mut 0);
    drop(first);
    publish_some(&mut second, 2, &mut 0);
    second.hand_over();
    assert_eq!(take_all(&mut reader, &mut counts), (0, PollError::WriterGone));

    let mut third = join(&folder);
    assert!(third.has_joined());
    assert!(reader.wait_for_writer(LONG));
    publish_some(&mut third, 3, &mut 0);
    drop(third);
    assert_eq!(take_all(&mut reader, &mut counts), (0, PollError::Closed));
    assert_eq!(counts, Counts::from([(1, 25), (2, 25), (3, 25)]));
    drop(reader);
    assert_eq!(folder.entries().len(), 0);
    assert!(!join(&folder).has_joined());
}

#[test]
fn a_writer_joins_after_all_were_killed() {
    let folder = Folder::new();
    let children = [(); 2].map(|()| Child::ready("claim and hold", folder.path()));
    let (mut reader, mut counts) = (folder.segment().from_oldest().open().unwrap(), Counts::new());
    children.into_iter().for_each(Child::kill);
    let (skipped, end) = take_all(&mut reader, &mut counts);
    assert_eq!(end, PollError::WriterGone);
    assert_eq!((reader.sequence(), counts.values().sum::<u64>()), (8, 6));
    // The last of them may have been skipped behind the last event.
    assert!(skipped == 1 || skipped == 2, "{skipped}");
    let mut writer = join(&folder);
    assert!(writer.has_joined() && writer.writers().len() == 1);
    assert_eq!(writer.publish(|event| *event = [0, 0]), 8);
    assert!(reader.wait_for_writer(LONG));
    assert_eq!(reader.wait().unwrap().as_slice(), [[0, 0]]);
}

/// Another process that creates or opens a segment has locked it, and is stopped.
#[test]
fn the_last_writer_closes_while_the_folder_is_locked() {
    let folder = Folder::new();
    let writer = join(&folder);
    let mut reader = folder.segment().open().unwrap();
    let locked = std::fs::File::open(folder.path()).unwrap();
    rustix::fs::flock(&locked, rustix::fs::FlockOperation::LockExclusive).unwrap();
    drop(writer);
    assert_eq!(reader.wait().err(), Some(WaitError::Closed));
}

/// In a child: drops the last writer while the program has no descriptor left.
pub(crate) fn drop_without_descriptors() {
    let writer = segment().create_or_join(CAPACITY).unwrap();
    say("ready");
    while writer.writers().len() != 1 || !writer.wait_for_readers(1, LONG) {}
    let open = std::fs::read_dir("/proc/self/fd").unwrap().count() as u64 - 1;
    let few = rustix::process::Rlimit { current: Some(open), maximum: Some(open) };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, few).unwrap();
    let others: Vec<_> = std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).collect();
    drop(writer);
    drop(others);
    say("dropped");
}

#[test]
fn the_last_writer_closes_without_descriptors() {
    let folder = Folder::new();
    let steady = join(&folder); // so that the child is not the first, and looks for others
    let mut reader = folder.segment().open().unwrap();
    let mut child = Child::ready("drop without descriptors", folder.path());
    steady.hand_over();
    assert_eq!(child.line(), "dropped");
    assert_eq!(reader.wait().err(), Some(WaitError::Closed));
}

#[test]
fn the_seat_of_a_writer_that_was_just_killed_is_free_in_a_moment() {
    let folder = Folder::new();
    let child = Child::ready("claim and hold", folder.path());
    let other = folder.segment().writers(16).create_or_join(CAPACITY).unwrap();
    other.hand_over();
    let seats = || folder.segment().create_or_join(CAPACITY);
    let others: Vec<_> = std::iter::from_fn(|| seats().ok()).collect();
    assert_eq!(others.len(), 15);
    let pid = rustix::process::Pid::from_raw(child.pid().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    assert!(seats().is_ok());
}

/// A program that cleans up has removed a pipe.
#[test]
fn a_damaged_segment_of_several_is_joined_or_replaced() {
    let damage = |name: &str| {
        let folder = Folder::new();
        join(&folder).hand_over();
        std::fs::remove_file(folder.path().join("ticks.segment").join(name)).unwrap();
        join(&folder).has_joined()
    };
    assert!(damage("writer-0")); // there are other seats
    assert!(damage("seat-0"));
    assert!(!damage("memory"));
    let folder = Folder::new();
    let segment = || folder.segment().writers(1);
    segment().create_or_join(CAPACITY).unwrap().hand_over();
    std::fs::remove_file(folder.path().join("ticks.segment/writer-0")).unwrap();
    assert!(!segment().create_or_join(CAPACITY).unwrap().has_joined());
}

#[test]
fn a_living_writer_behind_a_removed_pipe_is_not_replaced() {
    let folder = Folder::new();
    let (first, second) = (join(&folder), join(&folder));
    drop(first);
    std::fs::remove_file(folder.path().join("ticks.segment/writer-0")).unwrap();
    let pid = std::process::id();
    assert_eq!(folder.segment().create(CAPACITY).err(), Some(CreateError::HasWriter { pid }));
    drop(second);
}

/// The new segment is in place of the pipe by which a reader would find the writer dead.
#[test]
fn a_reader_of_a_segment_that_was_replaced_gets_to_its_end() {
    let folder = Folder::new();
    let child = Child::ready("claim and hold", folder.path());
    let (mut reader, mut counts) = (folder.segment().from_oldest().open().unwrap(), Counts::new());
    child.kill();
    let writer = folder.segment().create(CAPACITY).unwrap();
    assert_eq!(take_all(&mut reader, &mut counts).1, PollError::Closed);
    assert_eq!((reader.sequence(), counts.into_values().collect()), (4, vec![3]));
    drop(writer);
}

#[test]
fn a_segment_has_one_writer_or_several() {
    let folder = Folder::new();
    let pid = std::process::id();
    let several = join(&folder);
    assert_eq!(folder.segment().create(CAPACITY).err(), Some(CreateError::HasWriter { pid }));
    let differs = |difference| Some(CreateError::Differs(difference));
    let (program, segment) = (2 * CAPACITY, CAPACITY);
    let other = folder.segment().create_or_join(program);
    assert_eq!(other.err(), differs(Difference::Capacity { program, segment }));
    let other = folder.segment().writers(2).create_or_join(CAPACITY);
    assert_eq!(other.err(), differs(Difference::Writers { program: 2, segment: 16 }));
    let other = folder.segment().seats(2).create_or_join(CAPACITY);
    assert_eq!(other.err(), differs(Difference::Seats { program: 2, segment: 16 }));
    several.hand_over();

    let one = folder.segment().create(CAPACITY).unwrap();
    assert!(!one.has_taken_over());
    let other = folder.segment().create_or_join(CAPACITY);
    assert_eq!(other.err(), differs(Difference::Writers { program: 16, segment: 0 }));
    one.hand_over();
    assert!(!join(&folder).has_joined());

    for requested in [0, 1025] {
        let writer = folder.segment().writers(requested).create_or_join(CAPACITY);
        assert_eq!(writer.err(), Some(CreateError::Writers { requested }));
    }
}

#[test]
fn a_dead_reader_does_not_hold_up_writers() {
    let folder = Folder::new();
    let mut writers = [(); 2].map(|()| join(&folder));
    let reader = Child::ready("hold", folder.path());
    while writers[0].try_publish(|event| *event = [0, 0]).is_ok() {}
    assert_eq!(writers[1].publish_timeout(Duration::from_millis(20), |_| {}), Err(Full));
    reader.kill();
    for writer in &mut writers {
        let start = Instant::now();
        assert!(writer.publish_timeout(LONG, |event| *event = [0, 0]).is_ok());
        assert!(start.elapsed() < LONG);
    }
}

/// Writers join, publish and are killed. The others go on, and a reader gets each event once, in the
/// order of its writer.
#[test]
fn killed_writers_harm_no_other_writer() {
    let folder = Folder::new();
    let mut steady = join(&folder);
    let (mut reader, mut counts) = (folder.segment().open().unwrap(), Counts::new());
    let (mut state, mut next, mut skipped) = (3, 0, 0);
    let mut longest = Duration::ZERO;
    let mut children = [(); 2].map(|()| Child::start("write beside others", folder.path()));
    for kill in 0..crate::kills::kills() as usize {
        let end = Instant::now() + crate::kills::moment(&mut state);
        while Instant::now() < end {
            let start = Instant::now();
            let number = next;
            match steady.publish_timeout(Duration::ZERO, |event| *event = [0, number]) {
                Ok(_) => next += 1,
                Err(Full) => skipped += take(&mut reader, &mut counts, LONG).unwrap(),
            }
            longest = longest.max(start.elapsed());
        }
        let child = Child::start("write beside others", folder.path());
        std::mem::replace(&mut children[kill % 2], child).kill();
    }
    children.into_iter().for_each(Child::kill);
    drop(steady);
    let (last, end) = take_all(&mut reader, &mut counts);
    let events = counts.values().sum::<u64>();
    println!("{events} events, {} skipped, longest step {longest:?}", skipped + last);
    assert!(matches!(end, PollError::Closed | PollError::WriterGone), "{end}");
    assert_eq!(counts[&0], next);
    drop(reader);
    drop(join(&folder));
    assert_eq!(folder.entries().len(), 0);
}

/// A reader that goes on after the end of a segment, while another one still has it.
#[test]
fn a_reader_waits_for_the_segment_after_a_closed_one() {
    let folder = Folder::new();
    let writer = join(&folder);
    let slow = folder.segment().open().unwrap();
    drop(writer);
    assert_eq!(folder.segment().open().err(), Some(OpenError::Closed));
    let next = folder.segment().open_timeout(Duration::from_millis(5));
    assert_eq!(next.err(), Some(OpenError::Closed));
    let reading = std::thread::spawn({
        let segment = folder.segment();
        move || segment.open_timeout(LONG).unwrap().capacity()
    });
    std::thread::sleep(Duration::from_millis(2));
    let writer = join(&folder);
    assert_eq!(reading.join().unwrap(), CAPACITY);
    drop((slow, writer));
}

/// Returns the CPU time of this process.
fn cpu_time() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec.cast_unsigned(), used.tv_nsec.try_into().unwrap())
}

/// In a child: takes all descriptors, and says how much CPU time it then uses while idle.
pub(crate) fn idle_without_descriptors() {
    let few = rustix::process::Rlimit { current: Some(64), maximum: Some(64) };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, few).unwrap();
    let writers: Vec<_> = std::iter::from_fn(|| segment().create_or_join(CAPACITY).ok()).collect();
    let others: Vec<_> = std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).collect();
    std::thread::sleep(Duration::from_millis(50));
    let before = cpu_time();
    std::thread::sleep(Duration::from_millis(300));
    say(&format!("{}", (cpu_time() - before).as_millis()));
    drop((writers, others));
}

/// Watches that could not keep the pipes of each other told each other again and again.
#[test]
fn ends_without_descriptors_do_not_wake_each_other() {
    let folder = Folder::new();
    let children = [(); 2].map(|()| Child::start("idle without descriptors", folder.path()));
    for mut child in children {
        let used: u64 = child.line().parse().unwrap();
        assert!(used < 100, "{used} of 300 ms");
    }
}
