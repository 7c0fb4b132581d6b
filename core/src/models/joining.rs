//! Models of consumers that join while producers publish.

use loom::thread;

use super::{
    Advice, Claims, Multi, ONE, Publisher, REQUESTED, Single, Taker, check, check_less, graph,
    ring_of,
};
use crate::error::{Cause, ClaimError, JoinError, PollError};
use crate::{Joined, Ring, StartAt};

/// Returns the producer and the only stage of a ring of one slot with one dynamic stage.
fn single_with_dynamic_stage() -> (Publisher<Single>, Taker, Ring<u64>) {
    single_with_dynamic_stages(1)
}

fn single_with_dynamic_stages(dynamic_stages: usize) -> (Publisher<Single>, Taker, Ring<u64>) {
    let ring = ring_of(1, false, graph(ONE).with_dynamic_stages(dynamic_stages, None));
    (Publisher::only(&ring, Advice::default()), Taker::of_stage(&ring, 0), ring)
}

/// The same with several producers.
fn multi_with_dynamic_stage() -> (Publisher<Multi>, Taker, Ring<u64>) {
    let ring = ring_of(1, true, graph(ONE).with_dynamic_stages(1, None));
    (Publisher::one_more(&ring), Taker::of_stage(&ring, 0), ring)
}

/// Publishes an event that carries its own sequence.
fn publish<C: Claims>(producer: &mut Publisher<C>, sequence: u64) {
    assert_eq!(producer.publish(sequence), Ok(sequence));
}

/// Takes a dynamic stage for a consumer that has no reader yet.
fn join(ring: &Ring<u64>, start: StartAt) -> Result<Joined, JoinError> {
    Joined::new(ring.control(), start)
}

/// A consumer joins at the oldest event, which a producer is about to overwrite.
fn join_at_the_oldest_against_publish<C: Claims + 'static>(
    (mut producer, mut stays, ring): (Publisher<C>, Taker, Ring<u64>),
) {
    publish(&mut producer, 0);
    stays.take().unwrap();
    let publisher = thread::spawn(move || {
        publish(&mut producer, 1);
        producer
    });
    let mut late = Taker::join(&ring, StartAt::Oldest).unwrap();
    late.wait_up_to(2);
    drop(publisher.join());
}

/// O15: one producer.
#[test]
fn loom_join_at_the_oldest_against_publish() {
    check(|| join_at_the_oldest_against_publish(single_with_dynamic_stage()));
}

/// O15: several producers.
#[test]
fn loom_join_at_the_oldest_against_publish_multi() {
    check(|| join_at_the_oldest_against_publish(multi_with_dynamic_stage()));
}

/// A consumer joins at the first unpublished event, while the producer publishes another lap.
fn join_now_against_publish<C: Claims + 'static>(
    (mut producer, mut stays, ring): (Publisher<C>, Taker, Ring<u64>),
) {
    let publisher = thread::spawn(move || {
        publish(&mut producer, 0);
        stays.take().unwrap();
        publish(&mut producer, 1);
        (producer, stays)
    });
    let mut late = Taker::join(&ring, StartAt::Now).unwrap();
    late.wait_up_to(2);
    drop(publisher.join());
}

/// O15: one producer.
#[test]
fn loom_join_now_against_publish() {
    check(|| join_now_against_publish(single_with_dynamic_stage()));
}

/// O15: several producers.
#[test]
fn loom_join_now_against_publish_multi() {
    check(|| join_now_against_publish(multi_with_dynamic_stage()));
}

/// Lets a consumer join at `start` while a claim is held, and the other consumer leave if it has
/// joined. No other producer may then claim the slot of that claim again.
fn join_behind_a_claim_that_is_held(start: StartAt) -> bool {
    let (mut first, stays, ring) = multi_with_dynamic_stage();
    let mut second = first.clone();
    let publisher = thread::spawn(move || {
        let _ = first.try_publish(1);
        first
    });
    let late = Taker::join(&ring, start);
    let has_joined = late.is_ok();
    if has_joined {
        drop(stays);
        let _ = second.try_publish(2);
    }
    drop((publisher.join(), late));
    has_joined
}

/// O4: a consumer that joins behind a claim that is still held is then the only consumer. It must
/// not let another producer claim the same slot again.
#[test]
fn loom_join_now_behind_a_claim_that_is_held() {
    check(|| assert!(join_behind_a_claim_that_is_held(StartAt::Now)));
}

/// O4: the same with a consumer that joins at a sequence of its choice: it is refused while a claim
/// before that is held.
#[test]
fn loom_join_at_a_sequence_behind_a_claim_that_is_held() {
    check(|| _ = join_behind_a_claim_that_is_held(StartAt::Sequence(1)));
}

