//! Whoever looks from outside while a ring runs.
//!
//! The model's own thread runs the ring, and the other one looks: loom remembers only the last
//! access to a word, so it would not see that a look races with a store before which the same
//! thread has read the word.

use loom::thread;

use super::{check_without_fences, multi, single, single_ring, take};
use crate::Stage;
use crate::monitor::{Monitor, RingState};

/// Looks once, and sees nobody ahead of what they waited for.
fn look(monitor: &Monitor) {
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
        let looker = thread::spawn(move || look(&monitor));
        producer.publish(|event| *event = 1).unwrap();
        take(&mut first).unwrap();
        take(&mut second).unwrap();
        looker.join().unwrap();
    });
}

/// O18: a stage, and what several producers have claimed.
#[test]
fn loom_no_stage_shows_ahead_of_a_claim() {
    check_without_fences(|| {
        let (mut producer, mut poller) = multi(2);
        let monitor = producer.monitor();
        let looker = thread::spawn(move || look(&monitor));
        producer.publish(|event| *event = 1).unwrap();
        take(&mut poller).unwrap();
        looker.join().unwrap();
    });
}

/// O18: a stage, and the acknowledgement that it had waited for.
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
        let looker = thread::spawn(move || {
            let snapshot = monitor.snapshot();
            let [first, second] = &snapshot.stages[..] else { panic!("two stages") };
            assert!(first.acknowledged.unwrap() <= first.sequence);
            assert!(second.sequence <= first.acknowledged.unwrap(), "{snapshot}");
        });
        producer.publish(|event| *event = 1).unwrap();
        take(&mut first).unwrap();
        acknowledger.acknowledge(1).unwrap();
        take(&mut second).unwrap();
        looker.join().unwrap();
    });
}

/// O8: what a look at an open ring shows as published, its close counts.
#[test]
fn loom_a_look_counts_no_event_that_a_close_does_not() {
    loom::model(|| {
        let (mut producer, poller) = single(2);
        let monitor = producer.monitor();
        let ring = producer.shared();
        let looker = thread::spawn(move || {
            let snapshot = monitor.snapshot();
            (snapshot.state == RingState::Open).then_some(snapshot.published)
        });
        let closer = thread::spawn(move || {
            ring.control.close();
            ring.control.life.end()
        });
        let _ = producer.publish(|event| *event = 1);
        let (seen, end) = (looker.join().unwrap(), closer.join().unwrap());
        assert!(seen <= end, "published={seen:?} end={end:?}");
        drop(poller);
    });
}
