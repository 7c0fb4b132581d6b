//! Models: loom runs each one, the library's own code in a few threads, through every interleaving.
//! A model is small enough to end. Each proves rows of [`crate::docs::memory_ordering`], or an
//! invariant of [`crate::docs::unsafe_code`]; its comment begins with the id. CONTRIBUTING says how
//! to break a row and see its model fail.
//!
//! The storage reports every borrow of an event to loom, so a write to a slot that is being read
//! fails the model even if no wrong value is seen. A lost wake-up fails it as a deadlock.

mod channel;
mod ends;
mod fused;
mod keyed;
mod monitoring;
mod open_claim;
mod tap;
// I5: makes the readers of workers.
#[allow(unsafe_code)]
mod workers;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use lapwing_core::sync::IS_LIGHT_NOTHING;

use crate::consumer::{Access, Batch};
use crate::error::PollError;
use crate::producer::{Multi, Sequencer, Single};
use crate::wait::{Blocking, BusySpin, Sleeping};
use crate::{Builder, Disruptor, MultiProducer, Poller, Producer, Sequence, SingleProducer, Stage};

/// Runs a model with as many preemptions as `LOOM_MAX_PREEMPTIONS` says.
pub(super) fn check(model: impl Fn() + Sync + Send + 'static) {
    run(&loom::model::Builder::new(), model);
}

/// The same for a model in which no thread parks or closes the ring, without the fences that only
/// these need.
pub(super) fn check_without_fences(model: impl Fn() + Sync + Send + 'static) {
    IS_LIGHT_NOTHING.set(true);
    check(model);
    IS_LIGHT_NOTHING.set(false);
}

/// Runs a model with at most two preemptions: for models of three threads, or of many steps.
pub(super) fn check_less(model: impl Fn() + Sync + Send + 'static) {
    check_up_to(2, model);
}

/// Runs a model with at most this many preemptions.
pub(super) fn check_up_to(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    run(&builder, model);
}

/// Runs a model and prints the number of its executions, which `ci/models.sh` adds up.
fn run(builder: &loom::model::Builder, model: impl Fn() + Sync + Send + 'static) {
    let executions = Arc::new(Mutex::new(0_u64));
    let counted = Arc::clone(&executions);
    builder.check(move || {
        *counted.lock().unwrap() += 1;
        model();
    });
    println!("executions: {}", executions.lock().unwrap());
}

/// The events that a consumer has seen, with their sequences, in order.
pub(super) type Taken = Vec<(Sequence, u64)>;

/// Parks after the first failed poll.
const PARK: Blocking = Blocking { yields: 0 };

/// Sleeps without a mark after the first failed poll. Loom has no time, so such a sleep ends by a
/// wake-up or never.
const SLEEP: Sleeping = Sleeping { spins: 0, yields: 0, sleep: Duration::from_secs(10) };

/// A ring with one producer in which every thread parks.
pub(super) fn single_ring(capacity: usize) -> Builder<'static, u64, Single> {
    Disruptor::single_producer(capacity, || 0_u64).wait_strategy(PARK).producer_wait_strategy(PARK)
}

/// A ring with several producers in which every thread parks.
pub(super) fn multi_ring(capacity: usize) -> Builder<'static, u64, Multi> {
    Disruptor::multi_producer(capacity, || 0_u64).wait_strategy(PARK).producer_wait_strategy(PARK)
}

/// A ring with one producer and one stage.
pub(super) fn single(capacity: usize) -> (SingleProducer<u64>, Poller<u64>) {
    polled(single_ring(capacity))
}

/// A ring with one producer, and a poller that spins.
pub(super) fn spinning(capacity: usize) -> (SingleProducer<u64>, Poller<u64>) {
    polled(single_ring(capacity).wait_strategy(BusySpin))
}

/// A ring with one producer, and a poller that gets one event at a time.
pub(super) fn in_parts(capacity: usize) -> (SingleProducer<u64>, Poller<u64>) {
    polled_by(single_ring(capacity), Stage::new("a").max_batch(1))
}

/// A ring with several producers and one stage.
pub(super) fn multi(capacity: usize) -> (MultiProducer<u64>, Poller<u64>) {
    polled(multi_ring(capacity))
}

/// Builds `ring` with one stage, a poller.
fn polled<S: Sequencer>(ring: Builder<'static, u64, S>) -> (Producer<u64, S>, Poller<u64>) {
    polled_by(ring, Stage::new("a"))
}

/// Builds `ring` with one stage, the poller `a`.
fn polled_by<S: Sequencer>(
    ring: Builder<'static, u64, S>,
    a: Stage,
) -> (Producer<u64, S>, Poller<u64>) {
    let (producer, mut consumers) = ring.stage(a).poller().build().unwrap();
    (producer, consumers.take_poller("a").unwrap())
}

/// A ring of one slot with two stages side by side.
pub(super) fn parallel() -> (SingleProducer<u64>, Poller<u64>, Poller<u64>) {
    let (producer, mut consumers) = single_ring(1)
        .parallel(|parallel| parallel.stage("left").poller().stage("right").poller())
        .build()
        .unwrap();
    let left = consumers.take_poller("left").unwrap();
    (producer, left, consumers.take_poller("right").unwrap())
}

/// Returns what one poll finds, after consuming it.
pub(super) fn take<A: Access>(poller: &mut Poller<u64, A>) -> Result<Taken, PollError> {
    poller.poll().map(consumed)
}

/// Returns what one round of polls of a spinning poller finds, after consuming it.
pub(super) fn take_by_spinning(poller: &mut Poller<u64>) -> Option<Taken> {
    poller.await_once().map(consumed)
}

/// Consumes and returns the events of `batch`.
fn consumed<A: Access>(mut batch: Batch<'_, u64, A>) -> Taken {
    batch.iter().map(|(sequence, event)| (sequence, *event)).collect()
}

/// Polls until the ring is closed and drained.
pub(super) fn drain<A: Access>(poller: &mut Poller<u64, A>) -> Taken {
    let mut all = Vec::new();
    loop {
        match take(poller) {
            Ok(events) => all.extend(events),
            Err(PollError::Empty) => loom::thread::yield_now(),
            Err(PollError::Closed | PollError::Halted(_)) => return all,
        }
    }
}
