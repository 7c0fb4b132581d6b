//! Tests a global allocator that publishes: each allocation and each release is an event of a ring.
//! Not here: handlers that publish to their own ring (`self_deadlock.rs`).

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use common::watched;
use lapwing::consumer::Consumer;
use lapwing::error::WhenFullError;
use lapwing::producer::{Multi, WhenFull};
use lapwing::{Disruptor, Poller, Producer};

#[global_allocator]
static ALLOCATOR: Publishing = Publishing;

/// The producer for allocations. It is locked during a publication, so an allocation within it is
/// not published.
static LOG: Mutex<Option<Producer<u64, Multi>>> = Mutex::new(None);

static PUBLISHED: AtomicU64 = AtomicU64::new(0);
static REFUSED: AtomicU64 = AtomicU64::new(0);
static PANICS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Whether allocations of this thread are published.
    static IS_LOGGED: Cell<bool> = const { Cell::new(false) };
}

/// The system's allocator, which also publishes the size of each allocation and release on threads
/// that are logged.
struct Publishing;

// SAFETY: memory comes from the system's allocator and returns there. No panic leaves `publish`.
unsafe impl GlobalAlloc for Publishing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        publish(layout.size());
        // SAFETY: the caller's duties are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        publish(layout.size());
        // SAFETY: as above, and `memory` came from there.
        unsafe { System.dealloc(memory, layout) }
    }
}

fn publish(bytes: usize) {
    if !IS_LOGGED.get() {
        return;
    }
    let Ok(mut log) = LOG.try_lock() else {
        return;
    };
    let Some(producer) = &mut *log else {
        return;
    };
    // On a full ring this reads the list of stages that the thread runs, and then returns an error.
    let result = catch_unwind(AssertUnwindSafe(|| {
        producer
            .publish_or(WhenFull::Timeout(Duration::ZERO), |event| *event = bytes as u64)
            .map(drop)
    }));
    let figure = match result {
        Ok(Ok(())) => &PUBLISHED,
        Ok(Err(WhenFullError::TimedOut | WhenFullError::WouldDeadlock)) => &REFUSED,
        Ok(Err(error)) => panic!("the ring is open: {error}"),
        Err(_) => &PANICS,
    };
    figure.fetch_add(1, Ordering::Relaxed);
}

/// While it lives, allocations of all logged threads are published to one ring, with `poller` at
/// its end. Only one may exist at a time.
struct Logged {
    poller: Poller<u64>,
    _turn: MutexGuard<'static, ()>,
}

impl Logged {
    fn new(capacity: usize) -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let (producer, mut consumers) =
            Disruptor::multi_producer(capacity, || 0_u64).stage("log").poller().build().unwrap();
        let poller = consumers.take_poller("log").unwrap();
        *LOG.lock().unwrap() = Some(producer);
        for figure in [&PUBLISHED, &REFUSED, &PANICS] {
            figure.store(0, Ordering::Relaxed);
        }
        Self { poller, _turn }
    }

    /// Publishes what `body` allocates on this thread.
    fn within<R>(&self, body: impl FnOnce() -> R) -> R {
        IS_LOGGED.set(true);
        let result = body();
        IS_LOGGED.set(false);
        result
    }

    /// The numbers of allocations that were published, refused because the ring was full, and
    /// panicked, and of those that the poller got.
    fn figures(mut self) -> (u64, u64, u64, u64) {
        drop(LOG.lock().unwrap().take());
        let mut polled = 0;
        while let Ok(mut batch) = self.poller.poll() {
            polled += batch.iter().count() as u64;
        }
        let [published, refused, panics] =
            [&PUBLISHED, &REFUSED, &PANICS].map(|figure| figure.load(Ordering::Relaxed));
        (published, refused, panics, polled)
    }
}

/// Runs `stages` stages of a ring on this thread until they have handled one event. Returns how
/// many handlers ran.
fn run_stages(stages: usize) -> usize {
    let handled = AtomicU64::new(0);
    let mut ring = Disruptor::single_producer(2, || 0_u64).stage("0").read(|_, _, _| {});
    for name in 1..stages {
        ring = ring
            .stage(name.to_string().as_str())
            .read(|_, _, _| _ = handled.fetch_add(1, Ordering::Relaxed));
    }
    let (mut producer, consumers) = ring.build().unwrap();
    producer.publish(|event| *event = 7).unwrap();
    drop(producer);
    Consumer::run_together(consumers);
    handled.into_inner() as usize + 1
}

/// Makes three workers of a ring handle 100 numbers on this thread, each in a `Box`. Returns the
/// sum.
fn run_workers() -> u64 {
    let sum = AtomicU64::new(0);
    let (mut producer, consumers) = Disruptor::multi_producer(128, || 0_u64)
        .stage("work")
        .workers(3)
        .read(|_| |number: &u64, _, _| _ = sum.fetch_add(*Box::new(*number), Ordering::Relaxed))
        .build()
        .unwrap();
    (0..100).for_each(|number| _ = producer.publish(|event| *event = number).unwrap());
    drop(producer);
    Consumer::run_together(consumers);
    sum.into_inner()
}

#[test]
fn allocator_may_publish_to_a_full_ring_when_a_stage_begins() {
    watched(|| {
        let logged = Logged::new(1);
        assert_eq!(logged.within(|| run_stages(20)), 20);
        let (published, refused, panics, polled) = logged.figures();
        assert_eq!((published, panics, polled), (1, 0, 1));
        assert!(refused > 0, "the list of stages was made while the ring was full");
    });
}

#[test]
fn allocator_that_publishes_misses_no_allocation_of_a_thread_that_runs_stages() {
    watched(|| {
        let logged = Logged::new(1 << 12);
        assert_eq!(logged.within(run_workers), 100 * 99 / 2);
        let (published, refused, panics, polled) = logged.figures();
        assert_eq!((refused, panics, polled), (0, 0, published));
        assert!(published > 0);
    });
}
