//! Models of a close or a halt while other threads publish. Consumers see the events that the ring
//! accepted and no others, and producers learn which these are.

use loom::thread;

use super::{
    Multi, Publisher, REQUESTED, Single, Taken, Taker, check, check_without_fences, counting,
    expecting, in_parts, multi, single,
};
use crate::error::{Cause, ClaimError, Ended, PollError};
use crate::sync::{Arc, AtomicU64, Ordering};
use crate::words::Placed;
use crate::{Claims, Control, Sequence};

/// The two ends of a ring.
type Ends<C> = (Publisher<C>, Taker);

/// O8 and O9: one producer publishes, another thread closes, a third one polls.
#[test]
fn loom_close_against_publish() {
    close_against_publish(single, Taker::take_any);
}

/// O8: the same with a consumer that spins.
#[test]
fn loom_close_against_publish_and_one_that_spins() {
    close_against_publish(single, Taker::take_by_spinning);
}

/// O8: the same with a producer that keeps a count of its claims.
#[test]
fn loom_close_against_publish_of_one_that_counts() {
    close_against_publish(counting, Taker::take_any);
}

/// A publication and a close in two threads, while a third one polls once.
fn close_against_publish(ring: fn(usize) -> Ends<Single>, poll_once: fn(&mut Taker) -> Taken) {
    check(move || {
        let (producer, mut stage) = ring(2);
        let control = producer.control();
        let publisher = thread::spawn(move || publish_one(producer));
        let closer = thread::spawn(move || control.close());
        let mut seen = poll_once(&mut stage);
        closer.join().unwrap();
        let (producer, result) = publisher.join().unwrap();
        seen.extend(stage.drain());
        assert_both_agree(result, seen);
        drop(producer);
    });
}

/// O8: two events that were published together, which a reader takes one after the other from one
/// load, are both seen or both refused.
#[test]
fn loom_close_against_publish_of_what_is_read_in_parts() {
    check(|| {
        let (mut producer, mut stage) = in_parts(2);
        let control = producer.control();
        let publisher = thread::spawn(move || {
            let result = producer.publish_batch(2, 0);
            (producer, result.is_ok())
        });
        let closer = thread::spawn(move || control.close());
        let mut seen = stage.take_any();
        closer.join().unwrap();
        let (producer, is_accepted) = publisher.join().unwrap();
        seen.extend(stage.drain());
        assert_eq!(seen, if is_accepted { vec![(0, 0), (1, 0)] } else { vec![] });
        drop(producer);
    });
}

/// O12: a publication of one of several producers against a close, which waits for the claim.
#[test]
fn loom_close_against_claim() {
    check(|| {
        let (producer, mut stage) = multi(2);
        let control = producer.control();
        let publisher = thread::spawn(move || publish_one(producer));
        control.close();
        let seen = stage.drain();
        let (producer, result) = publisher.join().unwrap();
        assert_both_agree(result, seen);
        drop(producer);
    });
}

/// O8: a close may refuse the second of two events. A reader that finds both with one load gets
/// only the first.
#[test]
fn loom_close_against_the_second_of_two_events() {
    close_against_the_second(single);
}

/// O8: the same with a reader that takes one event after the other from one load.
#[test]
fn loom_close_against_the_second_of_two_events_in_parts() {
    close_against_the_second(in_parts);
}

fn close_against_the_second(ring: fn(usize) -> Ends<Single>) {
    check(move || {
        let (mut producer, mut stage) = ring(2);
        let control = producer.control();
        producer.publish(1).unwrap();
        let publisher = thread::spawn(move || publish_one(producer));
        control.close();
        let seen = stage.drain();
        let (producer, result) = publisher.join().unwrap();
        let expected = if result.is_ok() { vec![(0, 1), (1, 1)] } else { vec![(0, 1)] };
        assert_eq!(seen, expected);
        drop(producer);
    });
}

/// O8: a halt refuses no event that a reader sees.
#[test]
fn loom_halt_refuses_no_event_that_is_seen() {
    halt_against_publish(single, Taker::take_any);
}