/// O6: a producer parks just when no consumer is behind, and then a consumer joins.
#[test]
fn loom_join_against_a_producer_that_parks() {
    check(|| {
        let (mut producer, mut stays, ring) = single_with_dynamic_stage();
        publish(&mut producer, 0);
        let consumer = thread::spawn(move || {
            stays.take().unwrap();
            let mut late = Taker::join(&ring, StartAt::Oldest).unwrap();
            late.wait_up_to(1);
            (stays, late)
        });
        publish(&mut producer, 1);
        drop(consumer.join());
    });
}

/// O6: the whole graph has left. The only dynamic consumer leaves just as another one joins, so
/// for a moment there is no consumer for a producer to wait for.
#[test]
fn loom_join_as_the_consumer_of_the_other_dynamic_stage_leaves() {
    check(|| {
        let (mut producer, leaves, ring) = single_with_dynamic_stages(2);
        let first = join(&ring, StartAt::Now).unwrap();
        drop(leaves);
        publish(&mut producer, 0);
        let joining = thread::spawn(move || join(&ring, StartAt::Now));
        let leaving = thread::spawn(move || drop(first));
        let published = producer.publish(1);
        let second = joining.join().unwrap();
        assert_eq!(published.is_err(), second.is_err(), "{published:?}, {second:?}");
        leaving.join().unwrap();
    });
}

/// O2 and O6: a producer waits for a dynamic consumer, which leaves.
#[test]
fn loom_leave_a_dynamic_stage_against_a_producer_that_parks() {
    check(|| {
        let (mut producer, mut stays, ring) = single_with_dynamic_stage();
        let mut late = Taker::join(&ring, StartAt::Now).unwrap();
        publish(&mut producer, 0);
        stays.take().unwrap();
        let leaver = thread::spawn(move || late.peek_and_leave());
        publish(&mut producer, 1);
        leaver.join().unwrap();
    });
}

/// O16: a consumer takes a dynamic stage only after all reads of the previous consumer in that
/// dynamic stage.
#[test]
fn loom_a_dynamic_stage_is_taken_again() {
    check(|| {
        let (mut producer, mut stays, ring) = single_with_dynamic_stage();
        let mut before = Taker::join(&ring, StartAt::Now).unwrap();
        publish(&mut producer, 0);
        stays.take().unwrap();
        let leaver = thread::spawn(move || before.peek_and_leave());
        if let Ok(mut after) = Taker::join(&ring, StartAt::Now) {
            publish(&mut producer, 1);
            after.wait_up_to(2);
        }
        leaver.join().unwrap();
    });
}

/// O2: the same, where a producer on another thread uses the sequence of the second consumer.
#[test]
fn loom_a_dynamic_stage_is_taken_again_before_a_claim() {
    check(|| {
        let (mut producer, mut stays, ring) = single_with_dynamic_stage();
        let mut before = Taker::join(&ring, StartAt::Now).unwrap();
        publish(&mut producer, 0);
        stays.take().unwrap();
        let leaver = thread::spawn(move || before.peek_and_leave());
        let publisher = thread::spawn(move || {
            let _ = producer.try_publish(1);
            producer
        });
        let after = join(&ring, StartAt::Now);
        leaver.join().unwrap();
        drop((publisher.join(), after));
    });
}

/// O16: a dynamic stage is free only once the consumer in it no longer counts. A consumer that
/// takes the dynamic stage as the other one leaves holds producers back.
#[test]
fn loom_a_dynamic_stage_is_taken_as_another_leaves_it() {
    check(|| {
        let (mut producer, mut stays, ring) = single_with_dynamic_stage();
        let before = join(&ring, StartAt::Now).unwrap();
        let joiner = thread::spawn(move || {
            if let Ok(mut after) = Taker::join(&ring, StartAt::Now) {
                publish(&mut producer, 0);
                stays.take().unwrap();
                assert_eq!(producer.try_publish(9), Err(ClaimError::Full));
                after.wait_up_to(1);
            }
        });
        drop(before);
        joiner.join().unwrap();
    });
}

/// O9: a consumer that joins a closed ring starts at its end, also if the close has refused an
/// event.
#[test]
fn loom_join_after_a_close_that_refused_an_event() {
    check(|| {
        let (mut producer, _stays, ring) = single_with_dynamic_stage();
        let control = producer.control();
        let closer = thread::spawn(move || control.close());
        let accepted = u64::from(producer.publish(0).is_ok());
        closer.join().unwrap();
        assert_eq!(join(&ring, StartAt::Now).unwrap().start(), accepted);
    });
}

/// O8 and O9: a consumer that joins during a close does not start beyond the end, also if the close
/// refuses the event that it saw published.
#[test]
fn loom_join_during_a_close_that_refuses_an_event() {
    check_less(|| {
        let (mut producer, stays, ring) = single_with_dynamic_stage();
        let control = producer.control();
        let closer = thread::spawn(move || control.close());
        let joiner = thread::spawn({
            let ring = ring.clone();
            move || join(&ring, StartAt::Now).unwrap().start()
        });
        let accepted = u64::from(producer.publish(0).is_ok());
        closer.join().unwrap();
        let start = joiner.join().unwrap();
        assert_eq!(ring.control().end(), Some(accepted));
        assert!(start <= accepted, "start={start} accepted={accepted}");
        drop(stays);
    });
}

