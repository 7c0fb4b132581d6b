//! Tests what a producer may claim, the result of a claim, and which error a refused claim returns.

use std::cell::Cell;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Kind, MOMENT, PATIENCE, ProducerOf, repeats};
use lapwing::Poller;
use lapwing::error::{
    BatchError, HaltCause, PollError, PublishError, TryPublishError, WhenFullError,
};
use lapwing::producer::WhenFull;

crate::common::for_both_producers! {
    miri_publish_numbers_events_from_zero_and_writes_in_place,
    miri_every_capacity_delivers_every_event_in_order,
    try_publish_fails_on_a_full_ring_and_claims_nothing,
    call_with_a_timeout_fails_on_a_full_ring_when_the_time_has_passed,
    publication_with_a_timeout_succeeds_when_a_slot_is_freed_in_time,
    batch_of_an_impossible_size_is_refused_by_every_call,
    batch_of_any_possible_size_is_published_whole,
    batch_waits_until_all_of_it_fits,
    miri_batch_across_the_wrap_shows_two_slices,
    miri_claim_is_invisible_before_it_is_published,
    claim_on_a_previously_full_ring_is_invisible_before_it_is_published,
    miri_claim_that_is_dropped_is_given_up,
    batch_that_is_dropped_is_given_up,
    claim_that_is_given_up_last_does_not_hold_a_close,
    every_call_says_closed_after_a_close,
    every_call_says_halted_after_a_halt,
    full_ring_that_is_closed_says_closed,
    closed_ring_that_is_left_before_its_end_says_halted,
    closed_ring_that_is_left_drained_says_closed,
    blocked_calls_end_when_a_slot_is_freed,
}

fn ring_with_poller<K: Kind>(capacity: usize) -> (ProducerOf<u64, K>, Poller<u64>) {
    let (producer, mut consumers) =
        K::ring(capacity, || 0).stage("poller").poller().build().unwrap();
    let poller = consumers.take_poller("poller").unwrap();
    (producer, poller)
}

/// Consumes all available events, also past the wrap.
fn drain(poller: &mut Poller<u64>) -> Vec<u64> {
    let mut events = Vec::new();
    while let Ok(mut batch) = poller.poll() {
        events.extend(batch.iter().map(|(_, event)| *event));
    }
    events
}

/// Consumes all available events, and returns only their sequences.
fn drain_sequences(poller: &mut Poller<u64>) -> Vec<u64> {
    let mut sequences = Vec::new();
    while let Ok(mut batch) = poller.poll() {
        sequences.extend(batch.iter().map(|(sequence, _)| sequence));
    }
    sequences
}

fn miri_publish_numbers_events_from_zero_and_writes_in_place<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(2);
    assert_eq!(producer.capacity(), 2);
    for sequence in 0..6 {
        let result = match sequence % 3 {
            0 => producer.publish(|event| *event += sequence).unwrap(),
            1 => producer.try_publish(|event| *event += sequence).unwrap(),
            _ => {
                let patience = WhenFull::Timeout(PATIENCE);
                producer.publish_or(patience, |event| *event += sequence).unwrap().unwrap()
            }
        };
        assert_eq!(result, sequence);
        // The slot still holds the event of the last lap when it is written again.
        let of_this_slot = (0..=sequence).rev().step_by(2).sum::<u64>();
        assert_eq!(drain(&mut poller), [of_this_slot]);
    }
}

fn miri_every_capacity_delivers_every_event_in_order<K: Kind>() {
    for capacity in [1, 2, 4, 64] {
        let events = repeats(3_000);
        let mut seen = Vec::new();
        let (mut producer, consumers) = K::ring(capacity, || u64::MAX)
            .stage("check")
            .read(|event, sequence, _| seen.push((*event, sequence)))
            .build()
            .unwrap();
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            let mut next = 0;
            while next < events {
                let count = (next as usize % capacity + 1).min((events - next) as usize);
                let range = producer.publish_batch(count, |slots| {
                    (next..).zip(slots.iter_mut()).for_each(|(number, event)| *event = number);
                });
                assert_eq!(range, Ok(next..next + count as u64));
                next += count as u64;
            }
            running.shutdown().unwrap();
        });
        assert_eq!(seen, (0..events).map(|number| (number, number)).collect::<Vec<_>>());
    }
}

