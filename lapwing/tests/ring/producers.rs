//! Tests the differences between one producer and several: claims that are forgotten or held, and
//! several threads on one ring.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::common::{PATIENCE, repeats, watched};
use lapwing::Disruptor;
use lapwing::error::{PollError, PublishError, RingError};
use lapwing::producer::WhenFull;

const PRODUCERS: u64 = 4;

#[test]
fn a_factory_makes_the_events_from_the_first_slot_to_the_last() {
    let count = || {
        let mut slots = 0..8;
        move || slots.next().expect("one event for each slot")
    };
    let build = Disruptor::single_producer(8, count()).stage("poller").poller().build();
    let (mut single, _pollers) = build.unwrap();
    let build = Disruptor::multi_producer(8, count()).stage("poller").poller().build();
    let (mut multi, _other_pollers) = build.unwrap();
    for slot in 0..8 {
        let claim = single.claim().unwrap();
        assert_eq!(*claim, slot);
        claim.publish().unwrap();
        let claim = multi.claim().unwrap();
        assert_eq!(*claim, slot);
        claim.publish().unwrap();
    }
}

#[test]
fn miri_forgotten_claim_of_a_single_producer_is_claimed_again() {
    let (mut producer, mut consumers) =
        Disruptor::single_producer(2, || 0_u64).stage("poller").poller().build().unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    for round in 0..5 {
        mem::forget(producer.claim().unwrap());
        mem::forget(producer.claim_batch(2).unwrap());
        assert_eq!(producer.publish(|event| *event = round), Ok(round));
        assert_eq!(poller.poll().unwrap().iter().collect::<Vec<_>>(), [(round, &round)]);
    }
}

/// Documented: the claim might still be published, so no consumer may pass it.
#[test]
fn miri_forgotten_claim_of_several_producers_stops_consumers_there() {
    let (mut producer, mut consumers) =
        Disruptor::multi_producer(4, || 0_u64).stage("poller").poller().build().unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    producer.publish(|_| {}).unwrap();
    mem::forget(producer.claim().unwrap());
    producer.publish(|_| {}).unwrap();
    poller.poll().unwrap().consume_all();
    assert_eq!(poller.poll().err(), Some(PollError::Empty));
    drop(producer);
    assert_eq!((poller.poll().err(), poller.sequence()), (Some(PollError::Empty), 1));
}

#[test]
fn claim_of_a_single_producer_is_refused_when_the_ring_was_closed_meanwhile() {
    let (mut producer, consumers) =
        Disruptor::single_producer(4, || 0_u64).stage("count").read(|_, _, _| {}).build().unwrap();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    let claim = producer.claim().unwrap();
    running.close();
    assert_eq!(claim.publish(), Err(RingError::Closed));
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Closed));
    let report = running.shutdown().unwrap();
    assert_eq!(report.stages().next().unwrap().processed(), 1);
}

#[test]
fn batch_of_a_single_producer_is_refused_whole_when_the_ring_was_closed_meanwhile() {
    let (mut producer, mut consumers) = Disruptor::single_producer(4, || 0_u64)
        .stage("count")
        .read(|_, _, _| {})
        .stage("last")
        .poller()
        .build()
        .unwrap();
    let mut last = consumers.take_poller("last").unwrap();
    let running = consumers.start().unwrap();
    let batch = producer.claim_batch(3).unwrap();
    running.close();
    assert_eq!(batch.publish(), Err(RingError::Closed));
    assert_eq!(last.wait().err(), Some(RingError::Closed));
    assert_eq!(running.shutdown().unwrap().stages().next().unwrap().processed(), 0);
}

#[test]
fn claim_of_several_producers_is_accepted_although_the_ring_was_closed_meanwhile() {
    watched(|| {
        let (mut producer, consumers) = Disruptor::multi_producer(4, || 0_u64)
            .stage("count")
            .read(|_, _, _| {})
            .build()
            .unwrap();
        let mut second = producer.clone();
        let running = consumers.start().unwrap();
        let claim = producer.claim().unwrap();
        running.close();
        assert_eq!(second.publish(|_| {}), Err(PublishError::Closed));
        assert!(!running.is_finished());
        assert_eq!(claim.publish(), Ok(0));
        assert_eq!(running.shutdown().unwrap().stages().next().unwrap().processed(), 1);
    });
}

