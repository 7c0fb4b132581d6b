//! Models of the ends of this crate, above those of the core: how they wait, how they use the tuned
//! advice, how they join and leave, and which events they skip. A model with the prefix `ends` also
//! exists without it in `lapwing_core::models`, where the laws are proved.

use lapwing_core::Control;
use lapwing_core::memory::Reserved;
use loom::thread;

use super::{
    PARK, SLEEP, Taken, check, check_without_fences, drain, in_parts, multi, parallel, single,
    single_ring, spinning, take, take_by_spinning,
};
use crate::consumer::Outcome;
use crate::error::{HaltCause, PublishError, RingError};
use crate::failures::Failures;
use crate::graph::{DynamicStages, StartAt};
use crate::producer::Sequencer;
use crate::sync::Arc;
use crate::tuning::own_count::COUNTS;
use crate::{Action, Builder, Disruptor, Poller, Producer, Sequence, SingleProducer};

/// O1: an event that is read has been written.
#[test]
fn loom_ends_publish_then_read() {
    publish_then_read();
}

/// O1: the same with a producer that keeps a count of its claims.
#[test]
fn loom_ends_publish_then_read_of_one_that_counts() {
    COUNTS.set(true);
    publish_then_read();
    COUNTS.set(false);
}

/// Publishes two events while another thread polls.
fn publish_then_read() {
    check_without_fences(|| {
        let (mut producer, mut poller) = single(2);
        let publisher = thread::spawn(move || {
            for value in 7..9 {
                producer.publish(|event| *event = value).unwrap();
            }
            producer // not dropped here: closing is another model
        });
        let mut seen = take(&mut poller).unwrap_or_default();
        seen.extend(take(&mut poller).unwrap_or_default());
        let producer = publisher.join().unwrap();
        seen.extend(take(&mut poller).unwrap_or_default());
        assert_eq!(seen, [(0, 7), (1, 8)]);
        drop(producer);
    });
}

/// O1: the same with a consumer that spins until an event is available.
#[test]
fn loom_ends_publish_then_read_by_one_that_spins() {
    check_without_fences(|| {
        let (mut producer, mut poller) = spinning(2);
        let publisher = thread::spawn(move || {
            for value in 7..9 {
                producer.publish(|event| *event = value).unwrap();
            }
            producer
        });
        for (sequence, event) in poller.wait().unwrap().iter() {
            assert_eq!(*event, sequence + 7);
        }
        drop(publisher.join());
    });
}

/// O2 and I15: of two stages side by side, the last one acquires a cache line, after the other has
/// read there and before producers may write.
#[test]
fn loom_ends_lines_are_taken_by_the_last_of_stages_side_by_side() {
    check_without_fences(|| {
        let (mut producer, mut left, mut right) = parallel();
        producer.publish(|event| *event = 1).unwrap();
        let reader = thread::spawn(move || {
            assert_eq!(take(&mut left).unwrap(), [(0, 1)]);
            left
        });
        assert_eq!(take(&mut right).unwrap(), [(0, 1)]);
        let _ = producer.try_publish(|event| *event = 2);
        drop((reader.join(), producer));
    });
}

/// O6: a parked producer that claims as many slots as are free goes on once there is one.
#[test]
fn loom_park_until_one_slot_of_several_is_free() {
    check(|| {
        let (mut producer, mut poller) = in_parts(2);
        producer.publish_batch(2, |_| {}).unwrap();
        let publisher = thread::spawn(move || {
            assert_eq!(producer.claim_up_to(2).unwrap().len(), 1);
            producer
        });
        assert_eq!(take(&mut poller).unwrap().len(), 1);
        drop(publisher.join());
    });
}

/// O17: a downstream stage sees that the stage before it has skipped an event as failed.
#[test]
fn loom_failed_event_is_seen_downstream() {
    check_without_fences(|| {
        let (mut producer, mut consumers) = single_ring(1)
            .stage("first")
            .read(|_, _, _| Action::Skip)
            .stage("second")
            .poller()
            .build()
            .unwrap();
        let mut second = consumers.take_poller("second").unwrap();
        let first = consumers.into_iter().next().unwrap();
        producer.publish(|event| *event = 1).unwrap();
        drop(producer);
        let skipper = thread::spawn(move || assert_eq!(first.run().skipped(), 1));
        if let Ok(batch) = second.poll() {
            assert!(batch.is_failed(0));
        }
        skipper.join().unwrap();
    });
}

