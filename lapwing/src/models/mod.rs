//! Models: each runs the library's own code through every interleaving that loom finds, small
//! enough to end. Each one proves rows of [`crate::docs::memory_ordering`]; CONTRIBUTING says how
//! to break a row and see its model fail.
//!
//! The storage tells loom of every borrow of an event, so a slot that is written while it is read
//! fails the model even if no wrong value is seen. A lost wake-up fails it as a deadlock.

mod channel;
mod closing;
mod fused;
mod joining;
mod keyed;
mod leaving;
mod monitoring;
mod open_claim;
mod parking;
mod publication;
mod tap;
mod workers;

use crate::consumer::{Access, Batch};
use crate::error::PollError;
use crate::producer::{Multi, Sequencer, Single};
use crate::protocol::parking::asymmetric::IS_LIGHT_NOTHING;
use crate::wait::{Blocking, BusySpin};
use crate::{Builder, Disruptor, MultiProducer, Poller, Producer, Sequence, SingleProducer, Stage};

/// Runs a model in which nobody parks or closes, without the fences that only those need.
pub(super) fn check_without_fences(model: impl Fn() + Sync + Send + 'static) {
    IS_LIGHT_NOTHING.set(true);
    loom::model(model);
    IS_LIGHT_NOTHING.set(false);
}

/// As `loom::model`, with two preemptions: for models of three threads, or of many steps.
pub(super) fn check_less(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(model);
}

/// What somebody has seen: events and their sequences, in order.
pub(super) type Taken = Vec<(Sequence, u64)>;

/// Parks without looking twice.
const PARK: Blocking = Blocking { yields: 0 };

/// A ring for one producer in which everybody parks.
pub(super) fn single_ring(capacity: usize) -> Builder<'static, u64, Single> {
    Disruptor::single_producer(capacity, || 0_u64).wait(PARK).producer_wait(PARK)
}

/// A ring for several producers in which everybody parks.
pub(super) fn multi_ring(capacity: usize) -> Builder<'static, u64, Multi> {
    Disruptor::multi_producer(capacity, || 0_u64).wait(PARK).producer_wait(PARK)
}

/// A ring with one stage, for one producer.
pub(super) fn single(capacity: usize) -> (SingleProducer<u64>, Poller<u64>) {
    polled(single_ring(capacity))
}

/// As [`single`], with a poller that looks by itself.
pub(super) fn spinning(capacity: usize) -> (SingleProducer<u64>, Poller<u64>) {
    polled(single_ring(capacity).wait(BusySpin))
}

/// As [`single`], with a poller that gets one event at a time.
pub(super) fn in_parts(capacity: usize) -> (SingleProducer<u64>, Poller<u64>) {
    polled_by(single_ring(capacity), Stage::new("a").max_batch(1))
}

/// A ring with one stage, for several producers.
pub(super) fn multi(capacity: usize) -> (MultiProducer<u64>, Poller<u64>) {
    polled(multi_ring(capacity))
}

/// `ring` with one stage, a poller.
fn polled<S: Sequencer>(ring: Builder<'static, u64, S>) -> (Producer<u64, S>, Poller<u64>) {
    polled_by(ring, Stage::new("a"))
}

/// `ring` with one stage, the poller `a`.
fn polled_by<S: Sequencer>(
    ring: Builder<'static, u64, S>,
    a: Stage,
) -> (Producer<u64, S>, Poller<u64>) {
    let (producer, mut consumers) = ring.stage(a).poller().build().unwrap();
    (producer, consumers.take_poller("a").unwrap())
}

/// A ring of one slot with two stages side by side.
pub(super) fn side_by_side() -> (SingleProducer<u64>, Poller<u64>, Poller<u64>) {
    let (producer, mut consumers) = single_ring(1)
        .side_by_side(|side| side.stage("left").poller().stage("right").poller())
        .build()
        .unwrap();
    let left = consumers.take_poller("left").unwrap();
    (producer, left, consumers.take_poller("right").unwrap())
}

/// What one poll finds and consumes.
pub(super) fn take<A: Access>(poller: &mut Poller<u64, A>) -> Result<Taken, PollError> {
    poller.poll().map(consumed)
}

/// What one round of looks finds and consumes, of a poller that spins.
pub(super) fn take_by_spinning(poller: &mut Poller<u64>) -> Option<Taken> {
    poller.await_once().map(consumed)
}

/// The events of `batch`, all of them consumed.
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
