//! Models of consumers that join and leave while producers publish.

use loom::thread;

use super::{check, check_without_fences, multi_ring, single, single_ring, take};
use crate::consumer::Outcome;
use crate::error::{HaltCause, PublishError, SeatError, TryPublishError};
use crate::graph::{Seats, StartAt};
use crate::producer::Sequencer;
use crate::protocol::seats::Seating;
use crate::sync::Arc;
use crate::{Builder, Poller, Producer};

/// Returns the producer, the only stage and the only seat of `ring`.
fn with_seat<S: Sequencer>(
    ring: Builder<'static, u64, S>,
) -> (Producer<u64, S>, Poller<u64>, Seats<u64>) {
    let (producer, mut consumers) = ring.seats(1).stage("stays").poller().build().unwrap();
    let poller = consumers.take_poller("stays").unwrap();
    (producer, poller, consumers.seats())
}

/// Publishes an event that carries its own sequence.
fn publish<S: Sequencer>(producer: &mut Producer<u64, S>, sequence: u64) {
    assert_eq!(producer.publish(|event| *event = sequence), Ok(sequence));
}

/// Consumes all events up to `end`, and checks that none is missing or overwritten.
fn check_up_to(poller: &mut Poller<u64>, end: u64) {
    while poller.sequence() < end {
        let first = poller.sequence();
        for (expected, (sequence, event)) in (first..).zip(poller.wait().unwrap().iter()) {
            assert_eq!((sequence, *event), (expected, expected));
        }
    }
}

/// A consumer joins at the oldest event, which a producer is about to overwrite.
fn join_at_the_oldest_against_publish<S: Sequencer + 'static>(ring: Builder<'static, u64, S>) {
    let (mut producer, mut stays, seats) = with_seat(ring);
    publish(&mut producer, 0);
    take(&mut stays).unwrap();
    let publisher = thread::spawn(move || {
        publish(&mut producer, 1);
        producer
    });
    let mut late = seats.take("late", StartAt::Oldest).unwrap().poller();
    check_up_to(&mut late, 2);
    drop(publisher.join());
}

/// O15: one producer.
#[test]
fn loom_join_at_the_oldest_against_publish() {
    check(|| join_at_the_oldest_against_publish(single_ring(1)));
}

/// O15: several producers.
#[test]
fn loom_join_at_the_oldest_against_publish_multi() {
    check(|| join_at_the_oldest_against_publish(multi_ring(1)));
}

/// A consumer joins at the first unpublished event, while the producer publishes another lap.
fn join_now_against_publish<S: Sequencer + 'static>(ring: Builder<'static, u64, S>) {
    let (mut producer, mut stays, seats) = with_seat(ring);
    let publisher = thread::spawn(move || {
        publish(&mut producer, 0);
        take(&mut stays).unwrap();
        publish(&mut producer, 1);
        (producer, stays)
    });
    let mut late = seats.take("late", StartAt::Now).unwrap().poller();
    check_up_to(&mut late, 2);
    drop(publisher.join());
}

/// O15: one producer.
#[test]
fn loom_join_now_against_publish() {
    check(|| join_now_against_publish(single_ring(1)));
}

/// O15: several producers.
#[test]
fn loom_join_now_against_publish_multi() {
    check(|| join_now_against_publish(multi_ring(1)));
}

/// Lets a consumer join at `start` while a claim is held, and the other consumer leave if it has
/// joined. No other producer may then claim the slot of that claim again.
fn join_behind_a_claim_that_is_held(start: StartAt) -> bool {
    let (mut first, stays, seats) = with_seat(multi_ring(1));
    let mut second = first.clone();
    let publisher = thread::spawn(move || {
        let _ = first.try_publish(|event| *event = 1);
        first
    });
    let late = seats.take("late", start).map(|guest| guest.poller());
    let has_joined = late.is_ok();
    if has_joined {
        drop(stays);
        let _ = second.try_publish(|event| *event = 2);
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
        let (mut producer, mut stays, seats) = with_seat(single_ring(1));
        publish(&mut producer, 0);
        let consumer = thread::spawn(move || {
            take(&mut stays).unwrap();
            let mut late = seats.take("late", StartAt::Oldest).unwrap().poller();
            check_up_to(&mut late, 1);
            (stays, late)
        });
        publish(&mut producer, 1);
        drop(consumer.join());
    });
}

/// O6: the whole graph has left. The only consumer in a seat leaves just as another one joins, so
/// for a moment there is no consumer for a producer to wait for.
#[test]
fn loom_join_as_the_consumer_in_the_other_seat_leaves() {
    check(|| {
        let (mut producer, mut consumers) =
            single_ring(1).seats(2).stage("leaves").poller().build().unwrap();
        let seats = consumers.seats();
        let first = seats.take("first", StartAt::Now).unwrap();
        drop(consumers.take_poller("leaves").unwrap());
        publish(&mut producer, 0);
        let joining = thread::spawn(move || seats.take("second", StartAt::Now));
        let leaving = thread::spawn(move || drop(first));
        let published = producer.publish(|event| *event = 1);
        let second = joining.join().unwrap();
        assert_eq!(published.is_err(), second.is_err(), "{published:?}, {second:?}");
        leaving.join().unwrap();
    });
}