/// O8: the same with a consumer that spins.
#[test]
fn loom_halt_refuses_no_event_that_one_that_spins_sees() {
    halt_against_publish(single, Taker::take_by_spinning);
}

/// O8: the same with a producer that keeps a count of its claims.
#[test]
fn loom_halt_refuses_no_event_of_one_that_counts() {
    halt_against_publish(counting, Taker::take_any);
}

/// A publication and a halt in two threads, while a third one polls once.
fn halt_against_publish(ring: fn(usize) -> Ends<Single>, poll_once: fn(&mut Taker) -> Taken) {
    check(move || {
        let (producer, mut stage) = ring(2);
        let control = producer.control();
        let publisher = thread::spawn(move || publish_one(producer));
        let halter = thread::spawn(move || control.halt(REQUESTED));
        let seen = poll_once(&mut stage);
        halter.join().unwrap();
        let (producer, result) = publisher.join().unwrap();
        assert!(result.is_ok() || seen.is_empty(), "{result:?} {seen:?}");
        assert_eq!(stage.drain(), []);
        drop(producer);
    });
}

/// Publishes a 1. Returns the producer, so that its drop is not part of these models.
fn publish_one<C: Claims>(
    mut producer: Publisher<C>,
) -> (Publisher<C>, Result<Sequence, ClaimError>) {
    let result = producer.publish(1);
    (producer, result)
}

/// Checks that the publisher's result matches the events that a reader has `seen` up to the end.
pub(super) fn assert_both_agree(result: Result<Sequence, ClaimError>, seen: Taken) {
    match result {
        Ok(sequence) => assert_eq!(seen, [(sequence, 1)]),
        Err(error) => assert_eq!((error, seen), (ClaimError::Closed, vec![])),
    }
}

/// O32: a producer that is refused by a halt, before or after its closure runs, learns of the halt
/// and not of a close.
#[test]
fn loom_halt_against_publish() {
    check_without_fences(|| is_told_of_a_halt(single(2)));
}

/// O12: the same with several producers.
#[test]
fn loom_halt_against_claim() {
    check(|| is_told_of_a_halt(multi(2)));
}

/// O12: the second claim expects the counter at the end of the first.
#[test]
fn loom_halt_against_claims_in_a_row() {
    check(|| is_told_of_a_halt(expecting(2)));
}

/// Two publications, for which there are free slots, while another thread halts the ring.
fn is_told_of_a_halt<C: Claims>((mut producer, mut stage): Ends<C>) {
    let control = producer.control();
    let halter = thread::spawn(move || control.halt(REQUESTED));
    let results = [1, 2].map(|value| producer.try_publish(value));
    let _ = stage.take();
    for error in results.into_iter().filter_map(Result::err) {
        assert_eq!(error, ClaimError::Halted(REQUESTED), "both slots are free");
    }
    halter.join().unwrap();
    assert_eq!(producer.try_publish(0), Err(ClaimError::Halted(REQUESTED)));
}

/// O33: once a close has returned, no claim is granted, whatever the claim window is.
#[test]
fn loom_no_claim_after_a_close() {
    no_claim_after(Control::close, |producer| producer.try_claim().is_ok());
}

/// O33: the same with a halt.
#[test]
fn loom_no_claim_after_a_halt() {
    no_claim_after(|control| control.halt(REQUESTED), |producer| producer.try_claim().is_ok());
}

/// O33: the same with a close, and claims of as many slots as are free.
#[test]
fn loom_no_claim_up_to_after_a_close() {
    no_claim_after(Control::close, |producer| producer.try_claim_up_to(1).is_ok());
}

/// Makes a claim whose window covers the next one, while another thread runs `end`. The next claim
/// must fail.
fn no_claim_after(end: fn(&Control), claim: fn(&mut Publisher<Single>) -> bool) {
    check(move || {
        let (mut producer, _stage) = single(2);
        let control = producer.control();
        let ender = thread::spawn(move || end(&control));
        claim(&mut producer);
        ender.join().unwrap();
        assert!(!claim(&mut producer), "its publication would be refused");
    });
}