fn try_publish_fails_on_a_full_ring_and_claims_nothing<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    (0..4).for_each(|number| assert_eq!(producer.try_publish(|event| *event = number), Ok(number)));
    let has_run = Cell::new(false);
    for _ in 0..10 {
        assert_eq!(producer.try_publish(|_| has_run.set(true)), Err(TryPublishError::Full));
        assert_eq!(producer.try_claim().err(), Some(TryPublishError::Full));
        assert_eq!(producer.try_publish_batch(1, |_| has_run.set(true)), Err(BatchError::Full));
        assert_eq!(producer.try_claim_batch(4).err(), Some(BatchError::Full));
    }
    assert!(!has_run.get());
    poller.poll().unwrap().consume(2);
    assert_eq!(producer.try_claim_batch(3).err(), Some(BatchError::Full));
    assert_eq!(
        producer.try_publish_batch(2, |slots| slots.iter_mut().for_each(|event| *event = 9)),
        Ok(4..6)
    );
    assert_eq!(drain(&mut poller), [2, 3, 9, 9]);
}

fn call_with_a_timeout_fails_on_a_full_ring_when_the_time_has_passed<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(1);
    assert_eq!(
        producer.publish_or(WhenFull::Timeout(Duration::ZERO), |event| *event = 1),
        Ok(Some(0))
    );
    let has_run = Cell::new(false);
    let run = |_: &mut u64| has_run.set(true);
    let begin = Instant::now();
    assert_eq!(producer.publish_or(WhenFull::Timeout(MOMENT), run), Err(WhenFullError::TimedOut));
    assert_eq!(producer.claim_or(WhenFull::Timeout(MOMENT)).err(), Some(WhenFullError::TimedOut));
    assert_eq!(
        producer.publish_batch_or(1, WhenFull::Timeout(MOMENT), |_| {}),
        Err(BatchError::TimedOut)
    );
    assert_eq!(
        producer.claim_batch_or(1, WhenFull::Timeout(MOMENT)).err(),
        Some(BatchError::TimedOut)
    );
    assert!(begin.elapsed() >= 4 * MOMENT);
    assert_eq!(
        producer.publish_or(WhenFull::Timeout(Duration::ZERO), run),
        Err(WhenFullError::TimedOut)
    );
    assert!(!has_run.get());
    assert_eq!(drain(&mut poller), [1]);
    assert_eq!(
        producer.publish_or(WhenFull::Timeout(Duration::MAX), |event| *event = 2),
        Ok(Some(1))
    );
    assert_eq!(drain(&mut poller), [2]);
}

fn publication_with_a_timeout_succeeds_when_a_slot_is_freed_in_time<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(1);
    producer.publish(|_| {}).unwrap();
    thread::scope(|scope| {
        let thread =
            scope.spawn(|| producer.publish_or(WhenFull::Timeout(PATIENCE), |event| *event = 2));
        poller.poll().unwrap().consume_all();
        assert_eq!(thread.join().unwrap(), Ok(Some(1)));
    });
    assert_eq!(drain(&mut poller), [2]);
}

fn batch_of_an_impossible_size_is_refused_by_every_call<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    producer.publish(|event| *event = 7).unwrap();
    let has_run = Cell::new(false);
    for requested in [0, 5, 8, usize::MAX / 2, usize::MAX / 2 + 1, usize::MAX - 1, usize::MAX] {
        let error = match requested {
            0 => BatchError::Zero,
            _ => BatchError::TooLarge { requested, capacity: 4 },
        };
        let (run, producer) = (|| has_run.set(true), &mut producer);
        assert_eq!(producer.publish_batch(requested, |_| run()), Err(error));
        assert_eq!(producer.try_publish_batch(requested, |_| run()), Err(error));
        assert_eq!(
            producer.publish_batch_or(requested, WhenFull::Timeout(PATIENCE), |_| run()),
            Err(error)
        );
        assert_eq!(producer.claim_batch(requested).err(), Some(error));
        assert_eq!(producer.try_claim_batch(requested).err(), Some(error));
        assert_eq!(
            producer.claim_batch_or(requested, WhenFull::Timeout(PATIENCE)).err(),
            Some(error)
        );
    }
    assert!(!has_run.get());
    assert_eq!(producer.publish(|event| *event = 8), Ok(1));
    assert_eq!(drain(&mut poller), [7, 8]);
    let text = BatchError::TooLarge { requested: 5, capacity: 4 }.to_string();
    assert!(text.ends_with("requested=5, capacity=4"), "{text}");
}