/// O17: two workers of a group skip an event each, in any order. A stage downstream of them learns
/// that there are failed events up to the later one.
#[test]
fn loom_two_workers_skip_an_event_each() {
    check_without_fences(|| {
        let failures = Arc::new(Failures::new(Reserved::reserve(2).unwrap(), true));
        let others = Arc::clone(&failures);
        let other = thread::spawn(move || others.mark(0));
        failures.mark(1);
        other.join().unwrap();
        assert!(failures.is_any_from(0) && failures.is_any_from(1) && !failures.is_any_from(2));
    });
}

/// O8 and O9: one producer publishes, another thread closes, a third one polls.
#[test]
fn loom_ends_close_against_publish() {
    close_against_publish(single, |poller| take(poller).unwrap_or_default());
}

/// O8: the same with a consumer that spins.
#[test]
fn loom_ends_close_against_publish_and_one_that_spins() {
    close_against_publish(spinning, |poller| take_by_spinning(poller).unwrap_or_default());
}

/// O8: the same with a producer that keeps a count of its claims.
#[test]
fn loom_ends_close_against_publish_of_one_that_counts() {
    COUNTS.set(true);
    close_against_publish(single, |poller| take(poller).unwrap_or_default());
    COUNTS.set(false);
}

/// A publication and a close in two threads, while a third one polls once.
fn close_against_publish(
    ring: fn(usize) -> (SingleProducer<u64>, Poller<u64>),
    poll_once: fn(&mut Poller<u64>) -> Taken,
) {
    check(move || {
        let (producer, mut poller) = ring(2);
        let ring = producer.shared();
        let publisher = thread::spawn(move || publish_one(producer));
        let closer = thread::spawn(move || ring.control().close());
        let mut seen = poll_once(&mut poller);
        closer.join().unwrap();
        let (producer, result) = publisher.join().unwrap();
        seen.extend(drain(&mut poller));
        assert_both_agree(result, seen);
        drop(producer);
    });
}

/// Publishes a 1. Returns the producer, so that its drop is not part of these models.
fn publish_one<S: Sequencer>(
    mut producer: Producer<u64, S>,
) -> (Producer<u64, S>, Result<Sequence, PublishError>) {
    let result = producer.publish(|event| *event = 1);
    (producer, result)
}

/// Checks that the publisher's result matches the events that a reader has `seen` up to the end.
fn assert_both_agree(result: Result<Sequence, PublishError>, seen: Taken) {
    match result {
        Ok(sequence) => assert_eq!(seen, [(sequence, 1)]),
        Err(error) => assert_eq!((error, seen), (PublishError::Closed, vec![])),
    }
}

/// O33: once a close has returned, no claim is granted, whatever the claim window is.
#[test]
fn loom_ends_no_claim_after_a_close() {
    no_claim_after(Control::close, |producer| producer.try_claim().is_ok());
}

/// Makes a claim whose window covers the next one, while another thread runs `end`. The next claim
/// must fail.
fn no_claim_after(end: fn(&Control), claim: fn(&mut SingleProducer<u64>) -> bool) {
    check(move || {
        let (mut producer, _poller) = single(2);
        let ring = producer.shared();
        let ender = thread::spawn(move || end(ring.control()));
        claim(&mut producer);
        ender.join().unwrap();
        assert!(!claim(&mut producer), "its publication would be refused");
    });
}

/// O6: an empty ring with one producer.
#[test]
fn loom_ends_park_on_publication() {
    check(|| {
        let (mut producer, mut poller) = single(2);
        let publisher = thread::spawn(move || {
            producer.publish(|event| *event = 1).unwrap();
            producer
        });
        assert_eq!(poller.wait().unwrap().as_slice(), [1]);
        drop(publisher.join());
    });
}

