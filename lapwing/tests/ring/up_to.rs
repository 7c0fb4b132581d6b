//! Tests how many slots `claim_up_to` claims, how many slots are free, and how slices are copied
//! into them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use crate::common::{Kind, Lcg, MOMENT, PATIENCE, ProducerOf, repeats, watched};
use lapwing::error::{BatchError, HaltCause};
use lapwing::graph::StartAt;
use lapwing::producer::{ClaimBatch, Sequencer, WhenFull};
use lapwing::{Disruptor, Poller};

crate::common::for_both_producers! {
    miri_claim_up_to_takes_what_is_free_and_no_more,
    claim_up_to_of_any_size_is_cut_to_the_ring,
    claim_up_to_of_no_slot_is_refused_by_every_call,
    claim_up_to_that_drops_counts_what_it_could_have_claimed,
    claim_up_to_waits_for_the_first_free_slot,
    claim_up_to_returns_the_reason_of_a_refusal,
    claim_up_to_that_is_dropped_is_given_up,
    claim_up_to_in_a_handler_of_a_full_ring_gets_an_error,
    list_that_is_longer_than_the_ring_goes_through_it,
    free_slots_equal_what_a_claim_would_get,
    free_slots_are_zero_when_no_consumer_is_left,
    free_slots_shrink_when_a_consumer_takes_a_seat_further_back,
    miri_slice_is_copied_across_the_wrap,
    slice_of_another_length_is_not_copied,
    slice_is_cloned_across_the_wrap,
}

fn ring_with_poller<K: Kind>(capacity: usize) -> (ProducerOf<u64, K>, Poller<u64>) {
    let (producer, mut consumers) =
        K::ring(capacity, || 0).stage("poller").poller().build().unwrap();
    let poller = consumers.take_poller("poller").unwrap();
    (producer, poller)
}

/// Consumes all available events, also past the wrap.
fn drain<E: Clone>(poller: &mut Poller<E>) -> Vec<E> {
    let mut events = Vec::new();
    while let Ok(mut batch) = poller.poll() {
        events.extend(batch.iter().map(|(_, event)| event.clone()));
    }
    events
}

/// Publishes a batch whose events equal their sequences.
fn publish<S: Sequencer>(mut batch: ClaimBatch<'_, u64, S>) -> std::ops::Range<u64> {
    let sequences = batch.sequences();
    assert_eq!((batch.len(), batch.slots().len()), (sequences.clone().count(), batch.len()));
    batch.slots().iter_mut().zip(sequences).for_each(|(event, sequence)| *event = sequence);
    batch.publish().unwrap()
}

fn miri_claim_up_to_takes_what_is_free_and_no_more<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    assert_eq!(publish(producer.claim_up_to(3).unwrap()), 0..3);
    assert_eq!(publish(producer.claim_up_to(3).unwrap()), 3..4);
    assert_eq!(producer.claim_up_to_or(3, WhenFull::Refuse).err(), Some(BatchError::Full));
    poller.poll().unwrap().consume(2);
    assert_eq!(publish(producer.claim_up_to(1).unwrap()), 4..5);
    assert_eq!(publish(producer.claim_up_to_or(9, WhenFull::Refuse).unwrap().unwrap()), 5..6);
    poller.poll().unwrap().consume(1);
    assert_eq!(
        publish(producer.claim_up_to_or(9, WhenFull::Timeout(PATIENCE)).unwrap().unwrap()),
        6..7
    );
    assert_eq!(drain(&mut poller), [3, 4, 5, 6]);
    assert_eq!(publish(producer.claim_up_to_or(9, WhenFull::Refuse).unwrap().unwrap()), 7..11);
    assert_eq!(drain(&mut poller), [7, 8, 9, 10]);
}

fn claim_up_to_of_any_size_is_cut_to_the_ring<K: Kind>() {
    for max in [5, 1 << 31, usize::MAX / 2 + 1, usize::MAX] {
        let (mut producer, mut poller) = ring_with_poller::<K>(4);
        for first in [0, 4, 8] {
            assert_eq!(publish(producer.claim_up_to(max).unwrap()), first..first + 4);
            assert_eq!(drain(&mut poller).len(), 4);
        }
    }
}

fn claim_up_to_of_no_slot_is_refused_by_every_call<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    assert_eq!(producer.claim_up_to(0).err(), Some(BatchError::Zero));
    assert_eq!(producer.claim_up_to_or(0, WhenFull::Refuse).err(), Some(BatchError::Zero));
    assert_eq!(
        producer.claim_up_to_or(0, WhenFull::Timeout(PATIENCE)).err(),
        Some(BatchError::Zero)
    );
    assert_eq!(publish(producer.claim_up_to(1).unwrap()), 0..1);
    assert_eq!(drain(&mut poller), [0]);
}

