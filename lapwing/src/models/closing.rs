//! Models of a close or a halt while other threads publish. Consumers see the events that the ring
//! accepted and no others, and producers learn which these are.

use loom::thread;

use super::{
    Taken, check, check_without_fences, drain, in_parts, multi, single, spinning, take,
    take_by_spinning,
};
use crate::error::{BatchError, HaltCause, PollError, PublishError, RingError, TryPublishError};
use crate::producer::{Sequencer, Single};
use crate::protocol::control::Control;
use crate::sync::{Arc, AtomicU64, Ordering};
use crate::tuning::own_count::COUNTS;
use crate::{Poller, Producer, Sequence, SingleProducer};

/// The two ends of a ring.
type Ends<S> = (Producer<u64, S>, Poller<u64>);

/// O8 and O9: one producer publishes, another thread closes, a third one polls.
#[test]
fn loom_close_against_publish() {
    close_against_publish(single, |poller| take(poller).unwrap_or_default());
}

/// O8: the same with a consumer that spins.
#[test]
fn loom_close_against_publish_and_one_that_spins() {
    close_against_publish(spinning, |poller| take_by_spinning(poller).unwrap_or_default());
}

/// O8: the same with a producer that keeps a count of its claims.
#[test]
fn loom_close_against_publish_of_one_that_counts() {
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
        let closer = thread::spawn(move || ring.control.close());
        let mut seen = poll_once(&mut poller);
        closer.join().unwrap();
        let (producer, result) = publisher.join().unwrap();
        seen.extend(drain(&mut poller));
        assert_both_agree(result, seen);
        drop(producer);
    });
}

/// O8: two events that were published together, which a reader takes one after the other from one
/// load, are both seen or both refused.
#[test]
fn loom_close_against_publish_of_what_is_read_in_parts() {
    check(|| {
        let (mut producer, mut poller) = in_parts(2);
        let ring = producer.shared();
        let publisher = thread::spawn(move || {
            let result = producer.publish_batch(2, |_| {});
            (producer, result.is_ok())
        });
        let closer = thread::spawn(move || ring.control.close());
        let mut seen = take(&mut poller).unwrap_or_default();
        closer.join().unwrap();
        let (producer, is_accepted) = publisher.join().unwrap();
        seen.extend(drain(&mut poller));
        assert_eq!(seen, if is_accepted { vec![(0, 0), (1, 0)] } else { vec![] });
        drop(producer);
    });
}

/// O12: a publication of one of several producers against a close, which waits for the claim.
#[test]
fn loom_close_against_claim() {
    check(|| {
        let (producer, mut poller) = multi(2);
        let ring = producer.shared();
        let publisher = thread::spawn(move || publish_one(producer));
        ring.control.close();
        let seen = drain(&mut poller);
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
        let (mut producer, mut poller) = ring(2);
        let ring = producer.shared();
        producer.publish(|event| *event = 1).unwrap();
        let publisher = thread::spawn(move || publish_one(producer));
        ring.control.close();
        let seen = drain(&mut poller);
        let (producer, result) = publisher.join().unwrap();
        let expected = if result.is_ok() { vec![(0, 1), (1, 1)] } else { vec![(0, 1)] };
        assert_eq!(seen, expected);
        drop(producer);
    });
}

/// O8: a halt refuses no event that a reader sees.
#[test]
fn loom_halt_refuses_no_event_that_is_seen() {
    halt_against_publish(single, |poller| take(poller).unwrap_or_default());
}

/// O8: the same with a consumer that spins.
#[test]
fn loom_halt_refuses_no_event_that_one_that_spins_sees() {
    halt_against_publish(spinning, |poller| take_by_spinning(poller).unwrap_or_default());
}

/// O8: the same with a producer that keeps a count of its claims.
#[test]
fn loom_halt_refuses_no_event_of_one_that_counts() {
    COUNTS.set(true);
    halt_against_publish(single, |poller| take(poller).unwrap_or_default());
    COUNTS.set(false);
}

