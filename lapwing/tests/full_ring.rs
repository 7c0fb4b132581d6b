//! Decides what becomes of an event that is offered to a full ring, by each policy, and that the count of dropped ones
//! is exact.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use common::{Kind, MOMENT, ON_PURPOSE, PATIENCE, ProducerOf, quiet_panics, repeats, watched};
use lapwing::{BatchError, Disruptor, HaltCause, OfferError, Poller, WhenFull};

common::for_both_producers! {
    miri_offer_publishes_where_there_is_room_by_every_policy,
    offer_waits_by_default,
    offer_with_a_timeout_gives_up_in_time,
    offer_with_a_timeout_succeeds_when_a_slot_is_freed_in_time,
    offer_that_refuses_says_full_at_once,
    miri_offer_that_drops_keeps_what_is_in_the_ring_and_counts,
    batch_is_offered_whole_or_not_at_all,
    batch_of_an_impossible_size_is_an_error_and_not_dropped,
    closed_ring_is_an_error_by_every_policy,
    halted_ring_is_an_error_by_every_policy,
    offer_that_waits_ends_with_the_ring,
    handler_may_offer_to_its_own_full_ring,
    panic_of_a_fill_closure_is_not_a_dropped_event,
}

const POLICIES: [WhenFull; 4] =
    [WhenFull::Wait, WhenFull::Timeout(MOMENT), WhenFull::Refuse, WhenFull::DropNew];

fn ring_with_poller<K: Kind>(
    capacity: usize,
    when_full: WhenFull,
) -> (ProducerOf<u64, K>, Poller<u64>) {
    let (mut producer, mut consumers) =
        K::ring(capacity, || 0).then_poller("poller").build().unwrap();
    assert_eq!(producer.when_full(), WhenFull::Wait);
    producer.set_when_full(when_full);
    assert_eq!(producer.when_full(), when_full);
    (producer, consumers.take_poller("poller").unwrap())
}

/// Consumes all that is there, past the wrap.
fn drain(poller: &mut Poller<u64>) -> Vec<u64> {
    let mut events = Vec::new();
    while let Ok(mut batch) = poller.poll() {
        events.extend(batch.iter().map(|(_, event)| *event));
    }
    events
}

fn miri_offer_publishes_where_there_is_room_by_every_policy<K: Kind>() {
    for when_full in POLICIES {
        let (mut producer, mut poller) = ring_with_poller::<K>(4, when_full);
        for round in 0..3 {
            let first = 4 * round;
            assert_eq!(producer.offer(|event| *event = 1), Ok(Some(first)));
            let fill = |slots: &mut lapwing::Slots<'_, u64>| {
                slots.iter_mut().for_each(|event| *event = 2);
            };
            assert_eq!(producer.offer_batch(3, fill), Ok(Some(first + 1..first + 4)));
            assert_eq!(drain(&mut poller), [1, 2, 2, 2]);
        }
        assert_eq!(producer.dropped(), 0);
    }
}

