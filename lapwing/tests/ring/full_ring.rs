//! Tests what each policy does with an event if the ring is full, and that the count of
//! dropped events is exact.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::common::{
    Kind, MOMENT, ON_PURPOSE, PATIENCE, ProducerOf, quiet_panics, repeats, watched,
};
use lapwing::error::{BatchError, HaltCause, TryPublishError, WhenFullError};
use lapwing::producer::WhenFull;
use lapwing::wait::Blocking;
use lapwing::{Disruptor, Poller};

crate::common::for_both_producers! {
    miri_event_is_published_by_every_policy_if_a_slot_is_free,
    call_that_waits_loses_nothing,
    call_with_a_timeout_gives_up_in_time,
    call_with_a_timeout_succeeds_when_a_slot_is_freed_in_time,
    call_that_refuses_says_full_at_once,
    miri_call_that_drops_keeps_what_is_in_the_ring_and_counts,
    policy_holds_for_its_own_call_and_for_no_other,
    batch_is_published_whole_or_not_at_all,
    claim_of_every_policy_is_granted_if_a_slot_is_free,
    miri_claim_of_each_policy_on_a_full_ring,
    batch_of_an_impossible_size_is_an_error_and_not_dropped,
    closed_ring_is_an_error_by_every_policy,
    halted_ring_is_an_error_by_every_policy,
    call_that_waits_ends_with_the_ring,
    parked_producer_goes_on_with_one_slot_if_no_more_are_freed,
    handler_may_call_by_a_policy_on_its_own_full_ring,
    panic_of_a_fill_closure_is_not_a_dropped_event,
}

const POLICIES: [WhenFull; 4] =
    [WhenFull::Wait, WhenFull::Timeout(MOMENT), WhenFull::Refuse, WhenFull::DropNew];

fn ring_with_poller<K: Kind>(capacity: usize) -> (ProducerOf<u64, K>, Poller<u64>) {
    let (producer, mut consumers) =
        K::ring(capacity, || 0).stage("poller").poller().build().unwrap();
    (producer, consumers.take_poller("poller").unwrap())
}

/// Consumes all available events, also past the wrap.
fn drain(poller: &mut Poller<u64>) -> Vec<u64> {
    let mut events = Vec::new();
    while let Ok(mut batch) = poller.poll() {
        events.extend(batch.iter().map(|(_, event)| *event));
    }
    events
}

fn miri_event_is_published_by_every_policy_if_a_slot_is_free<K: Kind>() {
    for when_full in POLICIES {
        let (mut producer, mut poller) = ring_with_poller::<K>(4);
        for round in 0..3 {
            let first = 4 * round;
            assert_eq!(producer.publish_or(when_full, |event| *event = 1), Ok(Some(first)));
            let fill = |slots: &mut lapwing::producer::Slots<'_, u64>| {
                slots.iter_mut().for_each(|event| *event = 2);
            };
            assert_eq!(
                producer.publish_batch_or(3, when_full, fill),
                Ok(Some(first + 1..first + 4))
            );
            assert_eq!(drain(&mut poller), [1, 2, 2, 2]);
        }
        assert_eq!(producer.dropped(), 0);
    }
}

fn call_that_waits_loses_nothing<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(2);
    let events = repeats(5_000);
    thread::scope(|scope| {
        scope.spawn(move || {
            for number in (0..events).step_by(3) {
                assert_eq!(
                    producer.publish_or(WhenFull::Wait, |event| *event = number),
                    Ok(Some(number))
                );
                let range = number + 1..number + 3;
                let fill = |slots: &mut lapwing::producer::Slots<'_, u64>| {
                    slots.iter_mut().zip(range.clone()).for_each(|(event, number)| *event = number);
                };
                assert_eq!(
                    producer.publish_batch_or(2, WhenFull::Wait, fill),
                    Ok(Some(range.clone()))
                );
            }
            assert_eq!(producer.dropped(), 0);
        });
        let mut next = 0;
        while let Ok(mut batch) = poller.wait() {
            batch.iter().for_each(|(_, event)| {
                assert_eq!(*event, next);
                next += 1;
            });
        }
        assert_eq!(next, events.next_multiple_of(3));
    });
}

