//! Processes that read, stop, die and take over.

use std::time::Duration;

use lapwing::wait::{Blocking, BusySpin, Sleeping, WaitStrategy, Yielding};
use lapwing_shared::error::{Full, OpenError, PollError, WaitError};

use crate::child::{Child, count_to_the_end};
use crate::{Folder, LONG, event_of, publish_in_time};

#[test]
fn other_processes_get_every_event() {
    let folder = Folder::new();
    let mut writer = folder.segment().create(64).unwrap();
    let mut readers = [(); 2].map(|()| Child::ready("read", folder.path()));
    assert_eq!(writer.readers().len(), 2);
    for sequence in 0..10_000 {
        assert_eq!(writer.publish(|event| *event = event_of(sequence)), sequence);
    }
    writer.close();
    for reader in &mut readers {
        assert_eq!(reader.line(), "10000 Closed");
    }
}

#[test]
fn nothing_remains_after_the_end() {
    let folder = Folder::new();
    let writer = folder.segment().create(64).unwrap();
    let mut reader = folder.segment().open().unwrap();
    writer.close();
    assert_eq!(reader.poll().err(), Some(PollError::Closed));
    assert_eq!(folder.segment().open().err(), Some(OpenError::Closed));
    drop(reader);
    assert_eq!(folder.entries().len(), 0);
    let writer = folder.segment().create(64).unwrap();
    assert!(!writer.has_taken_over());
    drop(writer);
    assert_eq!(folder.entries().len(), 0);
}

/// Each strategy waits for an event, and for a free slot.
fn check_strategy(strategy: impl WaitStrategy) {
    let folder = Folder::new();
    let segment = || folder.segment().wait_strategy(strategy.clone());
    let mut writer = segment().create(4).unwrap();
    let mut reader = segment().open().unwrap();
    let reading = std::thread::spawn(move || count_to_the_end(&mut reader));
    for sequence in 0..1_000 {
        if sequence % 100 == 0 {
            std::thread::sleep(Duration::from_millis(1)); // so that the reader sleeps
        }
        writer.publish(|event| *event = event_of(sequence));
    }
    writer.close();
    assert_eq!(reading.join().unwrap(), (1_000, WaitError::Closed));
}

#[test]
fn both_ends_wait_with_any_strategy() {
    check_strategy(lapwing::wait::Adaptive::default());
    check_strategy(Blocking { yields: 0 });
    check_strategy(Sleeping::default());
    check_strategy(Yielding::default());
    check_strategy(BusySpin);
}

#[test]
fn a_wait_ends_at_its_limit() {
    let folder = Folder::new();
    let mut writer = folder.segment().create(2).unwrap();
    let mut reader = folder.segment().open().unwrap();
    let time = Duration::from_millis(5);
    assert_eq!(reader.wait_timeout(time).err(), Some(PollError::Empty));
    writer.publish_all(&[event_of(0), event_of(1)]);
    assert_eq!(writer.publish_timeout(time, |_| panic!("not called")), Err(Full));
    assert_eq!(reader.wait_timeout(time).unwrap().len(), 2);
}

#[test]
fn a_dead_reader_does_not_hold_up_the_writer() {
    let folder = Folder::new();
    let mut writer = folder.segment().create(4).unwrap();
    let reader = Child::ready("hold", folder.path());
    assert_eq!(writer.readers()[0].pid, reader.pid());
    while writer.try_publish(|_| {}).is_ok() {}
    assert_eq!(writer.sequence(), 4);
    assert_eq!(writer.publish_timeout(Duration::from_millis(20), |_| {}), Err(Full));
    reader.kill();
    println!("the writer went on after {:?}", publish_in_time(&mut writer));
    assert_eq!(writer.readers(), []);
}

/// `LAPWING_STOP_SECONDS` is how long the reader is stopped.
#[test]
fn a_stopped_reader_keeps_its_seat() {
    let stop =
        std::env::var("LAPWING_STOP_SECONDS").map_or(0.3, |seconds| seconds.parse().unwrap());
    let stop = Duration::from_secs_f64(stop);
    let folder = Folder::new();
    let mut writer = folder.segment().create(4).unwrap();
    let mut reader = Child::ready("read", folder.path());
    reader.stop();
    for sequence in 0..4 {
        writer.publish(|event| *event = event_of(sequence));
    }
    assert_eq!(writer.publish_timeout(stop, |_| {}), Err(Full));
    assert_eq!(writer.readers().len(), 1);
    reader.go_on();
    writer.publish(|event| *event = event_of(4));
    writer.close();
    assert_eq!(reader.line(), "5 Closed");
}