fn offer_waits_by_default<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(2, WhenFull::default());
    let events = repeats(5_000);
    thread::scope(|scope| {
        scope.spawn(move || {
            for number in (0..events).step_by(3) {
                assert_eq!(producer.offer(|event| *event = number), Ok(Some(number)));
                let range = number + 1..number + 3;
                let fill = |slots: &mut lapwing::Slots<'_, u64>| {
                    slots.iter_mut().zip(range.clone()).for_each(|(event, number)| *event = number);
                };
                assert_eq!(producer.offer_batch(2, fill), Ok(Some(range.clone())));
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

fn offer_with_a_timeout_gives_up_in_time<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(1, WhenFull::Timeout(MOMENT));
    producer.offer(|event| *event = 1).unwrap();
    let begin = std::time::Instant::now();
    assert_eq!(producer.offer(|_| unreachable!()), Err(OfferError::TimedOut));
    assert_eq!(producer.offer_batch(1, |_| unreachable!()), Err(BatchError::TimedOut));
    assert!(begin.elapsed() >= 2 * MOMENT);
    producer.set_when_full(WhenFull::Timeout(Duration::ZERO));
    assert_eq!(producer.offer(|_| unreachable!()), Err(OfferError::TimedOut));
    assert_eq!(producer.dropped(), 0, "an error is not a dropped event");
    assert_eq!(drain(&mut poller), [1]);
}

fn offer_with_a_timeout_succeeds_when_a_slot_is_freed_in_time<K: Kind>() {
    for patience in [PATIENCE, Duration::MAX] {
        let (mut producer, mut poller) = ring_with_poller::<K>(1, WhenFull::Timeout(patience));
        producer.offer(|_| {}).unwrap();
        thread::scope(|scope| {
            let thread = scope.spawn(|| producer.offer(|event| *event = 2));
            poller.poll().unwrap().consume_all();
            assert_eq!(thread.join().unwrap(), Ok(Some(1)));
        });
        assert_eq!(drain(&mut poller), [2]);
    }
}

fn offer_that_refuses_says_full_at_once<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(2, WhenFull::Refuse);
    producer.offer(|event| *event = 1).unwrap();
    assert_eq!(producer.offer_batch(2, |_| unreachable!()), Err(BatchError::Full));
    producer.offer(|event| *event = 2).unwrap();
    assert_eq!(producer.offer(|_| unreachable!()), Err(OfferError::Full));
    assert_eq!(producer.dropped(), 0);
    assert_eq!(drain(&mut poller), [1, 2]);
    assert_eq!(producer.offer(|event| *event = 3), Ok(Some(2)));
}

fn miri_offer_that_drops_keeps_what_is_in_the_ring_and_counts<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(2, WhenFull::DropNew);
    for number in 0..5 {
        let sequence = producer.offer(|event| *event = number).unwrap();
        assert_eq!(sequence, (number < 2).then_some(number));
    }
    assert_eq!(producer.dropped(), 3);
    poller.poll().unwrap().consume(1);
    assert_eq!(producer.offer(|event| *event = 5), Ok(Some(2)));
    assert_eq!(producer.offer(|_| unreachable!()), Ok(None));
    assert_eq!(drain(&mut poller), [1, 5]);
    assert_eq!(producer.dropped(), 4);
    // The count survives another choice.
    producer.set_when_full(WhenFull::Refuse);
    producer.offer_batch(2, |_| {}).unwrap();
    assert_eq!(producer.offer(|_| unreachable!()), Err(OfferError::Full));
    assert_eq!(producer.dropped(), 4);
}

fn batch_is_offered_whole_or_not_at_all<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4, WhenFull::DropNew);
    assert_eq!(producer.offer_batch(3, |_| {}), Ok(Some(0..3)));
    assert_eq!(producer.offer_batch(2, |_| unreachable!()), Ok(None));
    assert_eq!(producer.offer_batch(4, |_| unreachable!()), Ok(None));
    assert_eq!(producer.dropped(), 6);
    assert_eq!(producer.offer_batch(1, |_| {}), Ok(Some(3..4)));
    assert_eq!(drain(&mut poller).len(), 4);
}

fn batch_of_an_impossible_size_is_an_error_and_not_dropped<K: Kind>() {
    for when_full in POLICIES {
        let (mut producer, _poller) = ring_with_poller::<K>(4, when_full);
        producer.offer_batch(4, |_| {}).unwrap();
        for requested in [0, 5, usize::MAX] {
            let error = match requested {
                0 => BatchError::Zero,
                _ => BatchError::TooLarge { requested, capacity: 4 },
            };
            assert_eq!(producer.offer_batch(requested, |_| unreachable!()), Err(error));
        }
        assert_eq!(producer.dropped(), 0);
    }
}

/// Offers to a ring that takes nothing any more, full or not, by every policy.
fn assert_refused<K: Kind>(stop: impl Fn(&ProducerOf<u64, K>, Poller<u64>), error: OfferError) {
    for (when_full, events) in POLICIES.into_iter().flat_map(|policy| [(policy, 0), (policy, 2)]) {
        let (mut producer, poller) = ring_with_poller::<K>(2, when_full);
        (0..events).for_each(|_| _ = producer.offer(|_| {}).unwrap());
        stop(&producer, poller);
        assert_eq!(producer.offer(|_| unreachable!()), Err(error));
        assert_eq!(producer.offer_batch(1, |_| unreachable!()), Err(error.into()));
        assert_eq!(producer.dropped(), 0, "refused, not dropped");
    }
}

fn closed_ring_is_an_error_by_every_policy<K: Kind>() {
    let close = |producer: &ProducerOf<u64, K>, poller| {
        producer.close();
        std::mem::forget(poller); // else nobody would be left, which halts
    };
    assert_refused::<K>(close, OfferError::Closed);
}

fn halted_ring_is_an_error_by_every_policy<K: Kind>() {
    assert_refused::<K>(|_, poller| drop(poller), OfferError::Halted(HaltCause::NoConsumers));
}

fn offer_that_waits_ends_with_the_ring<K: Kind>() {
    for when_full in [WhenFull::Wait, WhenFull::Timeout(PATIENCE)] {
        let (mut producer, poller) = ring_with_poller::<K>(1, when_full);
        producer.offer(|_| {}).unwrap();
        thread::scope(|scope| {
            let thread = scope.spawn(|| producer.offer(|_| unreachable!()));
            drop(poller);
            assert_eq!(thread.join().unwrap(), Err(OfferError::Halted(HaltCause::NoConsumers)));
        });
    }
}

