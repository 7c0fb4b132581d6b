//! Tests what happens to an event for each result of its handler: an action, an error or a panic,
//! in every form of a stage. Names that begin with `c` and a number are scenarios of the
//! conformance suite for the original. Not here: panics without a policy (`panics.rs`).
//!
//! One model in `scenario.rs` says what a stage does. `table.rs` and `random.rs` hold stages against
//! it: a case is a `Scenario`, a form of a stage with a script of what its code does. The other files
//! have what the model leaves out: pauses, ends of the ring, downstream stages, and code of users.

#[path = "../common/mod.rs"]
mod common;

mod attempts;
mod batches;
mod between_batches;
mod callers;
mod endings;
mod exclusive;
mod fates;
mod pauses;
mod random;
mod reasons;
mod scenario;
mod stopping;
mod table;
mod user_code;

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Kind, ON_PURPOSE};
use lapwing::consumer::{
    Access, BatchHandler, Consumer, Done, Failure, FailurePolicy, Outcome, StageReport,
};
use lapwing::error::PublishError;
use lapwing::lifecycle::RunError;
use lapwing::producer::Sequencer;
use lapwing::{Action, Builder, Consumers, EventHandler, Report, Sequence, Stage};

/// The return type of most handlers here.
type Said = Result<Action, &'static str>;

type Ring<K> = Builder<'static, u64, <K as Kind>::Sequencer>;

/// Every action, first those that let the stage go on.
const ACTIONS: [Action; 9] = [
    Action::Continue,
    Action::ReleaseNow,
    Action::Skip,
    Action::Retry(Duration::ZERO),
    Action::Rewind(Duration::ZERO),
    Action::Restart(Duration::ZERO),
    Action::Stop,
    Action::SkipAndStop,
    Action::Halt,
];

/// The actions that let the stage go on.
const SURVIVALS: &[Action] = ACTIONS.split_at(6).0;

/// A call of the code of a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Call {
    Start,
    /// Size of the batch and depth of the queue.
    BatchStart(u64, u64),
    /// The event, and whether its batch ends with it.
    Event(Sequence, bool),
    Failed(Sequence, bool),
    Batch(Range<Sequence>),
    FailedBatch(Range<Sequence>),
    Released(Sequence),
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
            Self::Event(sequence, _) | Self::Failed(sequence, _) => Some(*sequence..sequence + 1),
            Self::Batch(range) | Self::FailedBatch(range) => Some(range.clone()),
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

    /// The calls of a policy: sequence and attempt.
    fn asked(&self) -> Vec<(Sequence, u32)> {
        let asked = |call| match call {
            Call::Policy(sequence, attempt) => Some((sequence, attempt)),
            _ => None,
        };
        self.calls().into_iter().filter_map(asked).collect()
    }

    /// A policy that logs its calls, and then does what `policy` decides.
    fn policy(&self, mut policy: impl FailurePolicy) -> impl FailurePolicy {
        let log = self.clone();
        move |failure: &Failure<'_>| {
            log.push(Call::Policy(failure.sequence(), failure.attempt()));
            policy.decide(failure)
        }
    }
}

/// A handler that logs each call and does what `act` decides. Of the results, those for events are
/// used. Of other calls, only a panic has an effect.
struct Spy {
    log: Log,
    act: Box<dyn FnMut(&Call) -> Said + Send>,
    /// How many events of each batch it says it has finished.
    finishes: usize,
}

impl Spy {
    fn new(log: &Log, act: impl FnMut(&Call) -> Said + Send + 'static) -> Self {
        Self { log: log.clone(), act: Box::new(act), finishes: 0 }
    }

    fn call(&mut self, call: Call) -> Said {
        self.log.push(call.clone());
        (self.act)(&call)
    }

    /// Sets `done` twice, because the last time counts.
    fn finish(&self, mut done: Done<'_>) {
        done.set(1);
        done.set(self.finishes);
    }
}

/// Defines the calls that handlers of events and of batches have in common.
macro_rules! calls_of_a_handler {
    () => {
        fn on_start(&mut self) {
            _ = self.call(Call::Start);
        }

        fn on_released(&mut self, next_sequence: Sequence) {
            _ = self.call(Call::Released(next_sequence));
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
    };
}

impl<A: Access> EventHandler<u64, A, Said> for Spy {
    calls_of_a_handler!();

    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        _ = self.call(Call::BatchStart(batch_size, queue_depth));
    }

    fn on_event(&mut self, _: A::Ref<'_, u64>, at: Sequence, end_of_batch: bool) -> Said {
        self.call(Call::Event(at, end_of_batch))
    }

    fn on_failed_event(
        &mut self,
        _: A::Ref<'_, u64>,
        at: Sequence,
        end_of_batch: bool,
        failure: &Failure<'_>,
    ) -> Said {
        assert_eq!(failure.sequence(), at);
        self.call(Call::Failed(at, end_of_batch))
    }
}