#[test]
fn miri_claim_of_a_stalled_producer_holds_back_the_events_after_it() {
    let (mut slow, mut consumers) =
        Disruptor::multi_producer(8, || 0_u64).stage("poller").poller().build().unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    let mut fast = slow.clone();
    fast.publish(|event| *event = 1).unwrap();
    let mut claim = slow.claim().unwrap();
    *claim = 2;
    fast.publish(|event| *event = 3).unwrap();
    assert_eq!(poller.poll().unwrap().as_slice(), [1]);
    poller.poll().unwrap().consume_all();
    assert_eq!(poller.poll().err(), Some(PollError::Empty));
    claim.publish().unwrap();
    assert_eq!(poller.poll().unwrap().as_slice(), [2, 3]);
    poller.poll().unwrap().consume_all();

    let claim = slow.claim().unwrap();
    fast.publish(|event| *event = 4).unwrap();
    assert_eq!(poller.poll().err(), Some(PollError::Empty));
    drop(claim);
    assert_eq!(poller.poll().unwrap().iter().collect::<Vec<_>>(), [(4, &4)]);
}

#[test]
fn full_ring_is_full_for_every_producer_and_a_free_slot_goes_to_the_first() {
    let (mut first, mut consumers) =
        Disruptor::multi_producer(2, || 0_u64).stage("poller").poller().build().unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    let mut second = first.clone();
    let claim = first.claim().unwrap();
    let other_claim = second.claim_or(WhenFull::Timeout(PATIENCE)).unwrap().unwrap();
    assert_eq!(poller.poll().err(), Some(PollError::Empty));
    assert_eq!((claim.publish(), other_claim.publish()), (Ok(0), Ok(1)));
    assert!(first.try_claim().is_err() && second.try_claim().is_err());
    poller.poll().unwrap().consume(1);
    second.try_publish(|_| {}).unwrap();
    assert!(first.try_claim().is_err() && second.try_claim().is_err());
}

/// Each event of four threads arrives once, in the order of its thread, and in the same order at
/// all consumers.
#[test]
fn miri_events_of_many_threads_arrive_once_and_in_one_order() {
    watched(|| {
        let events = repeats(50_000).max(20);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let checksum = AtomicU64::new(0);
        let (producer, consumers) = Disruptor::multi_producer(64, || (0, 0))
            .side_by_side(|side| {
                side.stage("left")
                    .read(|event, _, _| left.push(*event))
                    .stage("right")
                    .read(|event, _, _| right.push(*event))
            })
            .stage("sum")
            .read(|(_, number), _, _| _ = checksum.fetch_add(*number, Ordering::Relaxed))
            .build()
            .unwrap();
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            let publish = |thread| {
                let mut producer = producer.clone();
                move || {
                    for number in (0..events).step_by(2) {
                        producer.publish(|event| *event = (thread, number)).unwrap();
                        let mut claim = producer.claim().unwrap();
                        *claim = (thread, number + 1);
                        claim.publish().unwrap();
                    }
                }
            };
            let threads: Vec<_> =
                (0..PRODUCERS).map(|thread| scope.spawn(publish(thread))).collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            running.shutdown().unwrap();
        });
        assert!(left == right);
        assert_eq!(checksum.into_inner(), PRODUCERS * (events * (events - 1) / 2));
        for thread in 0..PRODUCERS {
            let numbers = left.iter().filter(|event| event.0 == thread).map(|event| event.1);
            assert!(numbers.eq(0..events), "of thread {thread}");
        }
    });
}

/// The same with batches that do not divide the ring, and some claims given up.
#[test]
fn batches_of_many_threads_stay_whole_although_others_give_up_claims() {
    watched(|| {
        const BATCH: u64 = 5;
        let batches = repeats(4_000);
        let mut seen = Vec::new();
        let (producer, consumers) = Disruptor::multi_producer(16, || (0, 0, 0))
            .stage("pass")
            .read(|_, _, _| {})
            .stage("collect")
            .read(|event, _, _| seen.push(*event))
            .build()
            .unwrap();
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            let publish = |thread| {
                let mut producer = producer.clone();
                move || {
                    for batch in 0..batches {
                        drop(producer.claim().unwrap());
                        let range = producer.publish_batch(BATCH as usize, |slots| {
                            (0..)
                                .zip(slots.iter_mut())
                                .for_each(|(place, event)| *event = (thread, batch, place));
                        });
                        assert_eq!(range.map(|range| range.end - range.start), Ok(BATCH));
                        drop(producer.claim_batch(2).unwrap());
                    }
                }
            };
            let threads: Vec<_> =
                (0..PRODUCERS).map(|thread| scope.spawn(publish(thread))).collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            running.shutdown().unwrap();
        });
        assert_eq!(seen.len() as u64, PRODUCERS * batches * BATCH);
        for whole in seen.chunks(BATCH as usize) {
            let (thread, batch, _) = whole[0];
            assert!(whole.iter().copied().eq((0..BATCH).map(|place| (thread, batch, place))));
        }
    });
}