/// O6: an empty ring with several producers.
#[test]
fn loom_ends_park_on_publication_multi() {
    check(|| {
        let (mut producer, mut poller) = multi(2);
        let publisher = thread::spawn(move || {
            producer.publish(|event| *event = 1).unwrap();
            producer
        });
        assert_eq!(poller.wait().unwrap().as_slice(), [1]);
        drop(publisher.join());
    });
}

/// O6: a full ring of eight slots, where a patient producer waits until two are free. It is woken
/// then, whichever of the two releases it parks between. (Its patience has no time limit here.)
#[test]
fn loom_ends_park_until_there_is_room() {
    check(|| {
        let (mut producer, mut poller) = single(8);
        producer.publish_batch(8, |_| {}).unwrap();
        let publisher = thread::spawn(move || {
            producer.publish(|event| *event = 2).unwrap();
            producer
        });
        for _ in 0..2 {
            poller.poll_max(1).unwrap().consume_all();
        }
        drop(publisher.join());
    });
}

/// O6: a full ring with two stages at its gate, each of which may be the last. A producer that
/// parked on one of them while the other was behind would never be woken.
#[test]
fn loom_ends_park_on_full_ring_with_two_gates() {
    check(|| {
        let (mut producer, mut left, mut right) = parallel();
        producer.publish(|event| *event = 1).unwrap();
        let one = thread::spawn(move || {
            take(&mut left).unwrap();
            left
        });
        let two = thread::spawn(move || {
            take(&mut right).unwrap();
            right
        });
        producer.publish(|event| *event = 2).unwrap();
        drop((one.join(), two.join()));
    });
}

/// A ring with one producer in which no thread parks with a mark, so that no thread checks for
/// parked ones.
fn sleeping(capacity: usize) -> (SingleProducer<u64>, Poller<u64>) {
    let ring = Disruptor::single_producer(capacity, || 0_u64)
        .wait_strategy(SLEEP)
        .producer_wait_strategy(SLEEP);
    let (producer, mut consumers) = ring.stage("a").poller().build().unwrap();
    (producer, consumers.take_poller("a").unwrap())
}

/// O7 and O10: a halt wakes a stage that sleeps without a mark.
#[test]
fn loom_ends_halt_against_sleep() {
    check(|| {
        let (producer, mut poller) = sleeping(2);
        let ring = producer.shared();
        let halter = thread::spawn(move || ring.control().halt(HaltCause::Requested.core()));
        assert_eq!(poller.wait().err(), Some(RingError::Halted(HaltCause::Requested)));
        halter.join().unwrap();
        drop(producer);
    });
}

/// O7 and O10: a halt wakes a producer that sleeps without a mark on a full ring.
#[test]
fn loom_ends_halt_against_sleep_on_full_ring() {
    check(|| halt_against_full_ring(|_| {}));
}

/// O7 and O10: the same for a producer that parks where no thread checks for parked ones.
#[test]
fn loom_ends_halt_against_park_that_nobody_looks_for() {
    check(|| halt_against_full_ring(|producer| producer.set_wait_strategy(PARK)));
}

/// Halts a full ring while its producer waits.
fn halt_against_full_ring(prepare: impl Fn(&mut SingleProducer<u64>)) {
    let (mut producer, poller) = sleeping(1);
    prepare(&mut producer);
    let ring = producer.shared();
    producer.publish(|event| *event = 1).unwrap();
    let halter = thread::spawn(move || ring.control().halt(HaltCause::Requested.core()));
    assert_eq!(
        producer.publish(|event| *event = 2),
        Err(PublishError::Halted(HaltCause::Requested))
    );
    halter.join().unwrap();
    drop(poller);
}

/// Returns the producer, the only stage and the only dynamic stage of `ring`.
fn with_dynamic_stage<S: Sequencer>(
    ring: Builder<'static, u64, S>,
) -> (Producer<u64, S>, Poller<u64>, DynamicStages<u64>) {
    let (producer, mut consumers) = ring.dynamic_stages(1).stage("stays").poller().build().unwrap();
    let poller = consumers.take_poller("stays").unwrap();
    (producer, poller, consumers.dynamic_stages())
}