/// A publication and a halt in two threads, while a third one polls once.
fn halt_against_publish(
    ring: fn(usize) -> (SingleProducer<u64>, Poller<u64>),
    poll_once: fn(&mut Poller<u64>) -> Taken,
) {
    check(move || {
        let (producer, mut poller) = ring(2);
        let ring = producer.shared();
        let publisher = thread::spawn(move || publish_one(producer));
        let halter = thread::spawn(move || ring.control.halt(HaltCause::Requested));
        let seen = poll_once(&mut poller);
        halter.join().unwrap();
        let (producer, result) = publisher.join().unwrap();
        assert!(result.is_ok() || seen.is_empty(), "{result:?} {seen:?}");
        assert_eq!(drain(&mut poller), []);
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

/// Two publications, for which there are free slots, while another thread halts the ring.
fn is_told_of_a_halt<S: Sequencer>((mut producer, mut poller): Ends<S>) {
    let ring = producer.shared();
    let halter = thread::spawn(move || ring.control.halt(HaltCause::Requested));
    let results = [1, 2].map(|value| producer.try_publish(|event| *event = value));
    let _ = take(&mut poller);
    for error in results.into_iter().filter_map(Result::err) {
        assert_eq!(error, TryPublishError::Halted(HaltCause::Requested), "both slots are free");
    }
    halter.join().unwrap();
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Halted(HaltCause::Requested)));
}

/// O33: once a close has returned, no claim is granted, whatever the claim window is.
#[test]
fn loom_no_claim_after_a_close() {
    no_claim_after(Control::close, |producer| producer.try_claim().is_ok());
}

/// O33: the same with a halt.
#[test]
fn loom_no_claim_after_a_halt() {
    no_claim_after(
        |control| control.halt(HaltCause::Requested),
        |producer| producer.try_claim().is_ok(),
    );
}

/// O33: the same with a close, and claims of as many slots as are free.
#[test]
fn loom_no_claim_up_to_after_a_close() {
    no_claim_after(Control::close, |producer| producer.try_claim_up_to(1).is_ok());
}

/// Makes a claim whose window covers the next one, while another thread runs `end`. The next claim
/// must fail.
fn no_claim_after(end: fn(&Control), claim: fn(&mut SingleProducer<u64>) -> bool) {
    check(move || {
        let (mut producer, _poller) = single(2);
        let ring = producer.shared();
        let ender = thread::spawn(move || end(&ring.control));
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

fn no_claim_after_a_refused_one<S: Sequencer>(ring: fn(usize) -> Ends<S>) {
    check(move || {
        let (mut producer, _poller) = ring(2);
        let ring = producer.shared();
        producer.publish(|_| {}).unwrap();
        let closer = thread::spawn(move || ring.control.close());
        let is_refused = producer.try_claim_batch(2).err() == Some(BatchError::Closed);
        let is_granted = producer.try_claim().is_ok();
        assert!(!is_refused || !is_granted, "granted after it was refused");
        closer.join().unwrap();
    });
}

/// O11: the ring closes with its last producer, not before.
#[test]
fn loom_last_producer_closes() {
    check(|| {
        let (mut first, mut poller) = multi(2);
        let mut second = first.clone();
        let one = thread::spawn(move || first.publish(|event| *event = 1).unwrap());
        let two = thread::spawn(move || second.publish(|event| *event = 2).unwrap());
        one.join().unwrap();
        two.join().unwrap();
        assert_eq!(drain(&mut poller).len(), 2);
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

/// O8 and O9: two threads close, of which one has published before. The second close does not count
/// an event that the first one refused.
#[test]
fn loom_a_second_closer_counts_no_refused_event() {
    check(|| {
        let (producer, mut poller) = single(2);
        let ring = producer.shared();
        let closer = thread::spawn(move || ring.control.close());
        let (producer, result) = publish_one(producer);
        producer.close();
        closer.join().unwrap();
        assert_both_agree(result, drain(&mut poller));
        drop(producer);
    });
}

/// O9: a consumer that has drained the ring sees what the thread that closed it did before. With one
/// producer, the fence of the close carries that too.
#[test]
fn loom_what_came_before_a_close_is_seen_at_its_end() {
    check_without_fences(|| {
        let (producer, mut poller) = multi(1);
        let (ring, before) = (producer.shared(), Arc::new(AtomicU64::new(0)));
        let stored = Arc::clone(&before);
        let closer = thread::spawn(move || {
            // O9, Relaxed: the end of the ring carries it.
            stored.store(1, Ordering::Relaxed);
            ring.control.close();
        });
        if take(&mut poller) == Err(PollError::Closed) {
            // O9, Relaxed: ordered by the load of the end.
            assert_eq!(before.load(Ordering::Relaxed), 1);
        }
        closer.join().unwrap();
        drop(producer);
    });
}

fn second_closer<S: Sequencer + 'static>(ring: fn(usize) -> Ends<S>) {
    check(move || {
        let (mut producer, mut poller) = ring(2);
        let ring = producer.shared();
        producer.publish(|event| *event = 1).unwrap();
        let closer = thread::spawn(move || ring.control.close());
        producer.close();
        assert_eq!(take(&mut poller), Ok(vec![(0, 1)]));
        assert_eq!(take(&mut poller), Err(PollError::Closed));
        closer.join().unwrap();
    });
}

fn two_closers<S: Sequencer + 'static>(ring: fn(usize) -> Ends<S>) {
    check(move || {
        let (mut producer, mut poller) = ring(2);
        let ring = producer.shared();
        producer.publish(|event| *event = 1).unwrap(); // the next claim needs no check
        let closer = thread::spawn(move || ring.control.close());
        producer.close();
        assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Closed));
        closer.join().unwrap();
        assert_eq!(drain(&mut poller), [(0, 1)]);
    });
}

/// O10: one of several producers, which has claimed before a halt, publishes nothing after it.
#[test]
fn loom_no_publication_after_a_halt() {
    check(|| {
        let (mut producer, _poller) = multi(2);
        let ring = producer.shared();
        let claim = producer.claim().unwrap();
        let halter = thread::spawn(move || ring.control.halt(HaltCause::Requested));
        halter.join().unwrap();
        assert_eq!(claim.publish(), Err(RingError::Halted(HaltCause::Requested)));
    });
}

/// O10: an event that is published after a halt is refused, even if the ring is halted again.
#[test]
fn loom_a_second_halt_accepts_no_refused_event() {
    check(|| {
        let (mut producer, _poller) = single(2);
        let ring = producer.shared();
        let claim = producer.claim().unwrap();
        ring.control.halt(HaltCause::Requested);
        let halter = thread::spawn(move || ring.control.halt(HaltCause::Requested));
        assert_eq!(claim.publish(), Err(RingError::Halted(HaltCause::Requested)));
        halter.join().unwrap();
    });
}

/// O10: of two halts at once, the cause of the first counts, for good.
#[test]
fn loom_a_second_halt_changes_no_cause() {
    check(|| {
        let (producer, poller) = single(1);
        let (ring, other) = (producer.shared(), producer.shared());
        let halter = thread::spawn(move || other.control.halt(HaltCause::StageDropped));
        let before = ring.control.life.halt_cause();
        ring.control.halt(HaltCause::StageFailed);
        halter.join().unwrap();
        let cause = ring.control.life.halt_cause().unwrap();
        assert!([HaltCause::StageDropped, HaltCause::StageFailed].contains(&cause));
        assert!(before.is_none_or(|before| before == cause));
        drop((producer, poller));
    });
}

/// O10: a stage that takes one event after the other from one load takes none after a halt.
#[test]
fn loom_halt_between_events_that_are_known() {
    check(|| {
        let (mut producer, mut poller) = in_parts(2);
        let ring = producer.shared();
        producer.publish_batch(2, |_| {}).unwrap();
        assert_eq!(poller.wait().unwrap().iter().count(), 1);
        let halter = thread::spawn(move || ring.control.halt(HaltCause::Requested));
        halter.join().unwrap();
        assert_eq!(poller.wait().err(), Some(RingError::Halted(HaltCause::Requested)));
        drop(producer);
    });
}
