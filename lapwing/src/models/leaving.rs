//! Consumers that leave while others wait for them.

use loom::thread;

use super::{single, single_ring, take};
use crate::PublishError;

/// O2 (trap 15): a slot whose consumer left is written again only after its last read.
#[test]
fn loom_a_consumer_that_left_has_read_its_last() {
    loom::model(|| {
        let (mut producer, mut consumers) =
            single_ring(1).then_all(|side| side.poller("stays").poller("leaves")).build().unwrap();
        let mut stays = consumers.take_poller("stays").unwrap();
        let mut leaves = consumers.take_poller("leaves").unwrap();
        producer.publish(|event| *event = 1).unwrap();
        take(&mut stays).unwrap();
        let leaver = thread::spawn(move || {
            // Looks, consumes nothing, leaves.
            assert_eq!(leaves.poll().unwrap().as_slice(), [1]);
        });
        producer.publish(|event| *event = 2).unwrap();
        leaver.join().unwrap();
        assert_eq!(take(&mut stays).unwrap(), [(1, 2)]);
    });
}

/// O3 and O6: a stage parked on one that leaves goes on with what that one waited for.
#[test]
fn loom_a_stage_parked_on_one_that_leaves() {
    loom::model(|| {
        let (mut producer, mut consumers) =
            single_ring(2).then_poller("leaves").then_poller("stays").build().unwrap();
        let leaves = consumers.take_poller("leaves").unwrap();
        let mut stays = consumers.take_poller("stays").unwrap();
        producer.publish(|event| *event = 1).unwrap();
        let leaver = thread::spawn(move || drop(leaves));
        assert_eq!(stays.wait().unwrap().as_slice(), [1]);
        leaver.join().unwrap();
    });
}

/// O14: when the last two consumers leave at once, the ring halts.
#[test]
fn loom_last_two_consumers_leave() {
    loom::model(|| {
        let (mut producer, mut consumers) =
            single_ring(1).then_all(|side| side.poller("left").poller("right")).build().unwrap();
        let left = consumers.take_poller("left").unwrap();
        let right = consumers.take_poller("right").unwrap();
        let leaver = thread::spawn(move || drop(left));
        drop(right);
        leaver.join().unwrap();
        assert!(producer.shared().control.life.is_halted());
        assert_eq!(producer.publish(|event| *event = 1), Err(PublishError::Halted));
    });
}

/// A single consumer that leaves stops its producer.
#[test]
fn loom_only_consumer_leaves() {
    loom::model(|| {
        let (mut producer, poller) = single(1);
        let leaver = thread::spawn(move || drop(poller));
        let _ = producer.publish(|event| *event = 1);
        leaver.join().unwrap();
        assert_eq!(producer.publish(|event| *event = 2), Err(PublishError::Halted));
    });
}