/// O15: a consumer that joins at an event which is overwritten just then is refused, and its
/// dynamic stage is free again.
#[test]
fn loom_a_consumer_that_comes_too_late_frees_its_dynamic_stage() {
    check(|| {
        let (mut producer, mut stays, ring) = single_with_dynamic_stage();
        publish(&mut producer, 0);
        stays.take().unwrap();
        let publisher = thread::spawn(move || {
            publish(&mut producer, 1);
            producer
        });
        match Taker::join(&ring, StartAt::Sequence(0)) {
            Ok(mut late) => late.wait_up_to(1),
            Err(error) => {
                assert!(matches!(error, JoinError::OutOfRange { .. }), "{error:?}");
                assert!(join(&ring, StartAt::Now).is_ok());
            }
        }
        drop((publisher.join(), stays));
    });
}

/// O10: no consumer joins a ring that is halted, even if other consumers are left.
#[test]
fn loom_no_join_after_a_halt() {
    check(|| {
        let (producer, _stays, ring) = single_with_dynamic_stage();
        let control = producer.control();
        let halter = thread::spawn(move || control.halt(REQUESTED));
        halter.join().unwrap();
        assert_eq!(join(&ring, StartAt::Now).unwrap_err(), JoinError::Halted(REQUESTED));
        drop(producer);
    });
}

/// I15: in a ring with a dynamic stage, a dynamic consumer may read events that the stage has not
/// released, so the stage leaves their cache lines.
#[test]
fn loom_lines_are_left_where_somebody_has_a_dynamic_stage() {
    super::check_without_fences(|| {
        let (mut producer, mut stays, ring) = single_with_dynamic_stage();
        let mut guest = Taker::join(&ring, StartAt::Now).unwrap();
        publish(&mut producer, 0);
        let reader = thread::spawn(move || {
            guest.wait_up_to(1);
            guest
        });
        assert_eq!(stays.take().unwrap(), [(0, 0)]);
        drop((reader.join(), producer));
    });
}

/// O16: one of two consumers gets the dynamic stage.
#[test]
fn loom_two_join_for_one_dynamic_stage() {
    check(|| {
        let (_producer, _stays, ring) = single_with_dynamic_stage();
        let others = ring.clone();
        let other = thread::spawn(move || join(&others, StartAt::Now));
        let results = [join(&ring, StartAt::Now), other.join().unwrap()];
        let errors: Vec<_> = results.iter().filter_map(|result| result.as_ref().err()).collect();
        assert_eq!(errors, [&JoinError::NoneFree]);
    });
}

/// O14: a consumer joins as the last one leaves. Either the ring continues, or the consumer is
/// refused.
#[test]
fn loom_join_as_the_last_one_leaves() {
    check(|| {
        let (mut producer, stays, ring) = single_with_dynamic_stage();
        let leaver = thread::spawn(move || drop(stays));
        let result = Taker::join(&ring, StartAt::Now);
        leaver.join().unwrap();
        match result {
            Ok(mut late) => {
                publish(&mut producer, 0);
                late.wait_up_to(1);
            }
            Err(error) => {
                assert_eq!(error, JoinError::Halted(Cause::NO_CONSUMERS));
                assert_eq!(producer.publish(0), Err(ClaimError::Halted(Cause::NO_CONSUMERS)));
            }
        }
    });
}

/// O14: a producer that claims while one consumer leaves and another joins learns of a halt only if
/// the ring is halted.
#[test]
fn loom_claim_as_one_leaves_and_another_joins() {
    check(|| {
        let (mut producer, stays, ring) = single_with_dynamic_stage();
        let leaver = thread::spawn(move || drop(stays));
        let publisher = thread::spawn(move || (producer.publish(0), producer));
        let dynamic_stage = join(&ring, StartAt::Now);
        leaver.join().unwrap();
        let (result, producer) = publisher.join().unwrap();
        match dynamic_stage {
            Ok(_) => assert_eq!(result, Ok(0)),
            Err(error) => assert_eq!(error, JoinError::Halted(Cause::NO_CONSUMERS)),
        }
        drop(producer);
    });
}

/// O10: a stop of a consumer that has left does not stop the next consumer in that dynamic stage.
#[test]
fn loom_stop_of_a_consumer_that_has_left() {
    check(|| {
        let (mut producer, _stays, ring) = single_with_dynamic_stage();
        let before = join(&ring, StartAt::Now).unwrap();
        let (dynamic_stage, generation) = (before.dynamic_stage(), before.generation());
        drop(before);
        let mut after = Taker::join(&ring, StartAt::Now).unwrap();
        let stopper = thread::spawn(move || ring.control().stop(dynamic_stage, generation));
        publish(&mut producer, 0);
        drop(producer);
        assert_eq!(after.run(), Some(PollError::Closed));
        stopper.join().unwrap();
    });
}
