//! Models of consumers that leave while other threads wait for them.

use loom::thread;

use super::{
    Taken, acknowledged, check, check_less, check_without_fences, drain, multi, multi_ring, single,
    single_ring, take,
};
use crate::error::{HaltCause, PublishError};
use crate::producer::Sequencer;
use crate::wait::BusySpin;
use crate::{Poller, Producer};

/// O2 (trap 15): a slot whose consumer has left is written again only after that consumer's last
/// read.
#[test]
fn loom_a_consumer_that_left_has_read_its_last() {
    check(|| {
        let (mut producer, mut consumers) = single_ring(1)
            .side_by_side(|side| side.stage("stays").poller().stage("leaves").poller())
            .build()
            .unwrap();
        let mut stays = consumers.take_poller("stays").unwrap();
        let mut leaves = consumers.take_poller("leaves").unwrap();
        producer.publish(|event| *event = 1).unwrap();
        take(&mut stays).unwrap();
        let leaver = thread::spawn(move || {
            // Polls, consumes nothing, leaves.
            assert_eq!(leaves.poll().unwrap().as_slice(), [1]);
        });
        producer.publish(|event| *event = 2).unwrap();
        leaver.join().unwrap();
        assert_eq!(take(&mut stays).unwrap(), [(1, 2)]);
    });
}

/// O3 and O6: a stage is parked on one that leaves. It continues with what that one waited for.
#[test]
fn loom_a_stage_parked_on_one_that_leaves() {
    check(|| {
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

/// O3 and O6: the same with a stage whose acknowledgements count, and an event that is not
/// acknowledged.
#[test]
fn loom_a_stage_parked_on_an_acknowledged_one_that_leaves() {
    check(|| {
        let (mut producer, journal, mut reply, disk) = acknowledged(2);
        producer.publish(|event| *event = 1).unwrap();
        let leaver = thread::spawn(move || drop(journal));
        assert_eq!(reply.wait().unwrap().as_slice(), [1]);
        leaver.join().unwrap();
        drop(disk);
    });
}

/// O3: a stage downstream of one that has left gets no event before the stage upstream of that one
/// has finished it.
#[test]
fn loom_a_stage_behind_one_that_left_waits_for_the_one_before_it() {
    check_without_fences(|| {
        let (mut producer, mut consumers) = single_ring(1)
            .stage("writes")
            .poller_mut()
            .stage("leaves")
            .poller()
            .stage("reads")
            .poller()
            .build()
            .unwrap();
        let mut writes = consumers.take_poller_mut("writes").unwrap();
        let leaves = consumers.take_poller("leaves").unwrap();
        let mut reads = consumers.take_poller("reads").unwrap();
        producer.publish(|event| *event = 1).unwrap();
        drop(leaves);
        let writer = thread::spawn(move || {
            writes.poll().unwrap().iter_mut().for_each(|(_, event)| *event = 2);
            writes
        });
        if let Ok(seen) = take(&mut reads) {
            assert_eq!(seen, [(0, 2)]);
        }
        drop((writer.join(), producer));
    });
}

/// O3: the same behind two stages that have left, one after the other.
#[test]
fn loom_a_stage_behind_two_that_left_waits_for_the_one_before_them() {
    check_without_fences(|| {
        let (mut producer, mut consumers) = single_ring(1)
            .stage("writes")
            .poller_mut()
            .stage("leaves")
            .poller()
            .stage("follows")
            .poller()
            .stage("reads")
            .poller()
            .build()
            .unwrap();
        let mut writes = consumers.take_poller_mut("writes").unwrap();
        let mut reads = consumers.take_poller("reads").unwrap();
        producer.publish(|event| *event = 1).unwrap();
        drop((consumers.take_poller("leaves"), consumers.take_poller("follows")));
        let writer = thread::spawn(move || {
            writes.poll().unwrap().iter_mut().for_each(|(_, event)| *event = 2);
            writes
        });
        if let Ok(seen) = take(&mut reads) {
            assert_eq!(seen, [(0, 2)]);
        }
        drop((writer.join(), producer));
    });
}

/// O2 and O3: the same behind two stages side by side. Both must finish an event before it is passed
/// on, and before its slot is written again.
#[test]
fn loom_a_stage_behind_one_that_left_waits_for_both_before_it() {
    check_without_fences(|| {
        let (mut producer, mut consumers) = single_ring(1)
            .side_by_side(|side| side.stage("left").poller().stage("right").poller())
            .stage("leaves")
            .poller()
            .stage("reads")
            .poller()
            .build()
            .unwrap();
        let mut left = consumers.take_poller("left").unwrap();
        let mut right = consumers.take_poller("right").unwrap();
        drop(consumers.take_poller("leaves").unwrap());
        let mut reads = consumers.take_poller("reads").unwrap();
        producer.publish(|event| *event = 1).unwrap();
        take(&mut left).unwrap();
        let reader = thread::spawn(move || (take(&mut right).unwrap(), right));
        if take(&mut reads).is_ok() {
            producer.try_publish(|event| *event = 2).unwrap();
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

/// A producer is refused once the only consumer has left.
#[test]
fn loom_only_consumer_leaves() {
    check(|| {
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

/// Publishes while `consume` runs, and compares the producer's result with the events that were
/// seen.
fn check_told<S: Sequencer + 'static>(
    mut producer: Producer<u64, S>,
    consume: impl FnOnce() -> Taken,
) {
    let ring = producer.shared();
    let publisher = thread::spawn(move || {
        let result = producer.publish(|event| *event = 1);
        (producer, result) // its drop, which closes too, is not part of these models
    });
    ring.control.close();
    let seen = consume();
    let (producer, result) = publisher.join().unwrap();
    drop(producer);
    match result {
        Ok(sequence) => assert_eq!(seen, [(sequence, 1)]),
        Err(error) => assert_eq!((error, seen), (PublishError::Closed, vec![])),
    }
}

/// Consumes everything up to the close, and leaves.
fn drain_and_leave(mut poller: Poller<u64>) -> Taken {
    drain(&mut poller)
}

/// O8: a producer whose event was handled gets `Ok`, though no consumer is left when it checks for
/// a close or a halt.
#[test]
fn loom_last_one_leaves_drained() {
    check(|| {
        let (producer, poller) = single(2);
        check_told(producer, || drain_and_leave(poller));
    });
}

/// O8 and O12: the same with several producers.
#[test]
fn loom_last_one_leaves_drained_multi() {
    check(|| {
        let (producer, poller) = multi(2);
        check_told(producer, || drain_and_leave(poller));
    });
}

/// O14: the last consumer to leave has seen nothing, but one that left before it has drained the
/// ring.
#[test]
fn loom_one_leaves_after_another_has_drained() {
    check_less(|| {
        // No thread parks, which takes fewer steps.
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