fn claim_up_to_that_drops_counts_what_it_could_have_claimed<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    assert_eq!(publish(producer.claim_up_to_or(3, WhenFull::DropNew).unwrap().unwrap()), 0..3);
    assert_eq!(publish(producer.claim_up_to_or(3, WhenFull::DropNew).unwrap().unwrap()), 3..4);
    assert_eq!(producer.dropped(), 0, "the caller may claim again for the two that found no slot");
    for (max, dropped) in [(3, 3), (4, 7), (5, 11), (usize::MAX, 15), (1, 16)] {
        assert!(producer.claim_up_to_or(max, WhenFull::DropNew).unwrap().is_none());
        assert_eq!(producer.dropped(), dropped);
    }
    assert_eq!(drain(&mut poller), [0, 1, 2, 3]);
}

fn claim_up_to_waits_for_the_first_free_slot<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    publish(producer.claim_up_to(4).unwrap());
    let full = producer.claim_up_to_or(4, WhenFull::Timeout(MOMENT)).err();
    assert_eq!(full, Some(BatchError::TimedOut));
    thread::scope(|scope| {
        let thread = scope.spawn(|| publish(producer.claim_up_to(4).unwrap()));
        poller.poll().unwrap().consume(1);
        // Does not wait for the other three slots.
        assert_eq!(thread.join().unwrap(), 4..5);
    });
    assert_eq!(drain(&mut poller), [1, 2, 3, 4]);
}

fn claim_up_to_returns_the_reason_of_a_refusal<K: Kind>() {
    let errors = |producer: &mut ProducerOf<u64, K>| {
        [
            producer.claim_up_to(1).err(),
            producer.claim_up_to_or(1, WhenFull::Refuse).err(),
            producer.claim_up_to_or(1, WhenFull::Timeout(PATIENCE)).err(),
        ]
    };
    for events in [1, 2] {
        let (mut producer, poller) = ring_with_poller::<K>(2);
        (0..events).for_each(|_| _ = producer.publish(|_| {}).unwrap());
        producer.close();
        assert_eq!(errors(&mut producer), [Some(BatchError::Closed); 3]);
        drop(poller);
        assert_eq!(errors(&mut producer), [Some(BatchError::Halted(HaltCause::NoConsumers)); 3]);
    }
}

fn claim_up_to_that_is_dropped_is_given_up<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    for round in 0..5 {
        drop(producer.claim_up_to(3).unwrap());
        let first = if K::IS_MULTI { 4 * round + 3 } else { round };
        assert_eq!(publish(producer.claim_up_to(1).unwrap()), first..first + 1);
        assert_eq!(drain(&mut poller), [first]);
    }
}

fn claim_up_to_in_a_handler_of_a_full_ring_gets_an_error<K: Kind>() {
    let (hand_over, producers) = mpsc::channel::<ProducerOf<u64, K>>();
    let claim = move |_: &u64, _, _| {
        let Ok(mut producer) = producers.try_recv() else { return };
        assert_eq!(publish(producer.claim_up_to(4).unwrap()), 2..4);
        assert_eq!(producer.claim_up_to(4).err(), Some(BatchError::WouldDeadlock));
        let told = producer.claim_up_to_or(4, WhenFull::Timeout(PATIENCE)).err();
        assert_eq!(told, Some(BatchError::WouldDeadlock));
        assert_eq!(producer.claim_up_to_or(4, WhenFull::Refuse).err(), Some(BatchError::Full));
    };
    let (mut producer, consumers) = K::ring(4, || 0_u64).stage("all").read(claim).build().unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    hand_over.send(producer).unwrap();
    consumers.start().unwrap().join().unwrap();
}

fn list_that_is_longer_than_the_ring_goes_through_it<K: Kind>() {
    let list: Vec<u64> = (0..repeats(20_000)).collect();
    let (mut producer, mut poller) = ring_with_poller::<K>(8);
    thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let mut read = Vec::new();
            while let Ok(mut batch) = poller.wait() {
                read.extend(batch.iter().map(|(_, event)| *event));
            }
            read
        });
        let mut left = &list[..];
        while !left.is_empty() {
            let mut batch = producer.claim_up_to(left.len()).unwrap();
            let (now, later) = left.split_at(batch.len());
            batch.slots().copy_from_slice(now).unwrap();
            batch.publish().unwrap();
            left = later;
        }
        drop(producer);
        assert!(reader.join().unwrap() == list);
    });
}

fn free_slots_equal_what_a_claim_would_get<K: Kind>() {
    let mut size = Lcg(11);
    for capacity in [1, 2, 8, 64] {
        let (mut producer, mut poller) = ring_with_poller::<K>(capacity);
        assert_eq!(producer.free_slots(), capacity);
        for _ in 0..repeats(500) {
            let free = producer.free_slots();
            let max = size.below(capacity as u64) as usize + 1;
            let claimed = producer.claim_up_to_or(max, WhenFull::Refuse);
            let taken = claimed.map(|batch| publish(batch.unwrap()).count());
            match taken {
                Ok(taken) => assert_eq!(taken, free.min(max)),
                Err(error) => assert_eq!((error, free), (BatchError::Full, 0)),
            }
            assert_eq!(producer.free_slots(), free - taken.unwrap_or(0));
            let free = producer.free_slots();
            let mut batch = poller.poll().unwrap();
            let done = batch.len().min(size.below(capacity as u64) as usize + 1);
            batch.consume(done);
            drop(batch);
            assert_eq!(producer.free_slots(), free + done);
        }
    }
}