fn batch_of_any_possible_size_is_published_whole<K: Kind>() {
    for capacity in [1, 2, 4, 64] {
        let (mut producer, mut poller) = ring_with_poller::<K>(capacity);
        let mut first = 0;
        for count in [1, capacity, capacity.div_ceil(2), capacity] {
            let end = first + count as u64;
            let range = producer.try_publish_batch(count, |slots| {
                assert_eq!((slots.len(), slots.first_sequence()), (count, first));
                (first..).zip(slots.iter_mut()).for_each(|(number, event)| *event = number);
            });
            assert_eq!(range, Ok(first..end));
            assert_eq!(drain(&mut poller), (first..end).collect::<Vec<_>>());
            first = end;
        }
    }
}

fn batch_waits_until_all_of_it_fits<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    producer.publish_batch(3, |_| {}).unwrap();
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            producer.publish_batch(4, |slots| slots.iter_mut().for_each(|event| *event = 1))
        });
        for _ in 0..3 {
            assert_eq!(poller.poll().unwrap().as_slice().iter().sum::<u64>(), 0);
            assert!(!thread.is_finished());
            poller.poll().unwrap().consume(1);
        }
        assert_eq!(thread.join().unwrap(), Ok(3..7));
    });
    assert_eq!(drain(&mut poller), [1, 1, 1, 1]);
}

fn miri_batch_across_the_wrap_shows_two_slices<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    producer
        .publish_batch(3, |slots| {
            let (before_wrap, after_wrap) = slots.as_mut_slices();
            assert_eq!((before_wrap.len(), after_wrap.len()), (3, 0));
        })
        .unwrap();
    drain(&mut poller);
    let mut batch = producer.claim_batch(4).unwrap();
    assert_eq!(batch.sequences(), 3..7);
    let mut slots = batch.slots();
    let (before_wrap, after_wrap) = slots.as_mut_slices();
    before_wrap.copy_from_slice(&[3]);
    after_wrap.copy_from_slice(&[4, 5, 6]);
    assert_eq!(slots.iter_mut().map(|event| *event).collect::<Vec<_>>(), [3, 4, 5, 6]);
    assert_eq!(batch.publish(), Ok(3..7));
    assert_eq!(poller.poll().unwrap().as_slice(), [3]);
    assert_eq!(drain(&mut poller), [3, 4, 5, 6]);
}

fn miri_claim_is_invisible_before_it_is_published<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(2);
    for round in 0..3 {
        let mut claim = producer.claim().unwrap();
        *claim = round;
        assert_eq!((claim.sequence(), *claim), (round, round));
        assert_eq!(poller.poll().err(), Some(PollError::Empty));
        assert_eq!(claim.publish(), Ok(round));
        assert_eq!(drain(&mut poller), [round]);
    }
}

/// LMAX's single producer moved its cursor to the claim when it had to read the gate (issue 477).
fn claim_on_a_previously_full_ring_is_invisible_before_it_is_published<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    let mut next = 0;
    for _ in 0..10 {
        while producer.try_publish(|_| {}).is_ok() {
            next += 1;
        }
        poller.poll().unwrap().consume(1);
        let claim = producer.claim().unwrap();
        assert_eq!(claim.sequence(), next);
        assert_eq!(drain_sequences(&mut poller), [next - 3, next - 2, next - 1]);
        claim.publish().unwrap();
        assert_eq!(drain_sequences(&mut poller), [next]);
        next += 1;
    }
}

fn miri_claim_that_is_dropped_is_given_up<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(2);
    let mut expected = Vec::new();
    for round in 0..5 {
        drop(producer.claim().unwrap());
        drop(producer.try_claim().unwrap());
        assert_eq!(drain(&mut poller), []);
        let mut claim = producer.claim_or(WhenFull::Timeout(PATIENCE)).unwrap().unwrap();
        *claim = round;
        expected.push(claim.publish().unwrap());
        assert_eq!(drain(&mut poller), [round]);
    }
    // A single producer claims the same sequence again. With several, each claim has its own.
    let gap = if K::IS_MULTI { 3 } else { 1 };
    assert_eq!(expected, (0..5).map(|round| round * gap + gap - 1).collect::<Vec<_>>());
}

fn batch_that_is_dropped_is_given_up<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    for round in 0..5 {
        let mut batch = producer.claim_batch(3).unwrap();
        batch.slots().iter_mut().for_each(|event| *event = 100);
        drop(batch);
        drop(producer.try_claim_batch(1).unwrap());
        assert_eq!(drain(&mut poller), []);
        let range = producer
            .publish_batch(2, |slots| slots.iter_mut().for_each(|event| *event = round))
            .unwrap();
        let first = if K::IS_MULTI { 6 * round + 4 } else { 2 * round };
        assert_eq!(range, first..first + 2);
        assert_eq!(drain_sequences(&mut poller), [first, first + 1]);
    }
}

