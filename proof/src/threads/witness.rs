//! What watches a run: either it takes notes that are judged afterwards (`notes`), or it judges each
//! event at once (`in_line`). The threads of a run call it, and do not know which it is.

use std::ops::Range;
use std::time::Duration;

use lapwing::Sequence;
use lapwing::consumer::FailurePolicy;
use lapwing::error::HaltCause;

use super::event::Event;
use super::faults::Fault;
use super::program::{Policy, Verdict};
use super::will::Will;

/// What watches a run. A clone watches the same run.
pub(super) trait Observer: Clone + Send + Sync + 'static {
    /// What watches a consumer.
    type Witness: Witness;
    /// What decides after a failure.
    type Policy: FailurePolicy;
    /// What fills the events of a producer.
    type Pen: Pen;

    fn witness(&self, stage: usize, worker: usize) -> Self::Witness;

    /// Watches the guest with this number, which begins at `start`.
    fn guest(&self, number: usize, start: Sequence) -> Self::Witness;

    fn policy(&self, stage: usize, policy: Policy) -> Self::Policy;

    fn pen(&self, lane: usize) -> Self::Pen;

    /// The seed of the payloads.
    fn seed(&self) -> u64;

    /// A consumer of `stage` is stopped from outside.
    fn stops(&self, stage: usize);

    /// A fault is injected.
    fn injected(&self, fault: Fault);

    /// A number that grows with each call of a producer and of a consumer.
    fn steps(&self) -> u64;

    /// Whether the time of the run is over, if it has one: its producers then repeat their calls.
    fn is_over(&self) -> Option<bool>;
}

/// What a call of a handler is told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    pub(super) sequence: Sequence,
    pub(super) is_last: bool,
    pub(super) is_failed: bool,
}

/// A call of a consumer between batches, or the end of a poller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Start,
    BatchStart {
        size: u64,
        depth: u64,
    },
    Released(Sequence),
    Timeout(Sequence),
    Restart,
    Shutdown,
    /// A poller was told that the ring is drained, or halted.
    Closed,
    Halted(HaltCause),
    /// A poller left.
    Left,
}

/// What watches a consumer. It asks the `will` of the consumer what each call does.
pub(super) trait Witness: Send + 'static {
    /// A call with one event.
    fn event(&mut self, event: &Event, told: Told, will: &mut Will) -> Verdict;

    /// A call with a batch of events that have all failed, or none of which has. The first event
    /// whose verdict does not continue decides; returns where it is.
    fn batch(
        &mut self,
        events: &[Event],
        first: Sequence,
        is_failed: bool,
        will: &mut Will,
    ) -> (Verdict, Sequence);

    /// A batch of a poller, which consumes so many of its events.
    fn polled(
        &mut self,
        events: &[Event],
        first: Sequence,
        is_failed: impl Fn(Sequence) -> bool,
        consumed: usize,
    );

    /// A call without events.
    fn call(&mut self, call: Call);
}

/// What fills the events of a producer, and counts what the calls say about them.
pub(super) trait Pen: Send + 'static {
    /// A call begins.
    fn begin(&mut self);

    /// Makes `slot` the next event of the call.
    fn fill(&mut self, slot: &mut Event);

    /// The filled events are accepted, by the call with this index.
    fn accept(&mut self, sequences: Range<Sequence>, call: usize);

    /// The claim of these slots was given up.
    fn give_up(&mut self, sequences: Range<Sequence>);

    fn sleep(&mut self, time: Duration);
}