fn call_with_a_timeout_gives_up_in_time<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(1);
    let patience = WhenFull::Timeout(MOMENT);
    producer.publish_or(patience, |event| *event = 1).unwrap();
    let begin = std::time::Instant::now();
    assert_eq!(producer.publish_or(patience, |_| unreachable!()), Err(WhenFullError::TimedOut));
    assert_eq!(
        producer.publish_batch_or(1, patience, |_| unreachable!()),
        Err(BatchError::TimedOut)
    );
    assert!(begin.elapsed() >= 2 * MOMENT);
    let none = WhenFull::Timeout(Duration::ZERO);
    assert_eq!(producer.publish_or(none, |_| unreachable!()), Err(WhenFullError::TimedOut));
    assert_eq!(producer.dropped(), 0, "an error is not a dropped event");
    assert_eq!(drain(&mut poller), [1]);
}

fn call_with_a_timeout_succeeds_when_a_slot_is_freed_in_time<K: Kind>() {
    for patience in [PATIENCE, Duration::MAX] {
        let (mut producer, mut poller) = ring_with_poller::<K>(1);
        producer.publish_or(WhenFull::Timeout(patience), |_| {}).unwrap();
        thread::scope(|scope| {
            let thread = scope
                .spawn(|| producer.publish_or(WhenFull::Timeout(patience), |event| *event = 2));
            poller.poll().unwrap().consume_all();
            assert_eq!(thread.join().unwrap(), Ok(Some(1)));
        });
        assert_eq!(drain(&mut poller), [2]);
    }
}

fn call_that_refuses_says_full_at_once<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(2);
    producer.publish_or(WhenFull::Refuse, |event| *event = 1).unwrap();
    assert_eq!(
        producer.publish_batch_or(2, WhenFull::Refuse, |_| unreachable!()),
        Err(BatchError::Full)
    );
    producer.publish_or(WhenFull::Refuse, |event| *event = 2).unwrap();
    assert_eq!(producer.publish_or(WhenFull::Refuse, |_| unreachable!()), Err(WhenFullError::Full));
    assert_eq!(producer.dropped(), 0);
    assert_eq!(drain(&mut poller), [1, 2]);
    assert_eq!(producer.publish_or(WhenFull::Refuse, |event| *event = 3), Ok(Some(2)));
}

fn miri_call_that_drops_keeps_what_is_in_the_ring_and_counts<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(2);
    for number in 0..5 {
        let sequence = producer.publish_or(WhenFull::DropNew, |event| *event = number).unwrap();
        assert_eq!(sequence, (number < 2).then_some(number));
    }
    assert_eq!(producer.dropped(), 3);
    poller.poll().unwrap().consume(1);
    assert_eq!(producer.publish_or(WhenFull::DropNew, |event| *event = 5), Ok(Some(2)));
    assert_eq!(producer.publish_or(WhenFull::DropNew, |_| unreachable!()), Ok(None));
    assert_eq!(drain(&mut poller), [1, 5]);
    assert_eq!(producer.dropped(), 4);
    // The count survives a change of the policy.
    producer.publish_batch_or(2, WhenFull::Refuse, |_| {}).unwrap();
    assert_eq!(producer.publish_or(WhenFull::Refuse, |_| unreachable!()), Err(WhenFullError::Full));
    assert_eq!(producer.dropped(), 4);
}

/// A policy such as `DropNew` belongs to one call, not to the producer: other calls
/// wait.
fn policy_holds_for_its_own_call_and_for_no_other<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(1);
    assert_eq!(producer.publish_or(WhenFull::DropNew, |event| *event = 1), Ok(Some(0)));
    assert_eq!(producer.publish_or(WhenFull::DropNew, |_| unreachable!()), Ok(None));
    assert_eq!(producer.try_publish(|_| unreachable!()), Err(TryPublishError::Full));
    let late = producer.publish_or(WhenFull::Timeout(MOMENT), |_| unreachable!());
    assert_eq!(late, Err(WhenFullError::TimedOut));
    assert_eq!(producer.publish_or(WhenFull::Refuse, |_| unreachable!()), Err(WhenFullError::Full));
    thread::scope(|scope| {
        let thread = scope.spawn(|| producer.publish(|event| *event = 2));
        poller.poll().unwrap().consume_all();
        assert_eq!(thread.join().unwrap(), Ok(1)); // it waits, whatever the earlier policies
    });
    assert_eq!(producer.dropped(), 1);
    assert_eq!(drain(&mut poller), [2]);
}