/// O33: a claim that was refused is the last one, also while the thread that closes the ring has not
/// stopped the grants. The first claim opens a window that covers the third one.
#[test]
fn loom_no_claim_after_a_refused_one() {
    no_claim_after_a_refused_one(single);
}

/// O12: the same with several producers, of which this one has a limit from before.
#[test]
fn loom_no_claim_after_a_refused_one_multi() {
    no_claim_after_a_refused_one(multi);
}

fn no_claim_after_a_refused_one<C: Claims + 'static>(ring: fn(usize) -> Ends<C>) {
    check(move || {
        let (mut producer, _stage) = ring(2);
        let control = producer.control();
        producer.publish(0).unwrap();
        let closer = thread::spawn(move || control.close());
        let is_refused = producer.try_claim_batch(2).err() == Some(ClaimError::Closed);
        let is_granted = producer.try_claim().is_ok();
        assert!(!is_refused || !is_granted, "granted after it was refused");
        closer.join().unwrap();
    });
}

/// O11: the ring closes with its last producer, not before.
#[test]
fn loom_last_producer_closes() {
    check(|| {
        let (mut first, mut stage) = multi(2);
        let mut second = first.clone();
        let one = thread::spawn(move || first.publish(1).unwrap());
        let two = thread::spawn(move || second.publish(2).unwrap());
        one.join().unwrap();
        two.join().unwrap();
        assert_eq!(stage.drain().len(), 2);
    });
}

/// O8: two threads close the ring at once. When one of the calls returns, its own producer is
/// refused.
#[test]
fn loom_two_closers() {
    two_closers(single);
}

/// O12: the same with several producers.
#[test]
fn loom_two_closers_multi() {
    two_closers(multi);
}

fn two_closers<C: Claims + 'static>(ring: fn(usize) -> Ends<C>) {
    check(move || {
        let (mut producer, mut stage) = ring(2);
        let control = producer.control();
        producer.publish(1).unwrap(); // the next claim needs no check
        let closer = thread::spawn(move || control.close());
        producer.control().close();
        assert_eq!(producer.try_publish(0), Err(ClaimError::Closed));
        closer.join().unwrap();
        assert_eq!(stage.drain(), [(0, 1)]);
    });
}

/// O7: two threads close the ring at once. Each has woken all threads when its call returns. The
/// second one left that to the first, which may have lost its CPU.
#[test]
fn loom_each_of_two_closers_wakes_all() {
    check(|| {
        let (producer, stage) = single(1);
        let close = |control: Placed<Control>| {
            control.close();
            let places = [control.parking().published(), control.released(0)];
            assert!(places.iter().all(|place| place.epochs() > 0), "a thread is still parked");
        };
        let (control, other) = (producer.control(), producer.control());
        let closer = thread::spawn(move || close(other));
        close(control);
        closer.join().unwrap();
        drop((producer, stage));
    });
}

/// O9: of two threads that close at once, the second one finds what was accepted once its close has
/// returned.
#[test]
fn loom_a_second_closer_finds_what_was_accepted() {
    second_closer(single);
}

/// O9: the same with several producers.
#[test]
fn loom_a_second_closer_finds_what_was_accepted_multi() {
    second_closer(multi);
}

fn second_closer<C: Claims + 'static>(ring: fn(usize) -> Ends<C>) {
    check(move || {
        let (mut producer, mut stage) = ring(2);
        let control = producer.control();
        producer.publish(1).unwrap();
        let closer = thread::spawn(move || control.close());
        producer.control().close();
        assert_eq!(stage.take(), Ok(vec![(0, 1)]));
        assert_eq!(stage.take(), Err(PollError::Closed));
        closer.join().unwrap();
    });
}

/// O8 and O9: two threads close, of which one has published before. The second close does not count
/// an event that the first one refused.
#[test]
fn loom_a_second_closer_counts_no_refused_event() {
    check(|| {
        let (producer, mut stage) = single(2);
        let control = producer.control();
        let closer = thread::spawn(move || control.close());
        let (producer, result) = publish_one(producer);
        producer.control().close();
        closer.join().unwrap();
        assert_both_agree(result, stage.drain());
        drop(producer);
    });
}