/// Publishes an event that carries its own sequence.
fn publish<S: Sequencer>(producer: &mut Producer<u64, S>, sequence: u64) {
    assert_eq!(producer.publish(|event| *event = sequence), Ok(sequence));
}

/// Consumes all events up to `end`, and checks that none is missing or overwritten.
fn read_up_to(poller: &mut Poller<u64>, end: u64) {
    while poller.sequence() < end {
        let first = poller.sequence();
        for (expected, (sequence, event)) in (first..).zip(poller.wait().unwrap().iter()) {
            assert_eq!((sequence, *event), (expected, expected));
        }
    }
}

/// O15: one producer.
#[test]
fn loom_ends_join_at_the_oldest_against_publish() {
    check(|| join_at_the_oldest_against_publish(single_ring(1)));
}

/// A consumer joins at the oldest event, which a producer is about to overwrite.
fn join_at_the_oldest_against_publish<S: Sequencer + 'static>(ring: Builder<'static, u64, S>) {
    let (mut producer, mut stays, dynamic_stages) = with_dynamic_stage(ring);
    publish(&mut producer, 0);
    take(&mut stays).unwrap();
    let publisher = thread::spawn(move || {
        publish(&mut producer, 1);
        producer
    });
    let mut late = dynamic_stages.join("late", StartAt::Oldest).unwrap().poller();
    read_up_to(&mut late, 2);
    drop(publisher.join());
}

/// O2 and O6: a producer waits for a dynamic consumer, which leaves.
#[test]
fn loom_ends_leave_a_dynamic_stage_against_a_producer_that_parks() {
    check(|| {
        let (mut producer, mut stays, dynamic_stages) = with_dynamic_stage(single_ring(1));
        let mut late = dynamic_stages.join("late", StartAt::Now).unwrap().poller();
        publish(&mut producer, 0);
        take(&mut stays).unwrap();
        let leaver = thread::spawn(move || {
            // Polls, consumes nothing, leaves.
            assert_eq!(late.poll().unwrap().as_slice(), [0]);
        });
        publish(&mut producer, 1);
        leaver.join().unwrap();
    });
}

/// O10 and O7: a parked stage is stopped, and the ring continues.
#[test]
fn loom_ends_stop_against_park() {
    check(|| {
        let (mut producer, mut consumers) = single_ring(1)
            .parallel(|parallel| parallel.stage("stops").read(|_, _, _| {}).stage("stays").poller())
            .build()
            .unwrap();
        let mut stays = consumers.take_poller("stays").unwrap();
        let consumer = consumers.into_iter().next().unwrap();
        let stop = consumer.stop_handle();
        let stage = thread::spawn(move || consumer.run().outcome().clone());
        stop.stop();
        assert_eq!(stage.join().unwrap(), Outcome::Stopped);
        publish(&mut producer, 0);
        read_up_to(&mut stays, 1);
    });
}

/// O10: a stop handle whose consumer has left does not stop the next consumer in that dynamic
/// stage.
#[test]
fn loom_ends_stop_of_a_consumer_that_has_left() {
    check(|| {
        let (mut producer, _stays, dynamic_stages) = with_dynamic_stage(single_ring(1));
        let before = dynamic_stages.join("before", StartAt::Now).unwrap().read(|_, _, _| {});
        let stop = before.stop_handle();
        drop(before);
        let after = dynamic_stages.join("after", StartAt::Now).unwrap().read(|_, _, _| {});
        let stopper = thread::spawn(move || stop.stop());
        publish(&mut producer, 0);
        drop(producer);
        assert_eq!(*after.run().outcome(), Outcome::Drained);
        stopper.join().unwrap();
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
    ring.control().close();
    let seen = consume();
    let (producer, result) = publisher.join().unwrap();
    drop(producer);
    match result {
        Ok(sequence) => assert_eq!(seen, [(sequence, 1)]),
        Err(error) => assert_eq!((error, seen), (PublishError::Closed, vec![])),
    }
}

/// O8: a producer whose event was handled gets `Ok`, though no consumer is left when it checks for
/// a close or a halt.
#[test]
fn loom_ends_last_one_leaves_drained() {
    check(|| {
        let (producer, poller) = single(2);
        check_told(producer, move || drain(&mut { poller }));
    });
}
