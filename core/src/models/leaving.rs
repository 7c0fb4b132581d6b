//! Models of consumers that leave while other threads wait for them.

use loom::thread;

use super::closing::assert_both_agree;
use super::{
    BESIDE, Claims, Publisher, TWO, Taken, Taker, acknowledged, check, check_less,
    check_without_fences, graph, multi, ring_with, single, single_ring,
};
use crate::error::{Cause, ClaimError};

/// O2: a slot whose consumer has left is written again only after that consumer's last read.
#[test]
fn loom_a_consumer_that_left_has_read_its_last() {
    check(|| {
        let (mut producer, ring) = single_ring(1, BESIDE);
        let (mut stays, mut leaves) = (Taker::of_stage(&ring, 0), Taker::of_stage(&ring, 1));
        producer.publish(0).unwrap();
        stays.take().unwrap();
        let leaver = thread::spawn(move || leaves.peek_and_leave());
        producer.publish(2).unwrap();
        leaver.join().unwrap();
        assert_eq!(stays.take().unwrap(), [(1, 2)]);
    });
}

/// O3 and O6: a stage is parked on one that leaves. It continues with what that one waited for.
#[test]
fn loom_a_stage_parked_on_one_that_leaves() {
    check(|| {
        let (mut producer, ring) = single_ring(2, TWO);
        let (leaves, mut stays) = (Taker::of_stage(&ring, 0), Taker::of_stage(&ring, 1));
        producer.publish(1).unwrap();
        let leaver = thread::spawn(move || drop(leaves));
        assert_eq!(stays.wait().unwrap(), [(0, 1)]);
        leaver.join().unwrap();
    });
}

/// O3 and O6: the same with a stage whose acknowledgements count, and an event that is not
/// acknowledged.
#[test]
fn loom_a_stage_parked_on_an_acknowledged_one_that_leaves() {
    check(|| {
        let (mut producer, journal, mut reply, _) = acknowledged(2);
        producer.publish(1).unwrap();
        let leaver = thread::spawn(move || drop(journal));
        assert_eq!(reply.wait().unwrap(), [(0, 1)]);
        leaver.join().unwrap();
    });
}

/// O3: a stage downstream of one that has left gets no event before the stage upstream of that one
/// has finished it.
#[test]
fn loom_a_stage_behind_one_that_left_waits_for_the_one_before_it() {
    check_without_fences(|| {
        let (mut producer, ring) = single_ring(1, &[&[], &[0], &[1]]);
        let mut writes = Taker::exclusive(&ring, 0);
        let mut reads = Taker::of_stage(&ring, 2);
        producer.publish(1).unwrap();
        drop(Taker::of_stage(&ring, 1));
        let writer = thread::spawn(move || {
            writes.take().unwrap();
            writes
        });
        if let Ok(seen) = reads.take() {
            assert_eq!(seen, [(0, 11)]);
        }
        drop((writer.join(), producer));
    });
}

/// O3: the same behind two stages that have left, one after the other.
#[test]
fn loom_a_stage_behind_two_that_left_waits_for_the_one_before_them() {
    check_without_fences(|| {
        let (mut producer, ring) = single_ring(1, &[&[], &[0], &[1], &[2]]);
        let mut writes = Taker::exclusive(&ring, 0);
        let mut reads = Taker::of_stage(&ring, 3);
        producer.publish(1).unwrap();
        drop([1, 2].map(|stage| Taker::of_stage(&ring, stage)));
        let writer = thread::spawn(move || {
            writes.take().unwrap();
            writes
        });
        if let Ok(seen) = reads.take() {
            assert_eq!(seen, [(0, 11)]);
        }
        drop((writer.join(), producer));
    });
}

/// O2 and O3: the same behind two stages side by side. Both must finish an event before it is passed
/// on, and before its slot is written again.
#[test]
fn loom_a_stage_behind_one_that_left_waits_for_both_before_it() {
    check_without_fences(|| {
        let (mut producer, ring) = single_ring(1, &[&[], &[], &[0, 1], &[2]]);
        let (mut left, mut right) = (Taker::of_stage(&ring, 0), Taker::of_stage(&ring, 1));
        drop(Taker::of_stage(&ring, 2));
        let mut reads = Taker::of_stage(&ring, 3);
        producer.publish(1).unwrap();
        left.take().unwrap();
        let reader = thread::spawn(move || (right.take().unwrap(), right));
        if reads.take().is_ok() {
            producer.try_publish(2).unwrap();
        }
        let (seen, right) = reader.join().unwrap();
        assert_eq!(seen, [(0, 1)]);
        drop((producer, left, right));
    });
}

/// O14: the ring halts when its last two consumers leave at once.
#[test]
fn loom_last_two_consumers_leave() {
    check(|| {
        let (mut producer, ring) = single_ring(1, BESIDE);
        let (left, right) = (Taker::of_stage(&ring, 0), Taker::of_stage(&ring, 1));
        let leaver = thread::spawn(move || drop(left));
        drop(right);
        leaver.join().unwrap();
        assert!(producer.control().is_halted());
        assert_eq!(producer.publish(1), Err(ClaimError::Halted(Cause::NO_CONSUMERS)));
    });
}

/// A producer is refused once the only consumer has left.
#[test]
fn loom_only_consumer_leaves() {
    check(|| {
        let (mut producer, stage) = single(1);
        let leaver = thread::spawn(move || drop(stage));
        let _ = producer.publish(1);
        leaver.join().unwrap();
        assert_eq!(producer.publish(2), Err(ClaimError::Halted(Cause::NO_CONSUMERS)));
    });
}

/// Publishes and closes while `consume` runs, and compares the producer's result with the events that
/// were seen.
fn check_told<C: Claims + 'static>(mut producer: Publisher<C>, consume: impl FnOnce() -> Taken) {
    let control = producer.control();
    let publisher = thread::spawn(move || {
        let result = producer.publish(1);
        (producer, result) // its drop, which closes too, is not part of these models
    });
    control.close();
    let seen = consume();
    let (producer, result) = publisher.join().unwrap();
    drop(producer);
    assert_both_agree(result, seen);
}

/// O8: a producer whose event was handled gets `Ok`, though no consumer is left when it checks for
/// a close or a halt.
#[test]
fn loom_last_one_leaves_drained() {
    check(|| {
        let (producer, mut stage) = single(2);
        check_told(producer, move || stage.drain());
    });
}

/// O8 and O12: the same with several producers.
#[test]
fn loom_last_one_leaves_drained_multi() {
    check(|| {
        let (producer, mut stage) = multi(2);
        check_told(producer, move || stage.drain());
    });
}

/// O14: the last consumer to leave has seen nothing, but one that left before it has drained the
/// ring.
#[test]
fn loom_one_leaves_after_another_has_drained() {
    check_less(|| {
        // No thread parks, which takes fewer steps.
        let ring = ring_with(2, true, graph(BESIDE), false);
        let producer = Publisher::one_more(&ring);
        let (mut drains, idles) = (Taker::of_stage(&ring, 0), Taker::of_stage(&ring, 1));
        let idler = thread::spawn(move || drop(idles));
        check_told(producer, move || drains.drain());
        idler.join().unwrap();
    });
}
