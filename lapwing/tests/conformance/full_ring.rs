//! C10 to C17: the number of events that fit, what happens to more, and rings of one and two slots.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;

use lapwing::error::{
    BatchError, BuildError, HaltCause, PollError, TryPublishError, WhenFullError,
};
use lapwing::producer::WhenFull;

use crate::common::{MOMENT, ProducerOf, wait_until};
use crate::setup::{Kind, Setup};
use crate::spy::{Spy, publish, value_of, values};

for_each_setup! {
    c10_full_ring_blocks_the_producer_at_exactly_its_size,
    c11_blocked_producer_continues_by_one_event_after_one_release,
    c12_try_calls_on_a_full_ring_return_full_and_claim_nothing,
    c13_batch_of_the_whole_ring_fits_and_none_or_one_more_is_refused,
    c14_batch_across_the_wrap_arrives_in_order,
    c15_ring_of_one_slot_works,
    c16_ring_of_two_slots_works,
    c17_ring_without_gating_consumers_is_refused,
}

/// Publishes until the ring is full. `count` follows the progress.
fn publish_on<K: Kind>(mut producer: ProducerOf<u64, K>, count: &AtomicU64) {
    while producer.publish(|_| {}).is_ok() {
        count.fetch_add(1, SeqCst);
    }
}

fn c10_full_ring_blocks_the_producer_at_exactly_its_size<K: Kind>(setup: Setup<K>) {
    for capacity in [1, 4] {
        let (mut producer, poller) = setup.ring_with_poller(capacity);
        publish(&mut producer, 0..capacity as u64);
        assert_eq!(
            producer.publish_or(WhenFull::Timeout(MOMENT), |_| {}),
            Err(WhenFullError::TimedOut)
        );
        assert_eq!(
            producer.claim_or(WhenFull::Timeout(MOMENT)).err(),
            Some(WhenFullError::TimedOut)
        );
        drop(poller);

        let (producer, poller) = setup.ring_with_poller(capacity);
        let published = AtomicU64::new(0);
        thread::scope(|scope| {
            scope.spawn(|| publish_on::<K>(producer, &published));
            wait_until(|| published.load(SeqCst) == capacity as u64);
            drop(poller); // the last consumer: ends the producer's wait
        });
        assert_eq!(published.into_inner(), capacity as u64);
    }
}

fn c11_blocked_producer_continues_by_one_event_after_one_release<K: Kind>(setup: Setup<K>) {
    let (producer, mut poller) = setup.ring_with_poller(4);
    let published = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| publish_on::<K>(producer, &published));
        for released in 0..5 {
            wait_until(|| published.load(SeqCst) == 4 + released);
            poller.poll().unwrap().consume(1);
        }
        wait_until(|| published.load(SeqCst) == 9);
        drop(poller); // the last consumer: ends the producer's wait
    });
    assert_eq!(published.into_inner(), 9);
}

fn c12_try_calls_on_a_full_ring_return_full_and_claim_nothing<K: Kind>(setup: Setup<K>) {
    let (mut producer, mut poller) = setup.ring_with_poller(4);
    publish(&mut producer, 0..3);
    for _ in 0..3 {
        let too_many = producer.try_publish_batch(2, |_| unreachable!("one slot is free"));
        assert_eq!(too_many, Err(BatchError::Full));
        assert_eq!(producer.try_claim_batch(2).err(), Some(BatchError::Full));
    }
    publish(&mut producer, 3..4);
    for _ in 0..3 {
        let full = producer.try_publish(|_| unreachable!("no slot is free"));
        assert_eq!(full, Err(TryPublishError::Full));
        assert_eq!(producer.try_claim().err(), Some(TryPublishError::Full));
    }
    poller.poll().unwrap().consume(1);
    assert_eq!(producer.try_publish(|event| *event = value_of(4)), Ok(4));
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    let mut seen = Vec::new();
    while let Ok(mut batch) = poller.poll() {
        seen.extend(batch.iter().map(|(sequence, event)| (*event, sequence)));
    }
    assert_eq!(seen, values(1..5));
}

