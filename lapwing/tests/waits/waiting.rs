//! Tests that every waiting thread is woken: each strategy, both kinds of producer, and everything
//! that a thread can wait for. Events come one at a time, so a later event cannot make up for a
//! lost wake-up.

use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::common::{Kind, Lcg, Many, One, repeats, wait_until, watched};
use lapwing::graph::Graph;
use lapwing::wait::{Adaptive, Blocking, BusySpin, Sleeping, WaitStrategy, Yielding};
use lapwing::{Disruptor, Stage};

crate::common::for_both_producers! {
    miri_join_wakes_when_its_upstream_stages_finish_one_after_the_other,
    miri_producer_wakes_when_gating_stages_finish_one_after_the_other,
    miri_stage_wakes_when_the_poller_before_it_leaves,
    miri_producer_wakes_when_a_gating_poller_leaves,
    adaptive_producer_wakes_on_a_full_ring,
    blocking_producer_wakes_on_a_full_ring,
    miri_blocking_producer_without_yields_wakes_on_a_full_ring,
    busy_spin_producer_ends_its_wait_on_a_full_ring,
    sleeping_producer_ends_its_wait_on_a_full_ring,
    yielding_producer_ends_its_wait_on_a_full_ring,
}

/// Parks at the first poll, so only the wake-up ends the wait.
const PARK_AT_ONCE: Blocking = Blocking { yields: 0 };

/// Number of single events for strategies that yield their CPU.
const EVENTS: u64 = repeats(2_000);

/// The same for strategies that spin: with few CPUs they wait for each other's time slice.
const EVENTS_SPINNING: u64 = repeats(100);

/// Publishes one event at a time, each after the last of `stages` stages in a row has handled the
/// previous one.
fn one_event_then_silence<K: Kind, W: WaitStrategy>(strategy: W, stages: usize, events: u64) {
    let handled = AtomicU64::new(0);
    let mut graph = Graph::new();
    let mut last = None;
    for number in 0..stages {
        let stage = graph.stage(format!("stage {number}"));
        let stage = last.into_iter().fold(stage, Stage::after);
        let is_last = number + 1 == stages;
        let handled = &handled;
        last = Some(stage.read(move |event: &u64, sequence, _| {
            assert_eq!(*event, sequence);
            if is_last {
                handled.store(sequence + 1, Ordering::Release);
            }
        }));
    }
    let (mut producer, consumers) = K::ring(8, || 0)
        .wait(strategy.clone())
        .producer_wait(strategy)
        .graph(graph)
        .build()
        .unwrap();
    let mut pause = Lcg(1);
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for number in 0..events {
            (0..pause.below(repeats(300))).for_each(|_| hint::spin_loop());
            producer.publish(|event| *event = number).unwrap();
            wait_until(|| handled.load(Ordering::Acquire) == number + 1);
        }
        running.shutdown().unwrap();
    });
}

fn at_each_depth<W: WaitStrategy>(strategy: W, events: u64) {
    for stages in 1..=3 {
        watched(|| one_event_then_silence::<One, W>(strategy.clone(), stages, events));
        watched(|| one_event_then_silence::<Many, W>(strategy.clone(), stages, events));
    }
}

#[test]
fn adaptive_wakes_at_each_depth() {
    at_each_depth(Adaptive::default(), EVENTS);
}

#[test]
fn blocking_wakes_at_each_depth() {
    at_each_depth(Blocking::default(), EVENTS);
}

#[test]
fn miri_blocking_without_yields_wakes_at_each_depth() {
    at_each_depth(PARK_AT_ONCE, EVENTS);
}

#[test]
fn busy_spin_ends_its_wait_at_each_depth() {
    at_each_depth(BusySpin, EVENTS_SPINNING);
}

#[test]
fn sleeping_ends_its_wait_at_each_depth() {
    at_each_depth(Sleeping::default(), EVENTS);
}

#[test]
fn yielding_ends_its_wait_at_each_depth() {
    at_each_depth(Yielding::default(), EVENTS);
}

#[test]
fn stages_with_different_strategies_end_their_waits() {
    watched(different_strategies::<One>);
    watched(different_strategies::<Many>);
}

