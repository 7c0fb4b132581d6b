//! Models of monitors that read a ring while it runs.
//!
//! The model's main thread runs the ring, and a spawned thread takes the snapshot. Loom remembers
//! only the last access to a word. If the thread that loads a word also stored it, loom would not
//! see that a load of another thread races with that store.

use lapwing_core::Words;
use loom::sync::Arc;
use loom::thread;

use super::{check, check_without_fences, multi, single, single_ring, take};
use crate::Stage;
use crate::dynamic_names::Line;
use crate::monitor::{Monitor, RingState};

/// Takes a snapshot, and checks that no stage is ahead of the stage that it waits for.
fn check_snapshot(monitor: &Monitor) {
    let snapshot = monitor.snapshot();
    let mut ahead = snapshot.published;
    assert!(ahead <= snapshot.claimed, "published before it was claimed: {snapshot}");
    for stage in &snapshot.stages {
        assert!(stage.sequence <= ahead, "{} is ahead: {snapshot}", stage.name);
        ahead = stage.sequence;
    }
}

/// O18: two stages of a pipeline, and what is published.
#[test]
fn loom_no_stage_shows_ahead() {
    check_without_fences(|| {
        let (mut producer, mut consumers) =
            single_ring(2).stage("first").poller().stage("second").poller().build().unwrap();
        let monitor = producer.monitor();
        let mut first = consumers.take_poller("first").unwrap();
        let mut second = consumers.take_poller("second").unwrap();
        let observer = thread::spawn(move || check_snapshot(&monitor));
        producer.publish(|event| *event = 1).unwrap();
        take(&mut first).unwrap();
        take(&mut second).unwrap();
        observer.join().unwrap();
    });
}

/// O18: a stage, and what several producers have claimed.
#[test]
fn loom_no_stage_shows_ahead_of_a_claim() {
    check_without_fences(|| {
        let (mut producer, mut poller) = multi(2);
        let monitor = producer.monitor();
        let observer = thread::spawn(move || check_snapshot(&monitor));
        producer.publish(|event| *event = 1).unwrap();
        take(&mut poller).unwrap();
        observer.join().unwrap();
    });
}

/// O18: a stage, and the acknowledgement that it waited for.
#[test]
fn loom_no_stage_shows_ahead_of_an_acknowledgement() {
    check_without_fences(|| {
        let first = Stage::new("first").acknowledged();
        let (mut producer, mut consumers) =
            single_ring(2).stage(first).poller().stage("second").poller().build().unwrap();
        let monitor = producer.monitor();
        let mut first = consumers.take_poller("first").unwrap();
        let mut second = consumers.take_poller("second").unwrap();
        let acknowledger = consumers.take_acknowledger("first").unwrap();
        let observer = thread::spawn(move || {
            let snapshot = monitor.snapshot();
            let [first, second] = &snapshot.stages[..] else { panic!("two stages") };
            assert!(first.acknowledged.unwrap() <= first.sequence);
            assert!(second.sequence <= first.acknowledged.unwrap(), "{snapshot}");
        });
        producer.publish(|event| *event = 1).unwrap();
        take(&mut first).unwrap();
        acknowledger.acknowledge(1).unwrap();
        take(&mut second).unwrap();
        observer.join().unwrap();
    });
}

/// O8: an event that a snapshot of an open ring shows as published is counted by the close.
#[test]
fn loom_a_look_counts_no_event_that_a_close_does_not() {
    check(|| {
        let (mut producer, poller) = single(2);
        let monitor = producer.monitor();
        let ring = producer.shared();
        let observer = thread::spawn(move || {
            let snapshot = monitor.snapshot();
            (snapshot.state == RingState::Open).then_some(snapshot.published)
        });
        let closer = thread::spawn(move || {
            ring.control().close();
            ring.control().end()
        });
        let _ = producer.publish(|event| *event = 1);
        let (seen, end) = (observer.join().unwrap(), closer.join().unwrap());
        assert!(seen <= end, "published={seen:?} end={end:?}");
        drop(poller);
    });
}

/// O39: a name is read while another consumer takes the dynamic stage: no mixture of two names.
#[test]
fn loom_a_name_is_whole_or_not_read() {
    check(|| {
        let line = Arc::new(Line::<3>::place(&mut Words::private()));
        line.write("aaaaaaaaaaaaaaaa", true);
        let reader = Arc::clone(&line);
        let reads = thread::spawn(move || reader.read());
        line.write("bbbbbbbbb", false);
        if let Some(read) = reads.join().unwrap() {
            let names = [("aaaaaaaaaaaaaaaa".to_owned(), true), ("bbbbbbbbb".to_owned(), false)];
            assert!(names.contains(&read), "{read:?}");
        }
        assert_eq!(line.read(), Some(("bbbbbbbbb".to_owned(), false)));
    });
}