fn batch_is_published_whole_or_not_at_all<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    assert_eq!(producer.publish_batch_or(3, WhenFull::DropNew, |_| {}), Ok(Some(0..3)));
    assert_eq!(producer.publish_batch_or(2, WhenFull::DropNew, |_| unreachable!()), Ok(None));
    assert_eq!(producer.publish_batch_or(4, WhenFull::DropNew, |_| unreachable!()), Ok(None));
    assert_eq!(producer.dropped(), 6);
    assert_eq!(producer.publish_batch_or(1, WhenFull::DropNew, |_| {}), Ok(Some(3..4)));
    assert_eq!(drain(&mut poller).len(), 4);
}

fn claim_of_every_policy_is_granted_if_a_slot_is_free<K: Kind>() {
    for when_full in POLICIES {
        let (mut producer, mut poller) = ring_with_poller::<K>(4);
        let mut claim = producer.claim_or(when_full).unwrap().unwrap();
        *claim = 1;
        assert_eq!(claim.publish(), Ok(0));
        let mut batch = producer.claim_batch_or(2, when_full).unwrap().unwrap();
        batch.slots().copy_from_slice(&[2, 3]).unwrap();
        assert_eq!(batch.publish(), Ok(1..3));
        let mut batch = producer.claim_up_to_or(2, when_full).unwrap().unwrap();
        batch.slots().copy_from_slice(&[4]).unwrap();
        assert_eq!(batch.publish(), Ok(3..4));
        assert_eq!(producer.dropped(), 0);
        assert_eq!(drain(&mut poller), [1, 2, 3, 4]);
    }
}

fn miri_claim_of_each_policy_on_a_full_ring<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    producer.publish_batch(4, |_| {}).unwrap();
    let timeout = WhenFull::Timeout(MOMENT);
    assert_eq!(producer.claim_or(timeout).err(), Some(WhenFullError::TimedOut));
    assert_eq!(producer.claim_batch_or(2, timeout).err(), Some(BatchError::TimedOut));
    assert_eq!(producer.claim_up_to_or(2, timeout).err(), Some(BatchError::TimedOut));
    assert_eq!(producer.claim_or(WhenFull::Refuse).err(), Some(WhenFullError::Full));
    assert_eq!(producer.claim_batch_or(2, WhenFull::Refuse).err(), Some(BatchError::Full));
    assert_eq!(producer.claim_up_to_or(2, WhenFull::Refuse).err(), Some(BatchError::Full));
    assert_eq!(producer.dropped(), 0, "an error is not a dropped event");
    assert!(producer.claim_or(WhenFull::DropNew).unwrap().is_none());
    assert_eq!(producer.dropped(), 1);
    assert!(producer.claim_batch_or(2, WhenFull::DropNew).unwrap().is_none());
    assert_eq!(producer.dropped(), 3);
    assert!(producer.claim_up_to_or(3, WhenFull::DropNew).unwrap().is_none());
    assert_eq!(producer.dropped(), 6);
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let claim = producer.claim_or(WhenFull::Wait).unwrap().unwrap();
            claim.publish().unwrap()
        });
        assert_eq!(drain(&mut poller).len(), 4);
        assert_eq!(thread.join().unwrap(), 4);
    });
}

fn batch_of_an_impossible_size_is_an_error_and_not_dropped<K: Kind>() {
    for when_full in POLICIES {
        let (mut producer, _poller) = ring_with_poller::<K>(4);
        producer.publish_batch_or(4, when_full, |_| {}).unwrap();
        for requested in [0, 5, usize::MAX] {
            let error = match requested {
                0 => BatchError::Zero,
                _ => BatchError::TooLarge { requested, capacity: 4 },
            };
            assert_eq!(
                producer.publish_batch_or(requested, when_full, |_| unreachable!()),
                Err(error)
            );
            assert_eq!(producer.claim_batch_or(requested, when_full).err(), Some(error));
        }
        assert_eq!(producer.dropped(), 0);
    }
}