/// O9: a consumer that has drained the ring sees what the thread that closed it did before. With one
/// producer, the fence of the close carries that too.
#[test]
fn loom_what_came_before_a_close_is_seen_at_its_end() {
    check_without_fences(|| {
        let (producer, mut stage) = multi(1);
        let (control, before) = (producer.control(), Arc::new(AtomicU64::new(0)));
        let stored = Arc::clone(&before);
        let closer = thread::spawn(move || {
            // O9, Relaxed: the end of the ring carries it.
            stored.store(1, Ordering::Relaxed);
            control.close();
        });
        if stage.take() == Err(PollError::Closed) {
            // O9, Relaxed: ordered by the load of the end.
            assert_eq!(before.load(Ordering::Relaxed), 1);
        }
        closer.join().unwrap();
        drop(producer);
    });
}

/// O9: the same if a third thread sees that the close has begun and fixes the end itself.
#[test]
fn loom_what_came_before_a_close_is_seen_if_another_thread_fixes_the_end() {
    check_without_fences(|| {
        let (producer, mut stage) = multi(1);
        let (control, before) = (producer.control(), Arc::new(AtomicU64::new(0)));
        let (stored, other) = (Arc::clone(&before), producer.control());
        let closer = thread::spawn(move || {
            // O9, Relaxed: the end of the ring carries it.
            stored.store(1, Ordering::Relaxed);
            control.close();
        });
        let fixer = thread::spawn(move || other.accepted());
        if stage.take() == Err(PollError::Closed) {
            // O9, Relaxed: ordered by the load of the end.
            assert_eq!(before.load(Ordering::Relaxed), 1);
        }
        closer.join().unwrap();
        fixer.join().unwrap();
        drop(producer);
    });
}

/// O10: one of several producers, which has claimed before a halt, publishes nothing after it.
#[test]
fn loom_no_publication_after_a_halt() {
    check(|| {
        let (mut producer, _stage): Ends<Multi> = multi(2);
        let control = producer.control();
        let claim = producer.try_claim().unwrap();
        let halter = thread::spawn(move || control.halt(REQUESTED));
        halter.join().unwrap();
        assert_eq!(claim.publish().err().unwrap().1, Ended::Halted(REQUESTED));
    });
}

/// O10: an event that is published after a halt is refused, even if the ring is halted again.
#[test]
fn loom_a_second_halt_accepts_no_refused_event() {
    check(|| {
        let (mut producer, _stage) = single(2);
        let control = producer.control();
        let claim = producer.try_claim().unwrap();
        control.halt(REQUESTED);
        let halter = thread::spawn(move || control.halt(REQUESTED));
        assert_eq!(claim.publish().err().unwrap().1, Ended::Halted(REQUESTED));
        halter.join().unwrap();
    });
}

/// O10: of two halts at once, the cause of the first counts, for good.
#[test]
fn loom_a_second_halt_changes_no_cause() {
    // The codes have no bit in common.
    let (dropped, failed) = (Cause::new(1), Cause::new(2));
    check(move || {
        let (producer, stage) = single(1);
        let (control, other) = (producer.control(), producer.control());
        let halter = thread::spawn(move || other.halt(dropped));
        let before = control.halt_cause();
        control.halt(failed);
        halter.join().unwrap();
        let cause = control.halt_cause().unwrap();
        assert!([dropped, failed].contains(&cause));
        assert!(before.is_none_or(|before| before == cause));
        drop((producer, stage));
    });
}

/// O10: a stage that takes one event after the other from one load takes none after a halt.
#[test]
fn loom_halt_between_events_that_are_known() {
    check(|| {
        let (mut producer, mut stage) = in_parts(2);
        let control = producer.control();
        producer.publish_batch(2, 0).unwrap();
        assert_eq!(stage.wait().unwrap().len(), 1);
        let halter = thread::spawn(move || control.halt(REQUESTED));
        halter.join().unwrap();
        assert_eq!(stage.wait(), Err(PollError::Halted(REQUESTED)));
        drop(producer);
    });
}