impl<A: Access> BatchHandler<u64, A, Said> for Spy {
    calls_of_a_handler!();

    fn on_batch(&mut self, events: A::Slice<'_, u64>, first: Sequence, done: Done<'_>) -> Said {
        self.finish(done);
        self.call(Call::Batch(first..first + A::events(events).len() as u64))
    }

    fn on_failed_batch(
        &mut self,
        events: A::Slice<'_, u64>,
        first: Sequence,
        done: Done<'_>,
        failure: &Failure<'_>,
    ) -> Said {
        assert_eq!(failure.sequence(), first);
        self.finish(done);
        self.call(Call::FailedBatch(first..first + A::events(events).len() as u64))
    }
}

/// The form of a stage: a closure or a handler, reading or writing, for each event or each batch.
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
    const ALL: [Self; 8] = [
        Self::Event,
        Self::EventMut,
        Self::Batch,
        Self::BatchMut,
        Self::Handler,
        Self::HandlerMut,
        Self::BatchHandler,
        Self::BatchHandlerMut,
    ];

    fn is_by_batch(self) -> bool {
        use Form::{Batch, BatchHandler, BatchHandlerMut, BatchMut};
        matches!(self, Batch | BatchMut | BatchHandler | BatchHandlerMut)
    }

    fn is_handler(self) -> bool {
        use Form::{BatchHandler, BatchHandlerMut, Handler, HandlerMut};
        matches!(self, Handler | HandlerMut | BatchHandler | BatchHandlerMut)
    }

    /// Whether it has `on_batch_start`.
    fn announces(self) -> bool {
        matches!(self, Self::Handler | Self::HandlerMut)
    }

    /// Adds `spy` to `ring` in this form.
    fn add<S: Sequencer>(
        self,
        ring: Builder<'static, u64, S>,
        stage: Stage,
        mut spy: Spy,
    ) -> Builder<'static, u64, S> {
        let batch = |events: &[u64], first| Call::Batch(first..first + events.len() as u64);
        let ring = ring.stage(stage);
        match self {
            Self::Event => ring.read(move |_, at, is_end| spy.call(Call::Event(at, is_end))),
            Self::EventMut => ring.write(move |_, at, is_end| spy.call(Call::Event(at, is_end))),
            Self::Batch => ring.read_batch(move |events, at| spy.call(batch(events, at))),
            Self::BatchMut => ring.write_batch(move |events, at| spy.call(batch(events, at))),
            Self::Handler => ring.read_handler(spy),
            Self::HandlerMut => ring.write_handler(spy),
            Self::BatchHandler => ring.read_batch_handler(spy),
            Self::BatchHandlerMut => ring.write_batch_handler(spy),
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
fn drain<S: Sequencer>(ring: Builder<'_, u64, S>, events: u64) -> Vec<StageReport> {
    fill(ring, events).into_iter().map(Consumer::run).collect()
}

/// Like [`drain`], but the stages take turns.
fn drain_together<S: Sequencer>(ring: Builder<'_, u64, S>, events: u64) -> Vec<StageReport> {
    Consumer::run_together(fill(ring, events))
}

fn fill<S: Sequencer>(ring: Builder<'_, u64, S>, events: u64) -> Consumers<'_, u64> {
    let (mut producer, consumers) = ring.build().unwrap();
    for value in 0..events {
        assert_eq!(producer.publish(|event| *event = value), Ok(value));
    }
    consumers
}

/// Runs the stages of `ring` on their threads, publishes `events` events, each of which equals its
/// number, and shuts the ring down.
fn run_threads<S: Sequencer>(
    ring: Builder<'static, u64, S>,
    events: u64,
) -> Result<Report, RunError> {
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    for value in 0..events {
        producer.publish(|event| *event = value).unwrap();
    }
    running.shutdown()
}

/// Runs the stages of `ring` on their threads, and publishes until that is an error. Returns it.
fn run_to_error<S: Sequencer>(
    ring: Builder<'static, u64, S>,
) -> (PublishError, Result<Report, RunError>) {
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    let error = loop {
        if let Err(error) = producer.publish(|_| {}) {
            break error;
        }
    };
    (error, running.join())
}

/// Returns the only stage of [`drain`].
fn drain_one<S: Sequencer>(ring: Builder<'_, u64, S>, events: u64) -> StageReport {
    let mut finished = drain(ring, events);
    assert_eq!(finished.len(), 1);
    finished.remove(0)
}

/// Returns the counts of a stage: processed and skipped.
fn counts(finished: &StageReport) -> (u64, u64) {
    (finished.processed(), finished.skipped())
}

fn message() -> String {
    ON_PURPOSE.to_owned()
}

fn failed_at(sequence: Sequence) -> Outcome {
    Outcome::Failed { message: message(), sequence }
}

fn detached_at(sequence: Sequence) -> Outcome {
    Outcome::Detached { message: message(), sequence }
}
