//! Consumers that leave while others wait for them.

use loom::thread;

use super::{Taken, check_less, drain, multi, multi_ring, single, single_ring, take};
use crate::error::{HaltCause, PublishError};
use crate::producer::Sequencer;
use crate::wait::BusySpin;
use crate::{Poller, Producer};

/// O2 (trap 15): a slot whose consumer left is written again only after its last read.
#[test]
fn loom_a_consumer_that_left_has_read_its_last() {
    loom::model(|| {
        let (mut producer, mut consumers) = single_ring(1)
            .side_by_side(|side| side.stage("stays").poller().stage("leaves").poller())
            .build()
            .unwrap();
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
            single_ring(2).stage("leaves").poller().stage("stays").poller().build().unwrap();
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
        let (mut producer, mut consumers) = single_ring(1)
            .side_by_side(|side| side.stage("left").poller().stage("right").poller())
            .build()
            .unwrap();
        let left = consumers.take_poller("left").unwrap();
        let right = consumers.take_poller("right").unwrap();
        let leaver = thread::spawn(move || drop(left));
        drop(right);
        leaver.join().unwrap();
        assert!(producer.shared().control.life.is_halted());
        assert_eq!(
            producer.publish(|event| *event = 1),
            Err(PublishError::Halted(HaltCause::NoConsumers))
        );
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
        assert_eq!(
            producer.publish(|event| *event = 2),
            Err(PublishError::Halted(HaltCause::NoConsumers))
        );
    });
}

/// Publishes while `consume` goes on, and compares what the producer is told with what was seen.
fn check_told<S: Sequencer + 'static>(
    mut producer: Producer<u64, S>,
    consume: impl FnOnce() -> Taken,
) {
    let ring = producer.shared();
    let publisher = thread::spawn(move || producer.publish(|event| *event = 1));
    ring.control.close();
    let seen = consume();
    match publisher.join().unwrap() {
        Ok(sequence) => assert_eq!(seen, [(sequence, 1)]),
        Err(error) => assert_eq!((error, seen), (PublishError::Closed, vec![])),
    }
}

/// Sees everything, and leaves.
fn drain_and_leave(mut poller: Poller<u64>) -> Taken {
    drain(&mut poller)
}

/// O8: whose event was handled learns that, though nobody was left when it looked for a close or a halt.
#[test]
fn loom_last_one_leaves_drained() {
    loom::model(|| {
        let (producer, poller) = single(2);
        check_told(producer, || drain_and_leave(poller));
    });
}

/// O8 and O12: the same of several producers.
#[test]
fn loom_last_one_leaves_drained_multi() {
    loom::model(|| {
        let (producer, poller) = multi(2);
        check_told(producer, || drain_and_leave(poller));
    });
}

/// O14: the last one to leave has seen nothing, but somebody before it has seen everything.
#[test]
fn loom_one_leaves_after_another_has_drained() {
    check_less(|| {
        // Nobody parks: fewer steps.
        let ring = multi_ring(2).wait(BusySpin).producer_wait(BusySpin);
        let (producer, mut consumers) = ring
            .side_by_side(|side| side.stage("drains").poller().stage("idles").poller())
            .build()
            .unwrap();
        let drains = consumers.take_poller("drains").unwrap();
        let idles = consumers.take_poller("idles").unwrap();
        let idler = thread::spawn(move || drop(idles));
        check_told(producer, || drain_and_leave(drains));
        idler.join().unwrap();
    });
}