/// Publishes by every policy to a ring that has ended, full or not.
fn assert_refused<K: Kind>(stop: impl Fn(&ProducerOf<u64, K>, Poller<u64>), error: WhenFullError) {
    for (when_full, events) in POLICIES.into_iter().flat_map(|policy| [(policy, 0), (policy, 2)]) {
        let (mut producer, poller) = ring_with_poller::<K>(2);
        (0..events).for_each(|_| _ = producer.publish_or(when_full, |_| {}).unwrap());
        stop(&producer, poller);
        assert_eq!(producer.publish_or(when_full, |_| unreachable!()), Err(error));
        assert_eq!(producer.publish_batch_or(1, when_full, |_| unreachable!()), Err(error.into()));
        assert_eq!(producer.dropped(), 0, "refused, not dropped");
    }
}

fn closed_ring_is_an_error_by_every_policy<K: Kind>() {
    let close = |producer: &ProducerOf<u64, K>, poller| {
        producer.close();
        crate::common::forget(poller); // otherwise the last consumer leaves, which halts the ring
    };
    assert_refused::<K>(close, WhenFullError::Closed);
}

fn halted_ring_is_an_error_by_every_policy<K: Kind>() {
    assert_refused::<K>(|_, poller| drop(poller), WhenFullError::Halted(HaltCause::NoConsumers));
}

fn call_that_waits_ends_with_the_ring<K: Kind>() {
    for when_full in [WhenFull::Wait, WhenFull::Timeout(PATIENCE)] {
        let (mut producer, poller) = ring_with_poller::<K>(1);
        producer.publish_or(when_full, |_| {}).unwrap();
        thread::scope(|scope| {
            let thread = scope.spawn(|| producer.publish_or(when_full, |_| unreachable!()));
            drop(poller);
            assert_eq!(thread.join().unwrap(), Err(WhenFullError::Halted(HaltCause::NoConsumers)));
        });
    }
}

/// The producer first parks until a quarter of the ring is free, which here never happens.
fn parked_producer_goes_on_with_one_slot_if_no_more_are_freed<K: Kind>() {
    for _ in 0..5 {
        let ring = K::ring(8, || 0_u64).producer_wait(Blocking { yields: 0 });
        let (mut producer, mut consumers) = ring.stage("poller").poller().build().unwrap();
        let mut poller = consumers.take_poller("poller").unwrap();
        (0..8).for_each(|_| _ = producer.publish(|_| {}).unwrap());
        thread::scope(|scope| {
            let publisher = scope.spawn(|| producer.publish(|_| {}));
            thread::sleep(MOMENT); // it parks
            poller.poll_max(1).unwrap().consume_all();
            assert_eq!(publisher.join().unwrap(), Ok(8));
        });
    }
}

fn handler_may_call_by_a_policy_on_its_own_full_ring<K: Kind>() {
    let (hand_over, producers) = mpsc::channel::<ProducerOf<u64, K>>();
    let publish = move |_: &u64, sequence, _| {
        let Ok(mut producer) = producers.try_recv() else { return };
        assert_eq!(sequence, 0);
        for when_full in [WhenFull::Wait, WhenFull::Timeout(PATIENCE)] {
            let refused = producer.publish_or(when_full, |_| unreachable!());
            assert_eq!(refused, Err(WhenFullError::WouldDeadlock));
            let refused = producer.publish_batch_or(1, when_full, |_| unreachable!());
            assert_eq!(refused, Err(BatchError::WouldDeadlock));
        }
        assert_eq!(
            producer.publish_or(WhenFull::Refuse, |_| unreachable!()),
            Err(WhenFullError::Full)
        );
        assert_eq!(producer.publish_or(WhenFull::DropNew, |_| unreachable!()), Ok(None));
        assert_eq!(producer.dropped(), 1);
    };
    let (mut producer, consumers) =
        K::ring(2, || 0_u64).stage("all").read(publish).build().unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    hand_over.send(producer).unwrap();
    let report = consumers.start().unwrap().join().unwrap();
    assert_eq!(report.stages().next().unwrap().processed(), 2);
}