/// O2 and O6: a producer waits for a consumer in a seat, which leaves.
#[test]
fn loom_leave_a_seat_against_a_producer_that_parks() {
    check(|| {
        let (mut producer, mut stays, seats) = with_seat(single_ring(1));
        let mut late = seats.take("late", StartAt::Now).unwrap().poller();
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

/// O16: a consumer takes a seat only after all reads of the previous consumer in that seat.
#[test]
fn loom_a_seat_is_taken_again() {
    check(|| {
        let (mut producer, mut stays, seats) = with_seat(single_ring(1));
        let mut before = seats.take("before", StartAt::Now).unwrap().poller();
        publish(&mut producer, 0);
        take(&mut stays).unwrap();
        let leaver = thread::spawn(move || {
            assert_eq!(before.poll().unwrap().as_slice(), [0]);
        });
        if let Ok(after) = seats.take("after", StartAt::Now) {
            publish(&mut producer, 1);
            check_up_to(&mut after.poller(), 2);
        }
        leaver.join().unwrap();
    });
}

/// O2: the same, where a producer on another thread uses the sequence of the second consumer.
#[test]
fn loom_a_seat_is_taken_again_before_a_claim() {
    check(|| {
        let (mut producer, mut stays, seats) = with_seat(single_ring(1));
        let mut before = seats.take("before", StartAt::Now).unwrap().poller();
        publish(&mut producer, 0);
        take(&mut stays).unwrap();
        let leaver = thread::spawn(move || {
            assert_eq!(before.poll().unwrap().as_slice(), [0]);
        });
        let publisher = thread::spawn(move || {
            let _ = producer.try_publish(|event| *event = 1);
            producer
        });
        let after = seats.take("after", StartAt::Now);
        leaver.join().unwrap();
        drop((publisher.join(), after));
    });
}

/// O16: a seat is free only once the consumer in it no longer counts. A consumer that takes the seat
/// as the other one leaves holds producers back.
#[test]
fn loom_a_seat_is_taken_as_another_leaves_it() {
    check(|| {
        let (mut producer, mut stays, seats) = with_seat(single_ring(1));
        let before = seats.take("before", StartAt::Now).unwrap();
        let joiner = thread::spawn(move || {
            if let Ok(after) = seats.take("after", StartAt::Now) {
                publish(&mut producer, 0);
                take(&mut stays).unwrap();
                assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
                check_up_to(&mut after.poller(), 1);
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
        let (mut producer, _stays, seats) = with_seat(single_ring(1));
        let ring = producer.shared();
        let closer = thread::spawn(move || ring.control.close());
        let accepted = u64::from(producer.publish(|event| *event = 0).is_ok());
        closer.join().unwrap();
        assert_eq!(seats.take("late", StartAt::Now).unwrap().sequence(), accepted);
    });
}

/// O15: a consumer that joins at an event which is overwritten just then is refused, and its seat is
/// free again.
#[test]
fn loom_a_consumer_that_comes_too_late_frees_its_seat() {
    check(|| {
        let (mut producer, mut stays, seats) = with_seat(single_ring(1));
        publish(&mut producer, 0);
        take(&mut stays).unwrap();
        let publisher = thread::spawn(move || {
            publish(&mut producer, 1);
            producer
        });
        match seats.take("late", StartAt::Sequence(0)) {
            Ok(late) => check_up_to(&mut late.poller(), 1),
            Err(error) => {
                assert!(matches!(error, SeatError::OutOfRange { .. }), "{error}");
                assert!(seats.take("again", StartAt::Now).is_ok());
            }
        }
        drop((publisher.join(), stays));
    });
}

/// O10: no consumer joins a ring that is halted, even if other consumers are left.
#[test]
fn loom_no_join_after_a_halt() {
    check(|| {
        let (producer, _stays, seats) = with_seat(single_ring(1));
        let ring = producer.shared();
        let halter = thread::spawn(move || ring.control.halt(HaltCause::Requested));
        halter.join().unwrap();
        let error = seats.take("late", StartAt::Now).unwrap_err();
        assert_eq!(error, SeatError::Halted(HaltCause::Requested));
        drop(producer);
    });
}

/// O15: of two grants at the same time the greater one counts, since a producer may act on it.
#[test]
fn loom_a_grant_never_goes_back() {
    check_without_fences(|| {
        let seating = Arc::new(Seating::new(1, 1, 1));
        let others = Arc::clone(&seating);
        let other = thread::spawn(move || others.raise_granted(1));
        seating.raise_granted(2);
        other.join().unwrap();
        assert_eq!(seating.granted(), 2);
    });
}

/// I15: in a ring with a seat, a consumer in the seat may read events that the stage has not
/// released, so the stage leaves their cache lines.
#[test]
fn loom_lines_are_left_where_somebody_has_a_seat() {
    check_without_fences(|| {
        let (mut producer, mut stays, seats) = with_seat(single_ring(1));
        let mut guest = seats.take("guest", StartAt::Now).unwrap().poller();
        publish(&mut producer, 0);
        let reader = thread::spawn(move || {
            check_up_to(&mut guest, 1);
            guest
        });
        assert_eq!(take(&mut stays).unwrap(), [(0, 0)]);
        drop((reader.join(), producer));
    });
}

/// O16: one of two consumers gets the seat.
#[test]
fn loom_two_join_for_one_seat() {
    check(|| {
        let (_producer, _stays, seats) = with_seat(single_ring(1));
        let others = seats.clone();
        let other = thread::spawn(move || others.take("left", StartAt::Now));
        let results = [seats.take("right", StartAt::Now), other.join().unwrap()];
        let errors: Vec<_> = results.iter().filter_map(|result| result.as_ref().err()).collect();
        assert_eq!(errors, [&SeatError::NoFreeSeat { seats: 1 }]);
    });
}

/// O14: a consumer joins as the last one leaves. Either the ring continues, or the consumer is
/// refused.
#[test]
fn loom_join_as_the_last_one_leaves() {
    check(|| {
        let (mut producer, stays, seats) = with_seat(single_ring(1));
        let leaver = thread::spawn(move || drop(stays));
        let result = seats.take("late", StartAt::Now);
        leaver.join().unwrap();
        match result {
            Ok(seat) => {
                publish(&mut producer, 0);
                check_up_to(&mut seat.poller(), 1);
            }
            Err(error) => {
                assert_eq!(error, SeatError::Halted(HaltCause::NoConsumers));
                assert_eq!(
                    producer.publish(|_| {}),
                    Err(PublishError::Halted(HaltCause::NoConsumers))
                );
            }
        }
    });
}

/// O14: a producer that claims while one consumer leaves and another joins learns of a halt only if
/// the ring is halted.
#[test]
fn loom_claim_as_one_leaves_and_another_joins() {
    check(|| {
        let (mut producer, stays, seats) = with_seat(single_ring(1));
        let leaver = thread::spawn(move || drop(stays));
        let publisher = thread::spawn(move || (producer.publish(|event| *event = 0), producer));
        let seat = seats.take("late", StartAt::Now);
        leaver.join().unwrap();
        let (result, producer) = publisher.join().unwrap();
        match seat {
            Ok(_) => assert_eq!(result, Ok(0)),
            Err(error) => assert_eq!(error, SeatError::Halted(HaltCause::NoConsumers)),
        }
        drop(producer);
    });
}

/// O10 and O7: a parked stage is stopped, and the ring continues.
#[test]
fn loom_stop_against_park() {
    check(|| {
        let (mut producer, mut consumers) = single_ring(1)
            .side_by_side(|side| side.stage("stops").read(|_, _, _| {}).stage("stays").poller())
            .build()
            .unwrap();
        let mut stays = consumers.take_poller("stays").unwrap();
        let consumer = consumers.into_iter().next().unwrap();
        let stop = consumer.stop_handle();
        let stage = thread::spawn(move || consumer.run().outcome().clone());
        stop.stop();
        assert_eq!(stage.join().unwrap(), Outcome::Stopped);
        publish(&mut producer, 0);
        check_up_to(&mut stays, 1);
    });
}

/// O10: a stop handle whose consumer has left does not stop the next consumer in that seat.
#[test]
fn loom_stop_of_a_consumer_that_has_left() {
    check(|| {
        let (mut producer, _stays, seats) = with_seat(single_ring(1));
        let before = seats.take("before", StartAt::Now).unwrap().read(|_, _, _| {});
        let stop = before.stop_handle();
        drop(before);
        let after = seats.take("after", StartAt::Now).unwrap().read(|_, _, _| {});
        let stopper = thread::spawn(move || stop.stop());
        publish(&mut producer, 0);
        drop(producer);
        assert_eq!(*after.run().outcome(), Outcome::Drained);
        stopper.join().unwrap();
    });
}

/// O10: a late stop of a consumer that has left does not undo the stop of the next one in that seat.
#[test]
fn loom_a_late_stop_undoes_no_other() {
    check_without_fences(|| {
        let (producer, _poller) = single(1);
        let ring = producer.shared();
        let late = thread::spawn(move || ring.control.stop(0, 1));
        let ring = producer.shared();
        ring.control.stop(0, 3);
        late.join().unwrap();
        assert!(ring.control.is_stopping(0, 3));
    });
}
