//! Wake-ups of threads that park at the first poll, so that nothing else ends their waits, and what
//! they wait for: one of several stages, a poller that leaves, a slot that others want. Events come
//! one at a time, so a later event cannot make up for a lost wake-up. Not here: the other strategies
//! and the phases in which an event finds them (`wake_ups.rs`).

use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::common::{Kind, Lcg, ProducerOf, repeats, wait_until, watched};
use lapwing::wait::{Adaptive, Blocking, Sleeping, Yielding};
use lapwing::{Consumers, Disruptor};

crate::common::for_both_producers! {
    miri_stage_wakes_at_each_depth,
    stages_with_different_strategies_end_their_waits,
    miri_join_wakes_when_its_upstream_stages_finish_one_after_the_other,
    miri_producer_wakes_when_gating_stages_finish_one_after_the_other,
    miri_stage_wakes_when_the_poller_before_it_leaves,
    miri_producer_wakes_when_a_gating_poller_leaves,
    miri_producer_wakes_on_a_full_ring,
}

/// Parks at the first poll, so only the wake-up ends the wait.
const PARK_AT_ONCE: Blocking = Blocking { yields: 0 };

/// Number of single events.
const EVENTS: u64 = repeats(2_000);

/// Publishes one event at a time, and waits until `handled` shows that the last stage has it.
fn one_at_a_time<K: Kind>(
    (mut producer, consumers): (ProducerOf<u64, K>, Consumers<'_, u64>),
    handled: &AtomicU64,
) {
    let mut pause = Lcg(1);
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for number in 0..EVENTS {
            (0..pause.below(repeats(300))).for_each(|_| hint::spin_loop());
            producer.publish(|event| *event = number).unwrap();
            wait_until(|| handled.load(Ordering::Acquire) == number + 1);
        }
        running.shutdown().unwrap();
    });
}

fn miri_stage_wakes_at_each_depth<K: Kind>() {
    for stages in 0..3 {
        let handled = AtomicU64::new(0);
        let ring =
            K::ring(8, || 0).wait_strategy(PARK_AT_ONCE).producer_wait_strategy(PARK_AT_ONCE);
        let ring = (0..stages).fold(ring, |ring, number| {
            ring.stage(format!("stage {number}")).read(|_: &u64, _, _| {})
        });
        let ring = ring.stage("last").read(|event, sequence, _| {
            assert_eq!(*event, sequence);
            handled.store(sequence + 1, Ordering::Release);
        });
        one_at_a_time::<K>(ring.build().unwrap(), &handled);
    }
}

fn stages_with_different_strategies_end_their_waits<K: Kind>() {
    let handled = AtomicU64::new(0);
    let ring = K::ring(4, || 0_u64)
        .producer_wait_strategy(Yielding::default())
        .stage("blocking")
        .wait_strategy(Blocking::default())
        .read(|_, _, _| {})
        .stage("yielding")
        .wait_strategy(Yielding::default())
        .read(|_, _, _| {})
        .stage("sleeping")
        .wait_strategy(Sleeping::default())
        .read(|_, _, _| {})
        .stage("adaptive")
        .wait_strategy(Adaptive::default())
        .read(|_, sequence, _| {
            handled.store(sequence + 1, Ordering::Release);
        });
    one_at_a_time::<K>(ring.build().unwrap(), &handled);
}

// ---- waiting for one of several ----

/// A join must park on the stage that is behind at its last poll. If it parked on the one that was
/// behind at its first poll, it would miss the event.
fn miri_join_wakes_when_its_upstream_stages_finish_one_after_the_other<K: Kind>() {
    let handled = AtomicU64::new(0);
    let ring = K::ring(8, || 0_u64)
        .wait_strategy(PARK_AT_ONCE)
        .parallel(|parallel| {
            parallel.stage("left").read(|_, _, _| {}).stage("right").read(|_, _, _| {})
        })
        .stage("join")
        .read(|_, sequence, _| handled.store(sequence + 1, Ordering::Release));
    one_at_a_time::<K>(ring.build().unwrap(), &handled);
}

