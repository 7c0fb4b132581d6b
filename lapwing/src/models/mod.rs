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
mod parking;
mod publication;
mod tap;
mod workers;

use crate::wait::asymmetric::IS_LIGHT_NOTHING;
use crate::wait::{Blocking, BusySpin};
use crate::{
    Access, Builder, Disruptor, Multi, MultiProducer, PollError, Poller, Sequence, Single,
    SingleProducer,
};

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
    let (producer, mut consumers) = single_ring(capacity).then_poller("a").build().unwrap();
    (producer, consumers.take_poller("a").unwrap())
}

/// As [`single`], with a poller that looks by itself.
pub(super) fn spinning(capacity: usize) -> (SingleProducer<u64>, Poller<u64>) {
    let ring = single_ring(capacity).wait(BusySpin).then_poller("a");
    let (producer, mut consumers) = ring.build().unwrap();
    (producer, consumers.take_poller("a").unwrap())
}

/// A ring with one stage, for several producers.
pub(super) fn multi(capacity: usize) -> (MultiProducer<u64>, Poller<u64>) {
    let (producer, mut consumers) = multi_ring(capacity).then_poller("a").build().unwrap();
    (producer, consumers.take_poller("a").unwrap())
}

/// A ring of one slot with two stages side by side.
pub(super) fn side_by_side() -> (SingleProducer<u64>, Poller<u64>, Poller<u64>) {
    let (producer, mut consumers) =
        single_ring(1).then_all(|side| side.poller("left").poller("right")).build().unwrap();
    let left = consumers.take_poller("left").unwrap();
    (producer, left, consumers.take_poller("right").unwrap())
}

/// What one poll finds and consumes.
pub(super) fn take<A: Access>(
    poller: &mut Poller<u64, A>,
) -> Result<Vec<(Sequence, u64)>, PollError> {
    poller
        .poll()
        .map(|mut batch| batch.iter().map(|(sequence, event)| (sequence, *event)).collect())
}

/// What one round of looks finds and consumes, of a poller that spins.
pub(super) fn take_by_spinning(poller: &mut Poller<u64>) -> Vec<(Sequence, u64)> {
    let batch = poller.await_once();
    batch.map_or(Vec::new(), |mut batch| batch.iter().map(|(at, event)| (at, *event)).collect())
}

/// Polls until the ring is closed and drained.
pub(super) fn drain<A: Access>(poller: &mut Poller<u64, A>) -> Vec<(Sequence, u64)> {
    let mut all = Vec::new();
    loop {
        match take(poller) {
            Ok(events) => all.extend(events),
            Err(PollError::Empty) => loom::thread::yield_now(),
            Err(PollError::Closed | PollError::Halted) => return all,
        }
    }
}
