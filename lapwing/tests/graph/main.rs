//! Graphs of stages: topologies, threads, joining, leaving, failures and the life cycle.
//!
//! Tests are grouped into few programs, since each program is linked on its own.

#[path = "../common/mod.rs"]
mod common;

mod handing_over;
mod joining;
mod leaving;
mod lifecycle;
mod panics;
mod placement;
mod stopping;
mod together;
mod topologies;
mod unused_settings;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use lapwing::producer::Sequencer;
use lapwing::{Builder, Producer, Running, Sequence, Stage};

/// Starts the stages of `ring` on their threads.
fn start<S: Sequencer>(ring: Builder<'static, u64, S>) -> (Producer<u64, S>, Running<'static>) {
    let (producer, consumers) = ring.build().unwrap();
    (producer, consumers.start().unwrap())
}

/// Checks that each of four stages after one another gets an event after the one before it, for
/// `events` events. `stage` makes a stage of its name.
fn assert_pipeline_keeps_its_order<S: Sequencer>(
    ring: Builder<'_, u64, S>,
    stage: impl Fn(&str) -> Stage,
    events: u64,
) {
    let add = |more: u64| move |event: &mut u64, _: Sequence, _: bool| *event = *event * 10 + more;
    let count = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&count);
    let (mut producer, consumers) = ring
        .stage(stage("one"))
        .write(add(1))
        .stage(stage("two"))
        .write(add(2))
        .stage(stage("three"))
        .write(add(3))
        .stage(stage("check"))
        .read(move |event, sequence, _| {
            assert_eq!(*event, sequence * 1000 + 123);
            counter.fetch_add(1, Ordering::Relaxed);
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for value in 0..events {
            producer.publish(|event| *event = value).unwrap();
        }
        running.shutdown().unwrap();
    });
    assert_eq!(count.load(Ordering::Relaxed), events);
}