fn free_slots_are_zero_when_no_consumer_is_left<K: Kind>() {
    let (mut producer, poller) = ring_with_poller::<K>(4);
    producer.publish(|_| {}).unwrap();
    producer.close();
    assert_eq!(producer.free_slots(), 3, "whether or not it may still be claimed");
    drop(poller);
    assert_eq!(producer.free_slots(), 0);
}

fn free_slots_shrink_when_a_consumer_takes_a_seat_further_back<K: Kind>() {
    let ring = K::ring(4, || 0_u64).seats(1).stage("poller").poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    assert_eq!(publish(producer.claim_up_to(3).unwrap()), 0..3);
    drain(&mut poller);
    assert_eq!(producer.free_slots(), 4);
    let seat = consumers.seats().take("replay", StartAt::Oldest).unwrap();
    assert_eq!((seat.sequence(), producer.free_slots()), (0, 1));
    let mut replay = seat.poller();
    assert_eq!(publish(producer.claim_up_to(4).unwrap()), 3..4);
    assert_eq!(producer.claim_up_to_or(4, WhenFull::Refuse).err(), Some(BatchError::Full));
    assert_eq!(drain(&mut replay), [0, 1, 2, 3]);
    assert_eq!(producer.free_slots(), 3, "the other poller has one to finish");
    drain(&mut poller);
    assert_eq!(publish(producer.claim_up_to(9).unwrap()), 4..8);
}

fn miri_slice_is_copied_across_the_wrap<K: Kind>() {
    for first in 0..5 {
        let (mut producer, mut poller) = ring_with_poller::<K>(4);
        (0..first).for_each(|_| _ = producer.publish(|_| {}).unwrap_or_else(|_| unreachable!()));
        drain(&mut poller);
        let mut batch = producer.claim_batch(4).unwrap();
        batch.slots().copy_from_slice(&[5, 6, 7, 8]).unwrap();
        batch.publish().unwrap();
        assert_eq!(drain(&mut poller), [5, 6, 7, 8]);
    }
}

fn slice_of_another_length_is_not_copied<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    let mut batch = producer.claim_batch(3).unwrap();
    for events in [&[][..], &[1], &[1, 2], &[1, 2, 3, 4]] {
        let error = BatchError::Length { events: events.len(), slots: 3 };
        assert_eq!(batch.slots().copy_from_slice(events), Err(error));
        assert_eq!(batch.slots().clone_from_slice(events), Err(error));
    }
    batch.publish().unwrap();
    assert_eq!(drain(&mut poller), [0, 0, 0]);
}

fn slice_is_cloned_across_the_wrap<K: Kind>() {
    let (mut producer, mut consumers) =
        K::ring(4, || "old".to_owned()).stage("poller").poller().build().unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    drain(&mut poller);
    let lines = ["a", "b", "c"].map(str::to_owned);
    let mut batch = producer.claim_batch(3).unwrap();
    batch.slots().clone_from_slice(&lines).unwrap();
    batch.publish().unwrap();
    assert_eq!(drain(&mut poller), lines);
}

/// Three threads claim as many slots as they get. No slot is granted twice or lost, and the number
/// of free slots never exceeds the capacity.
#[test]
fn miri_claims_up_to_of_many_threads_share_the_ring() {
    watched(|| {
        const CAPACITY: usize = 8;
        let events = repeats(20_000);
        let (producer, mut consumers) =
            Disruptor::multi_producer(CAPACITY, || (0, 0)).stage("all").poller().build().unwrap();
        let mut poller = consumers.take_poller("all").unwrap();
        let is_done = AtomicBool::new(false);
        thread::scope(|scope| {
            for id in 0..3 {
                let mut producer = producer.clone();
                scope.spawn(move || {
                    let (mut next, mut size) = (0, Lcg(id));
                    while next < events {
                        let max = (size.below(12) + 1).min(events - next);
                        let mut batch = producer.claim_up_to(max as usize).unwrap();
                        assert!((1..=max.min(CAPACITY as u64)).contains(&(batch.len() as u64)));
                        for event in batch.slots().iter_mut() {
                            *event = (id, next);
                            next += 1;
                        }
                        batch.publish().unwrap();
                    }
                });
            }
            let (looker, is_done) = (producer, &is_done);
            let look = scope.spawn(move || {
                while !is_done.load(Ordering::Relaxed) {
                    assert!(looker.free_slots() <= CAPACITY);
                    thread::yield_now();
                }
            });
            let (mut next, mut sequences) = ([0; 3], 0..);
            while next.iter().sum::<u64>() < 3 * events {
                for (sequence, &(id, number)) in poller.wait().unwrap().iter() {
                    assert_eq!(Some(sequence), sequences.next());
                    assert_eq!(number, next[id as usize]);
                    next[id as usize] += 1;
                }
            }
            is_done.store(true, Ordering::Relaxed);
            look.join().unwrap();
        });
    });
}