fn different_strategies<K: Kind>() {
    let handled = AtomicU64::new(0);
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .producer_wait(Yielding::default())
        .stage("blocking")
        .wait(Blocking::default())
        .read(|_, _, _| {})
        .stage("yielding")
        .wait(Yielding::default())
        .read(|_, _, _| {})
        .stage("sleeping")
        .wait(Sleeping::default())
        .read(|_, _, _| {})
        .stage("adaptive")
        .wait(Adaptive::default())
        .read(|_, sequence, _| {
            handled.store(sequence + 1, Ordering::Release);
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for number in 0..EVENTS / 4 {
            producer.publish(|event| *event = number).unwrap();
            wait_until(|| handled.load(Ordering::Acquire) == number + 1);
        }
        running.shutdown().unwrap();
    });
}

// ---- waiting for one of several ----

/// A join must park on the stage that is behind at its last poll. If it parked on the one that was
/// behind at its first poll, it would miss the event.
fn miri_join_wakes_when_its_upstream_stages_finish_one_after_the_other<K: Kind>() {
    let handled = AtomicU64::new(0);
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .wait(PARK_AT_ONCE)
        .side_by_side(|side| {
            side.stage("left").read(|_, _, _| {}).stage("right").read(|_, _, _| {})
        })
        .stage("join")
        .read(|_, sequence, _| handled.store(sequence + 1, Ordering::Release))
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for number in 0..repeats(5_000) {
            producer.publish(|event| *event = number).unwrap();
            wait_until(|| handled.load(Ordering::Acquire) == number + 1);
        }
        running.shutdown().unwrap();
    });
}

/// The same for a producer, whose gate consists of several stages: it must not park on one that has
/// already passed.
fn miri_producer_wakes_when_gating_stages_finish_one_after_the_other<K: Kind>() {
    let (mut producer, consumers) = K::ring(1, || 0_u64)
        .wait(PARK_AT_ONCE)
        .producer_wait(PARK_AT_ONCE)
        .side_by_side(|side| {
            side.stage("left").read(|_, _, _| {}).stage("right").read(|_, _, _| {})
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
            .wait(PARK_AT_ONCE)
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
            .wait(PARK_AT_ONCE)
            .producer_wait(PARK_AT_ONCE)
            .side_by_side(|side| side.stage("reader").read(|_, _, _| {}).stage("poller").poller())
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
                .wait(PARK_AT_ONCE)
                .producer_wait(PARK_AT_ONCE)
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

fn full_ring<K: Kind, W: WaitStrategy>(strategy: W, events: u64) {
    let sum = AtomicU64::new(0);
    let (mut producer, consumers) = K::ring(1, || 0_u64)
        .producer_wait(strategy)
        .stage("sum")
        .read(|event, _, _| _ = sum.fetch_add(*event, Ordering::Relaxed))
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for number in 0..events {
            producer.publish(|event| *event = number).unwrap();
        }
        running.shutdown().unwrap();
    });
    assert_eq!(sum.into_inner(), events * (events - 1) / 2);
}

fn adaptive_producer_wakes_on_a_full_ring<K: Kind>() {
    full_ring::<K, _>(Adaptive::default(), EVENTS);
}

fn blocking_producer_wakes_on_a_full_ring<K: Kind>() {
    full_ring::<K, _>(Blocking::default(), EVENTS);
}

fn miri_blocking_producer_without_yields_wakes_on_a_full_ring<K: Kind>() {
    full_ring::<K, _>(PARK_AT_ONCE, EVENTS);
}

fn busy_spin_producer_ends_its_wait_on_a_full_ring<K: Kind>() {
    full_ring::<K, _>(BusySpin, EVENTS_SPINNING);
}

fn sleeping_producer_ends_its_wait_on_a_full_ring<K: Kind>() {
    full_ring::<K, _>(Sleeping::default(), EVENTS);
}

fn yielding_producer_ends_its_wait_on_a_full_ring<K: Kind>() {
    full_ring::<K, _>(Yielding::default(), EVENTS);
}