#[test]
fn a_dead_writer_leaves_what_it_published_and_another_one_goes_on() {
    let folder = Folder::new();
    let first = Child::ready("write and hold", folder.path());
    let mut reader = folder.segment().from_oldest().open().unwrap();
    first.kill();
    assert_eq!(count_to_the_end(&mut reader), (3, WaitError::WriterGone));
    assert_eq!(reader.poll().err(), Some(PollError::WriterGone));
    assert!(!reader.wait_for_writer(Duration::from_millis(2)));

    let mut second = folder.segment().create(64).unwrap();
    assert!(second.has_taken_over());
    assert!(reader.wait_for_writer(LONG));
    assert_eq!(second.publish(|event| *event = event_of(3)), 3);
    second.hand_over();
    assert_eq!(count_to_the_end(&mut reader), (1, WaitError::WriterGone));

    let third = folder.segment().create(64).unwrap();
    third.close();
    assert_eq!(count_to_the_end(&mut reader), (0, WaitError::Closed));
}

#[test]
fn a_stopped_writer_is_not_replaced() {
    let folder = Folder::new();
    let writer = Child::ready("write and hold", folder.path());
    writer.stop();
    let error = folder.segment().create(64).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("a process writes to the segment already: pid={}", writer.pid())
    );
    let mut reader = folder.segment().from_oldest().open().unwrap();
    assert_eq!(reader.wait().unwrap().len(), 3);
    reader.poll().unwrap().consume_all();
    assert_eq!(reader.wait_timeout(Duration::from_millis(100)).err(), Some(PollError::Empty));
}

#[test]
fn a_new_segment_ends_the_old_one() {
    let folder = Folder::new();
    Child::ready("write and hold", folder.path()).kill();
    let mut old = folder.segment().from_oldest().open().unwrap();
    let mut writer = folder.segment().create(128).unwrap(); // another capacity
    assert!(!writer.has_taken_over());
    assert_eq!(count_to_the_end(&mut old), (3, WaitError::Closed));
    let mut reader = folder.segment().open().unwrap();
    drop(old); // it does not remove the new one
    assert_eq!(writer.publish(|event| *event = event_of(0)), 0);
    assert_eq!(reader.wait().unwrap().as_slice(), [event_of(0)]);
    assert_eq!(folder.entries().len(), 1);
}

#[test]
fn a_seat_is_free_again() {
    let folder = Folder::new();
    let writer = folder.segment().seats(1).create(64).unwrap();
    let reader = folder.segment().open().unwrap();
    assert_eq!(folder.segment().open().err(), Some(OpenError::NoSeat { seats: 1 }));
    drop(reader);
    Child::ready("hold", folder.path()).kill();
    let _reader = folder.segment().open().unwrap();
    assert!(writer.wait_for_readers(1, LONG));
}

#[test]
fn events_that_are_not_consumed_come_again() {
    let folder = Folder::new();
    let mut writer = folder.segment().create(4).unwrap();
    let mut reader = folder.segment().open().unwrap();
    writer.publish_all(&[0, 1, 2].map(event_of));
    let mut batch = reader.poll().unwrap();
    assert_eq!(batch.iter().next(), Some((0, &event_of(0))));
    drop(batch);
    assert_eq!(reader.poll().unwrap().as_slice(), [1, 2].map(event_of));
    writer.publish_all(&[3, 4].map(event_of));
    assert_eq!(writer.try_publish(|_| {}), Err(Full));
    let mut batch = reader.poll().unwrap();
    batch.consume(1);
    batch.release();
    assert_eq!(writer.try_publish(|event| *event = event_of(5)), Ok(5));
    assert_eq!(batch.first_sequence(), 2);
    batch.consume_all();
    drop(batch);
    let mut rest = Vec::new();
    while let Ok(mut batch) = reader.poll() {
        rest.extend(batch.iter().map(|(sequence, event)| (sequence, *event)));
    }
    assert_eq!(rest, [3, 4, 5].map(|sequence| (sequence, event_of(sequence))));
}
