//! Tests what happens to an event for each result of its handler: an action, an error or a panic,
//! in every form of a stage. Names that begin with `c` and a number are scenarios of the
//! conformance suite for the original. Not here: panics without a policy (`panics.rs`).

#[path = "../common/mod.rs"]
mod common;

mod actions;
mod attempts;
mod batches;
mod between_batches;
mod callers;
mod endings;
mod exclusive;
mod failed_events;
mod marks;
mod parts;
mod pauses;
mod random;
mod reasons;
mod stopping;
mod together;
mod user_code;

use std::ops::Range;
use std::sync::{Arc, Mutex};

use common::{Kind, ON_PURPOSE};
use lapwing::consumer::{Access, BatchHandler, Consumer, Done, Failure, Finished, Outcome};
use lapwing::producer::Sequencer;
use lapwing::{Action, Builder, Consumers, EventHandler, Sequence, Stage};

/// The return type of most handlers here.
type Said = Result<Action, &'static str>;

type Ring<K> = Builder<'static, u64, <K as Kind>::Sequencer>;

/// A call of a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Call {
    Start,
    /// Size of the batch and depth of the queue.
    BatchStart(u64, u64),
    Event(Sequence),
    Failed(Sequence),
    Batch(Range<Sequence>),
    Timeout(Sequence),
    Restart,
    Shutdown,
    /// A call of its policy: sequence and attempt.
    Policy(Sequence, u32),
}

impl Call {
    /// The events of the call, if it has any.
    fn events(&self) -> Option<Range<Sequence>> {
        match self {
            Self::Event(sequence) | Self::Failed(sequence) => Some(*sequence..sequence + 1),
            Self::Batch(range) => Some(range.clone()),
            _ => None,
        }
    }

    fn includes(&self, sequence: Sequence) -> bool {
        self.events().is_some_and(|events| events.contains(&sequence))
    }
}

/// The calls of the stages that share it, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Call>>>);

impl Log {
    fn push(&self, call: Call) {
        self.0.lock().unwrap().push(call);
    }

    fn calls(&self) -> Vec<Call> {
        self.0.lock().unwrap().clone()
    }

    /// The events of the calls, one range per call.
    fn events(&self) -> Vec<Range<Sequence>> {
        self.calls().iter().filter_map(Call::events).collect()
    }

    /// The events of the calls, one by one.
    fn sequences(&self) -> Vec<Sequence> {
        self.events().into_iter().flatten().collect()
    }

    fn count(&self, call: &Call) -> usize {
        self.calls().iter().filter(|each| *each == call).count()
    }
}

/// A handler that logs each call and does what `act` decides.
struct Spy<F> {
    log: Log,
    act: F,
}

impl<F: FnMut(&Call) -> Said> Spy<F> {
    fn new(log: &Log, act: F) -> Self {
        Self { log: log.clone(), act }
    }

    fn call(&mut self, call: Call) -> Said {
        self.log.push(call.clone());
        (self.act)(&call)
    }
}

/// The result of `on_event` is used. Of other calls, only a panic has an effect.
impl<A: Access, F: FnMut(&Call) -> Said> EventHandler<u64, A, Said> for Spy<F> {
    fn on_start(&mut self) {
        _ = self.call(Call::Start);
    }

    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        _ = self.call(Call::BatchStart(batch_size, queue_depth));
    }

    fn on_event(&mut self, _: A::Ref<'_, u64>, sequence: Sequence, _: bool) -> Said {
        self.call(Call::Event(sequence))
    }

    fn on_failed_event(
        &mut self,
        _: A::Ref<'_, u64>,
        sequence: Sequence,
        _: bool,
        _: &Failure<'_>,
    ) -> Said {
        self.call(Call::Failed(sequence))
    }

    fn on_timeout(&mut self, next_sequence: Sequence) {
        _ = self.call(Call::Timeout(next_sequence));
    }

    fn on_restart(&mut self) {
        _ = self.call(Call::Restart);
    }

    fn on_shutdown(&mut self) {
        _ = self.call(Call::Shutdown);
    }
}

/// The same for batches. It finishes nothing before its end.
impl<A: Access, F: FnMut(&Call) -> Said> BatchHandler<u64, A, Said> for Spy<F> {
    fn on_start(&mut self) {
        _ = self.call(Call::Start);
    }

    fn on_batch(&mut self, events: A::Slice<'_, u64>, first: Sequence, _: Done<'_>) -> Said {
        self.call(Call::Batch(first..first + A::events(events).len() as u64))
    }