fn c13_batch_of_the_whole_ring_fits_and_none_or_one_more_is_refused<K: Kind>(setup: Setup<K>) {
    let (mut producer, mut poller) = setup.ring_with_poller(4);
    let refusals = [0, 5, usize::MAX].map(|requested| match requested {
        0 => (requested, BatchError::Zero),
        _ => (requested, BatchError::TooLarge { requested, capacity: 4 }),
    });
    for (requested, error) in refusals {
        assert_eq!(producer.publish_batch(requested, |_| unreachable!()), Err(error));
        assert_eq!(producer.try_publish_batch(requested, |_| unreachable!()), Err(error));
        let timed =
            producer.publish_batch_or(requested, WhenFull::Timeout(MOMENT), |_| unreachable!());
        assert_eq!(timed, Err(error));
        assert_eq!(producer.claim_batch(requested).err(), Some(error));
    }
    assert_eq!(poller.poll().err(), Some(PollError::Empty));
    assert_eq!(producer.publish_batch(4, |slots| assert_eq!(slots.len(), 4)), Ok(0..4));
    assert_eq!(producer.try_publish_batch(1, |_| unreachable!()), Err(BatchError::Full));
    let timed = producer.publish_batch_or(4, WhenFull::Timeout(MOMENT), |_| unreachable!());
    assert_eq!(timed, Err(BatchError::TimedOut));
    poller.poll().unwrap().consume_all();
    assert_eq!(producer.publish_batch(4, |_| {}), Ok(4..8));
}

fn c14_batch_across_the_wrap_arrives_in_order<K: Kind>(setup: Setup<K>) {
    for (offset, length) in (0..4).flat_map(|offset| (1..=4).map(move |length| (offset, length))) {
        let (mut producer, mut poller) = setup.ring_with_poller(4);
        publish(&mut producer, 0..offset);
        let _ = poller.poll().map(|mut batch| batch.consume_all());
        let sequences = offset..offset + length;
        let published = producer.publish_batch(length as usize, |slots| {
            slots.iter_mut().zip(sequences.clone()).for_each(|(slot, s)| *slot = value_of(s));
        });
        assert_eq!(published, Ok(sequences.clone()));
        let mut seen = Vec::new();
        while let Ok(mut batch) = poller.poll() {
            seen.extend(batch.iter().map(|(sequence, event)| (*event, sequence)));
        }
        assert_eq!(seen, values(sequences));
    }
}

fn c15_ring_of_one_slot_works<K: Kind>(setup: Setup<K>) {
    tiny_ring(setup, 1);
}

fn c16_ring_of_two_slots_works<K: Kind>(setup: Setup<K>) {
    tiny_ring(setup, 2);
}

fn tiny_ring<K: Kind>(setup: Setup<K>, capacity: usize) {
    let events = setup.events(500);
    let (mut producer, consumers) = setup
        .ring(capacity, || 0)
        .stage("first")
        .read_handler(Spy::default())
        .stage("second")
        .read_handler(Spy::default())
        .build()
        .unwrap();
    publish(&mut producer, 0..capacity as u64);
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    let running = consumers.start().unwrap();
    publish(&mut producer, capacity as u64..events);
    let mut report = running.shutdown().unwrap();
    for name in ["first", "second"] {
        assert_eq!(report.take::<Spy>(name).unwrap().events(), values(0..events), "{name}");
    }
}

/// LMAX's ring without a consumer overwrites unread events. Here such a ring cannot be built, and a
/// ring whose last consumer has left accepts no event.
fn c17_ring_without_gating_consumers_is_refused<K: Kind>(setup: Setup<K>) {
    assert_eq!(setup.ring(4, || 0_u64).build().err(), Some(BuildError::NoConsumers));
    let (mut producer, poller) = setup.ring_with_poller(4);
    drop(poller);
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Halted(HaltCause::NoConsumers)));
}