fn claim_that_is_given_up_last_does_not_hold_a_close<K: Kind>() {
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .stage("first")
        .read(|event, _, _| assert_eq!(*event, 1))
        .stage("second")
        .read(|event, _, _| assert_eq!(*event, 1))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    for _ in 0..20 {
        producer.publish(|event| *event = 1).unwrap();
        drop(producer.claim().unwrap());
        drop(producer.claim_batch(3).unwrap());
    }
    drop(producer);
    running.join().unwrap();
}

/// The errors of the waiting, `try_`, `_or` and batch calls.
type Refusals = ([PublishError; 2], [TryPublishError; 2], [WhenFullError; 2], [BatchError; 6]);

/// Makes every publishing call, none of which may run its closure. Returns the errors, in the order
/// of the calls.
fn refusals<K: Kind>(producer: &mut ProducerOf<u64, K>) -> Refusals {
    (
        [producer.publish(|_| unreachable!()).unwrap_err(), producer.claim().unwrap_err()],
        [producer.try_publish(|_| unreachable!()).unwrap_err(), producer.try_claim().unwrap_err()],
        [
            producer.publish_or(WhenFull::Timeout(PATIENCE), |_| unreachable!()).unwrap_err(),
            producer.claim_or(WhenFull::Timeout(PATIENCE)).unwrap_err(),
        ],
        [
            producer.publish_batch(1, |_| unreachable!()).unwrap_err(),
            producer.claim_batch(1).unwrap_err(),
            producer.try_publish_batch(1, |_| unreachable!()).unwrap_err(),
            producer.try_claim_batch(1).unwrap_err(),
            producer
                .publish_batch_or(1, WhenFull::Timeout(PATIENCE), |_| unreachable!())
                .unwrap_err(),
            producer.claim_batch_or(1, WhenFull::Timeout(PATIENCE)).unwrap_err(),
        ],
    )
}

const CLOSED: Refusals = (
    [PublishError::Closed; 2],
    [TryPublishError::Closed; 2],
    [WhenFullError::Closed; 2],
    [BatchError::Closed; 6],
);

const HALTED: Refusals = (
    [PublishError::Halted(HaltCause::NoConsumers); 2],
    [TryPublishError::Halted(HaltCause::NoConsumers); 2],
    [WhenFullError::Halted(HaltCause::NoConsumers); 2],
    [BatchError::Halted(HaltCause::NoConsumers); 6],
);

fn every_call_says_closed_after_a_close<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    producer.publish(|event| *event = 1).unwrap();
    producer.close();
    producer.close();
    assert!(refusals::<K>(&mut producer) == CLOSED);
    assert_eq!(drain(&mut poller), [1]);
    assert_eq!(poller.poll().err(), Some(PollError::Closed));
}

fn every_call_says_halted_after_a_halt<K: Kind>() {
    let (mut producer, poller) = ring_with_poller::<K>(4);
    drop(poller);
    assert!(refusals::<K>(&mut producer) == HALTED);
}

fn full_ring_that_is_closed_says_closed<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(1);
    producer.publish(|event| *event = 1).unwrap();
    producer.close();
    assert!(refusals::<K>(&mut producer) == CLOSED);
    assert_eq!(drain(&mut poller), [1]);
}

fn closed_ring_that_is_left_before_its_end_says_halted<K: Kind>() {
    let (mut producer, poller) = ring_with_poller::<K>(1);
    producer.publish(|event| *event = 1).unwrap();
    producer.close();
    drop(poller);
    assert!(refusals::<K>(&mut producer) == HALTED);
}

fn closed_ring_that_is_left_drained_says_closed<K: Kind>() {
    for events in [0, 1] {
        let (mut producer, mut poller) = ring_with_poller::<K>(2);
        (0..events).for_each(|_| _ = producer.publish(|_| {}).unwrap());
        producer.close();
        assert_eq!(drain(&mut poller).len(), events);
        drop(poller);
        assert!(refusals::<K>(&mut producer) == CLOSED);
    }
}

fn blocked_calls_end_when_a_slot_is_freed<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(1);
    producer.publish(|_| {}).unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            producer.publish(|event| *event = 1).unwrap();
            producer.claim().unwrap().publish().unwrap();
            producer.claim_batch(1).unwrap().publish().unwrap();
            producer.publish_batch(1, |_| {}).unwrap();
        });
        let mut count = 0;
        while let Ok(mut batch) = poller.wait() {
            count += batch.len();
            batch.consume_all();
        }
        assert_eq!(count, 5);
    });
}