    fn on_timeout(&mut self, next_sequence: Sequence) {
        _ = self.call(Call::Timeout(next_sequence));
    }

    fn on_restart(&mut self) {
        _ = self.call(Call::Restart);
    }

    fn on_shutdown(&mut self) {
        _ = self.call(Call::Shutdown);
    }
}

/// The form of a stage: a handler or a closure, reading or writing.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Event,
    EventMut,
    Batch,
    BatchMut,
    Handler,
    HandlerMut,
    BatchHandler,
    BatchHandlerMut,
}

impl Form {
    fn is_by_batch(self) -> bool {
        use Form::{Batch, BatchHandler, BatchHandlerMut, BatchMut};
        matches!(self, Batch | BatchMut | BatchHandler | BatchHandlerMut)
    }

    fn is_handler(self) -> bool {
        use Form::{BatchHandler, BatchHandlerMut, Handler, HandlerMut};
        matches!(self, Handler | HandlerMut | BatchHandler | BatchHandlerMut)
    }

    /// Adds `spy` to `ring` in this form.
    fn add<S: Sequencer, F: FnMut(&Call) -> Said + Send + 'static>(
        self,
        ring: Builder<'static, u64, S>,
        stage: Stage,
        mut spy: Spy<F>,
    ) -> Builder<'static, u64, S> {
        let batch = |events: &[u64], first| Call::Batch(first..first + events.len() as u64);
        match self {
            Self::Event => ring.stage(stage).read(move |_, at, _| spy.call(Call::Event(at))),
            Self::EventMut => ring.stage(stage).write(move |_, at, _| spy.call(Call::Event(at))),
            Self::Batch => {
                ring.stage(stage).read_batch(move |events, at| spy.call(batch(events, at)))
            }
            Self::BatchMut => {
                ring.stage(stage).write_batch(move |events, at| spy.call(batch(events, at)))
            }
            Self::Handler => ring.stage(stage).read_handler(spy),
            Self::HandlerMut => ring.stage(stage).write_handler(spy),
            Self::BatchHandler => ring.stage(stage).read_batch_handler(spy),
            Self::BatchHandlerMut => ring.stage(stage).write_batch_handler(spy),
        }
    }
}

/// The fate of each event, as a downstream stage sees it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Book {
    done: Vec<Sequence>,
    failed: Vec<Sequence>,
}

impl<E, A: Access> EventHandler<E, A> for Book {
    fn on_event(&mut self, _: A::Ref<'_, E>, sequence: Sequence, _: bool) {
        self.done.push(sequence);
    }

    fn on_failed_event(&mut self, _: A::Ref<'_, E>, sequence: Sequence, _: bool, _: &Failure<'_>) {
        self.failed.push(sequence);
    }
}

/// Publishes `events` events, which must fit the ring; each equals its sequence. Closes the ring
/// and runs its stages to their ends on this thread, one after another, so that each finds all its
/// events available.
fn drain<S: Sequencer>(ring: Builder<'_, u64, S>, events: u64) -> Vec<Finished> {
    fill(ring, events).into_iter().map(Consumer::run).collect()
}

/// Like [`drain`], but the stages take turns.
fn drain_together<S: Sequencer>(ring: Builder<'_, u64, S>, events: u64) -> Vec<Finished> {
    Consumer::run_together(fill(ring, events))
}

fn fill<S: Sequencer>(ring: Builder<'_, u64, S>, events: u64) -> Consumers<'_, u64> {
    let (mut producer, consumers) = ring.build().unwrap();
    for value in 0..events {
        assert_eq!(producer.publish(|event| *event = value), Ok(value));
    }
    consumers
}

/// Returns the only stage of [`drain`].
fn drain_one<S: Sequencer>(ring: Builder<'_, u64, S>, events: u64) -> Finished {
    let mut finished = drain(ring, events);
    assert_eq!(finished.len(), 1);
    finished.remove(0)
}

/// Returns the counts of a stage: processed and skipped.
fn counts(finished: &Finished) -> (u64, u64) {
    (finished.processed(), finished.skipped())
}

fn message() -> String {
    ON_PURPOSE.to_owned()
}

fn failed_at(sequence: Sequence) -> Outcome {
    Outcome::Failed { message: message(), sequence }
}

fn panicked_at(sequence: Sequence) -> Outcome {
    Outcome::Panicked { message: message(), sequence }
}

fn detached_at(sequence: Sequence) -> Outcome {
    Outcome::Detached { message: message(), sequence }
}