/// The same for a producer, whose gate consists of several stages: it must not park on one that has
/// already passed.
fn miri_producer_wakes_when_gating_stages_finish_one_after_the_other<K: Kind>() {
    let (mut producer, consumers) = K::ring(1, || 0_u64)
        .wait_strategy(PARK_AT_ONCE)
        .producer_wait_strategy(PARK_AT_ONCE)
        .parallel(|parallel| {
            parallel.stage("left").read(|_, _, _| {}).stage("right").read(|_, _, _| {})
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    for number in 0..repeats(5_000) {
        producer.publish(|event| *event = number).unwrap();
    }
    running.shutdown().unwrap();
}

fn miri_stage_wakes_when_the_poller_before_it_leaves<K: Kind>() {
    let mut pause = Lcg(2);
    for _ in 0..repeats(2_000) {
        let handled = AtomicU64::new(0);
        let (mut producer, mut consumers) = K::ring(4, || 0_u64)
            .wait_strategy(PARK_AT_ONCE)
            .stage("poller")
            .poller()
            .stage("after")
            .read(|_, sequence, _| handled.store(sequence + 1, Ordering::Release))
            .build()
            .unwrap();
        let poller = consumers.take_poller("poller").unwrap();
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            (0..pause.below(repeats(3_000))).for_each(|_| hint::spin_loop());
            drop(poller);
            producer.publish(|event| *event = 1).unwrap();
            wait_until(|| handled.load(Ordering::Acquire) == 1);
            running.shutdown().unwrap();
        });
    }
}

fn miri_producer_wakes_when_a_gating_poller_leaves<K: Kind>() {
    for _ in 0..repeats(500) {
        let (mut producer, mut consumers) = K::ring(1, || 0_u64)
            .wait_strategy(PARK_AT_ONCE)
            .producer_wait_strategy(PARK_AT_ONCE)
            .parallel(|parallel| {
                parallel.stage("reader").read(|_, _, _| {}).stage("poller").poller()
            })
            .build()
            .unwrap();
        let poller = consumers.take_poller("poller").unwrap();
        let running = consumers.start().unwrap();
        producer.publish(|event| *event = 1).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| producer.publish(|event| *event = 2).unwrap());
            drop(poller);
        });
        running.shutdown().unwrap();
    }
}

/// A producer finds no stage behind at its first poll, and another producer takes the slot before
/// its last poll. It must not park on publications, because no other producer would publish.
#[test]
fn miri_producers_wake_when_they_compete_for_one_slot() {
    watched(|| {
        for _ in 0..repeats(2_000) {
            let (producer, consumers) = Disruptor::multi_producer(1, || 0_u64)
                .wait_strategy(PARK_AT_ONCE)
                .producer_wait_strategy(PARK_AT_ONCE)
                .stage("count")
                .read(|_, _, _| {})
                .build()
                .unwrap();
            let running = consumers.start().unwrap();
            thread::scope(|scope| {
                for _ in 0..3 {
                    let mut producer = producer.clone();
                    scope.spawn(move || {
                        (0..3).for_each(|number| {
                            assert!(producer.publish(|event| *event = number).is_ok())
                        });
                    });
                }
            });
            let report = running.shutdown().unwrap();
            assert_eq!(report.stages().next().unwrap().processed(), 9);
        }
    });
}

// ---- a full ring ----

fn miri_producer_wakes_on_a_full_ring<K: Kind>() {
    let sum = AtomicU64::new(0);
    let (mut producer, consumers) = K::ring(1, || 0_u64)
        .producer_wait_strategy(PARK_AT_ONCE)
        .stage("sum")
        .read(|event, _, _| _ = sum.fetch_add(*event, Ordering::Relaxed))
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        (0..EVENTS).for_each(|number| _ = producer.publish(|event| *event = number).unwrap());
        running.shutdown().unwrap();
    });
    assert_eq!(sum.into_inner(), EVENTS * (EVENTS - 1) / 2);
}