fn handler_may_offer_to_its_own_full_ring<K: Kind>() {
    let (hand_over, producers) = mpsc::channel::<ProducerOf<u64, K>>();
    let offer = move |_: &u64, sequence, _| {
        let Ok(mut producer) = producers.try_recv() else { return };
        assert_eq!(sequence, 0);
        for when_full in [WhenFull::Wait, WhenFull::Timeout(PATIENCE)] {
            producer.set_when_full(when_full);
            let refused = producer.offer(|_| unreachable!());
            assert_eq!(refused, Err(OfferError::WouldDeadlock));
            let refused = producer.offer_batch(1, |_| unreachable!());
            assert_eq!(refused, Err(BatchError::WouldDeadlock));
        }
        producer.set_when_full(WhenFull::Refuse);
        assert_eq!(producer.offer(|_| unreachable!()), Err(OfferError::Full));
        producer.set_when_full(WhenFull::DropNew);
        assert_eq!(producer.offer(|_| unreachable!()), Ok(None));
        assert_eq!(producer.dropped(), 1);
    };
    let (mut producer, consumers) = K::ring(2, || 0_u64).then("all", offer).build().unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    hand_over.send(producer).unwrap();
    let report = consumers.start().unwrap().join().unwrap();
    assert_eq!(report.stages().next().unwrap().processed(), 2);
}

fn panic_of_a_fill_closure_is_not_a_dropped_event<K: Kind>() {
    quiet_panics();
    let (mut producer, mut poller) = ring_with_poller::<K>(2, WhenFull::DropNew);
    let offer = || producer.offer(|_| panic!("{ON_PURPOSE}"));
    assert!(catch_unwind(AssertUnwindSafe(offer)).is_err());
    let offer = || producer.offer_batch(1, |_| panic!("{ON_PURPOSE}"));
    assert!(catch_unwind(AssertUnwindSafe(offer)).is_err());
    drain(&mut poller); // past what was given up
    assert!(producer.offer(|event| *event = 1).unwrap().is_some());
    assert_eq!((producer.dropped(), drain(&mut poller)), (0, vec![1]));
}

#[test]
fn clone_has_the_policy_and_counts_its_own() {
    let (mut first, mut consumers) =
        Disruptor::multi_producer(1, || 0_u64).then_poller("poller").build().unwrap();
    let _poller = consumers.take_poller("poller").unwrap();
    let mut waits = first.clone();
    first.set_when_full(WhenFull::DropNew);
    first.offer_batch(1, |_| {}).unwrap();
    first.offer(|_| unreachable!()).unwrap();
    let mut second = first.clone();
    assert_eq!((second.when_full(), second.dropped()), (WhenFull::DropNew, 0));
    second.offer(|_| unreachable!()).unwrap();
    second.offer(|_| unreachable!()).unwrap();
    assert_eq!((first.dropped(), second.dropped(), waits.dropped()), (1, 2, 0));
    waits.set_when_full(WhenFull::Timeout(Duration::ZERO));
    assert_eq!(waits.offer(|_| unreachable!()), Err(OfferError::TimedOut));
    assert_eq!(first.when_full(), WhenFull::DropNew);
}

/// Every event that was offered is either received or counted, by whoever offered it; and those of one producer arrive
/// in its order.
fn every_offer_is_received_or_counted<K: Kind>(
    producers: Vec<ProducerOf<(usize, u64), K>>,
    poller: Poller<(usize, u64)>,
) {
    let offers = repeats(30_000);
    let (count, mut poller) = (producers.len(), poller);
    let mut received = vec![0_u64; count];
    thread::scope(|scope| {
        let offer = |(id, mut producer): (usize, ProducerOf<(usize, u64), K>)| {
            scope.spawn(move || {
                producer.set_when_full(WhenFull::DropNew);
                let accepted = (0..offers).filter(|&number| {
                    let sequence = producer.offer(|event| *event = (id, number)).unwrap();
                    sequence.is_some()
                });
                (accepted.count() as u64, producer.dropped())
            })
        };
        let threads: Vec<_> = producers.into_iter().enumerate().map(offer).collect();
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
            assert_eq!((accepted, accepted + dropped), (received[id], offers), "of producer {id}");
        }
    });
}

#[test]
fn miri_every_offer_of_one_producer_is_received_or_counted() {
    watched(|| {
        let (producer, mut consumers) =
            Disruptor::single_producer(8, || (0, 0)).then_poller("all").build().unwrap();
        let poller = consumers.take_poller("all").unwrap();
        every_offer_is_received_or_counted::<common::One>(vec![producer], poller);
    });
}

#[test]
fn miri_every_offer_of_several_producers_is_received_or_counted() {
    watched(|| {
        let (producer, mut consumers) =
            Disruptor::multi_producer(8, || (0, 0)).then_poller("all").build().unwrap();
        let poller = consumers.take_poller("all").unwrap();
        let producers = vec![producer.clone(), producer.clone(), producer];
        every_offer_is_received_or_counted::<common::Many>(producers, poller);
    });
}