fn panic_of_a_fill_closure_is_not_a_dropped_event<K: Kind>() {
    quiet_panics();
    let (mut producer, mut poller) = ring_with_poller::<K>(2);
    let publish = || producer.publish_or(WhenFull::DropNew, |_| panic!("{ON_PURPOSE}"));
    assert!(catch_unwind(AssertUnwindSafe(publish)).is_err());
    let publish = || producer.publish_batch_or(1, WhenFull::DropNew, |_| panic!("{ON_PURPOSE}"));
    assert!(catch_unwind(AssertUnwindSafe(publish)).is_err());
    drain(&mut poller); // past the claims that were given up
    assert!(producer.publish_or(WhenFull::DropNew, |event| *event = 1).unwrap().is_some());
    assert_eq!((producer.dropped(), drain(&mut poller)), (0, vec![1]));
}

#[test]
fn clone_counts_its_own_dropped_events() {
    let (mut first, mut consumers) =
        Disruptor::multi_producer(1, || 0_u64).stage("poller").poller().build().unwrap();
    let _poller = consumers.take_poller("poller").unwrap();
    first.publish_batch_or(1, WhenFull::DropNew, |_| {}).unwrap();
    first.publish_or(WhenFull::DropNew, |_| unreachable!()).unwrap();
    let mut second = first.clone();
    assert_eq!(second.dropped(), 0);
    second.publish_or(WhenFull::DropNew, |_| unreachable!()).unwrap();
    second.publish_or(WhenFull::DropNew, |_| unreachable!()).unwrap();
    assert_eq!((first.dropped(), second.dropped()), (1, 2));
}

/// Every event is either received or counted as dropped, by the producer that made it.
/// The events of each producer arrive in order.
fn every_event_is_received_or_counted<K: Kind>(
    producers: Vec<ProducerOf<(usize, u64), K>>,
    poller: Poller<(usize, u64)>,
) {
    let events = repeats(30_000);
    let (count, mut poller) = (producers.len(), poller);
    let mut received = vec![0_u64; count];
    thread::scope(|scope| {
        let publish = |(id, mut producer): (usize, ProducerOf<(usize, u64), K>)| {
            scope.spawn(move || {
                let accepted = (0..events).filter(|&number| {
                    let sequence = producer
                        .publish_or(WhenFull::DropNew, |event| *event = (id, number))
                        .unwrap();
                    sequence.is_some()
                });
                (accepted.count() as u64, producer.dropped())
            })
        };
        let threads: Vec<_> = producers.into_iter().enumerate().map(publish).collect();
        let mut last = vec![None; count];
        while let Ok(mut batch) = poller.wait() {
            for (_, &(id, number)) in batch.iter() {
                assert!(last[id] < Some(number));
                last[id] = Some(number);
                received[id] += 1;
            }
        }
        for (id, thread) in threads.into_iter().enumerate() {
            let (accepted, dropped) = thread.join().unwrap();
            assert_eq!((accepted, accepted + dropped), (received[id], events), "of producer {id}");
        }
    });
}

#[test]
fn miri_every_event_of_one_producer_is_received_or_counted() {
    watched(|| {
        let (producer, mut consumers) =
            Disruptor::single_producer(8, || (0, 0)).stage("all").poller().build().unwrap();
        let poller = consumers.take_poller("all").unwrap();
        every_event_is_received_or_counted::<crate::common::One>(vec![producer], poller);
    });
}

#[test]
fn miri_every_event_of_several_producers_is_received_or_counted() {
    watched(|| {
        let (producer, mut consumers) =
            Disruptor::multi_producer(8, || (0, 0)).stage("all").poller().build().unwrap();
        let poller = consumers.take_poller("all").unwrap();
        let producers = vec![producer.clone(), producer.clone(), producer];
        every_event_is_received_or_counted::<crate::common::Many>(producers, poller);
    });
}
