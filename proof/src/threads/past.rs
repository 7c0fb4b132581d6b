//! What a consumer has done, and what follows from what its handler does. A judge of notes and a judge
//! in line go by the same rules.

use std::ops::Range;

use lapwing::consumer::Outcome;
use lapwing::error::HaltCause;
use lapwing::{Action, Sequence};

use super::program::{Policy, Verdict, message};

/// What a consumer has done.
#[derive(Debug, Clone, Default)]
pub(super) struct Past {
    /// The first sequence, and the next one of a consumer that gets all events.
    pub(super) start: Sequence,
    pub(super) next: Sequence,
    /// Number of events that it has finished, and of those among them that it skipped as failed.
    pub(super) handled: u64,
    pub(super) skipped: u64,
    pub(super) end: Ending,
}

/// Why a consumer ended.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) enum Ending {
    /// It has not said.
    #[default]
    Open,
    /// It did this itself.
    Own(Outcome),
    /// A poller left, or was told that the ring is drained or halted.
    Left,
    Closed,
    Halted(HaltCause),
}

impl Past {
    /// Of a consumer that begins at `start`.
    pub(super) fn new(start: Sequence) -> Self {
        Self { start, next: start, ..Self::default() }
    }

    /// Whether the consumer has left the ring by itself, and did not halt it.
    pub(super) fn has_left(&self) -> bool {
        matches!(&self.end, Ending::Left | Ending::Own(Outcome::Stopped | Outcome::Detached { .. }))
    }

    pub(super) fn add(&mut self, effect: &Effect) {
        self.next = effect.finished.end;
        self.handled += effect.finished.end - effect.finished.start;
        self.skipped += effect.skipped.end - effect.skipped.start;
        if let Some(outcome) = &effect.outcome {
            self.end = Ending::Own(outcome.clone());
        }
    }
}

/// What an action does to a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Effect {
    /// The events that are finished, from the first one of the batch on. The next event is at their
    /// end.
    pub(super) finished: Range<Sequence>,
    /// Those of them that are skipped as failed.
    pub(super) skipped: Range<Sequence>,
    /// How the stage ends, if it does.
    pub(super) outcome: Option<Outcome>,
    pub(super) restarts: bool,
}

impl Effect {
    /// All `events` are finished.
    pub(super) fn of_all(events: Range<Sequence>) -> Self {
        Self { skipped: events.end..events.end, finished: events, outcome: None, restarts: false }
    }
}

/// A failure of a handler at an event.
#[derive(Debug, Clone, Copy)]
struct Failure {
    at: Sequence,
    is_panic: bool,
}

/// What failed again counts as one more attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Again {
    #[default]
    Nothing,
    Event(Sequence),
    Batch(Sequence),
}

/// A decision of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) sequence: Sequence,
    pub(super) attempt: u32,
    pub(super) action: Action,
    pub(super) is_panic: bool,
}

/// What a stage does after failures.
#[derive(Debug, Clone)]
pub(super) struct Reactions {
    pub(super) on_error: Policy,
    pub(super) on_panic: Policy,
    again: Again,
    attempt: u32,
}

impl Reactions {
    pub(super) fn new(on_error: Policy, on_panic: Policy) -> Self {
        Self { on_error, on_panic, again: Again::default(), attempt: 0 }
    }

    /// What follows from a verdict about `events` of the batch that begins at `batch`, which the
    /// handler gave at the event `at`. Returns the decision of the policy too, if it was asked.
    pub(super) fn follow(
        &mut self,
        verdict: Verdict,
        at: Sequence,
        events: Range<Sequence>,
        batch: Sequence,
    ) -> (Effect, Option<Decision>) {
        let (action, failure, decision) = match verdict {
            Verdict::Says(action) => (action, None, None),
            Verdict::Sleeps(_) => (Action::Continue, None, None),
            Verdict::Fails | Verdict::Panics => {
                let is_panic = verdict == Verdict::Panics;
                let (policy, decision) = self.decide(is_panic, events.start, batch);
                let asked = (!matches!(policy, Policy::None)).then_some(decision);
                (decision.action, Some(Failure { at, is_panic }), asked)
            }
        };
        (effect(action, failure, events, batch), decision)
    }

    /// What the policy decides about a failure of the event `sequence`.
    fn decide(
        &mut self,
        is_panic: bool,
        sequence: Sequence,
        batch: Sequence,
    ) -> (Policy, Decision) {
        let is_again = [Again::Event(sequence), Again::Batch(batch)].contains(&self.again);
        self.attempt = if is_again { self.attempt + 1 } else { 1 };
        let policy = if is_panic { self.on_panic } else { self.on_error };
        let (attempt, action) = (self.attempt, policy.action(self.attempt));
        self.again = match action {
            Action::Retry(_) | Action::Restart(_) => Again::Event(sequence),
            Action::Rewind(_) => Again::Batch(batch),
            _ => Again::Nothing,
        };
        (policy, Decision { sequence, attempt, action, is_panic })
    }
}

/// What `action` does to `events`, the next ones of the batch that begins at `batch`.
fn effect(
    action: Action,
    failure: Option<Failure>,
    events: Range<Sequence>,
    batch: Sequence,
) -> Effect {
    let up_to = |end| Effect::of_all(batch..end);
    match action {
        Action::Continue | Action::ReleaseNow => up_to(events.end),
        Action::Skip => Effect { skipped: events.clone(), ..up_to(events.end) },
        Action::Rewind(_) => up_to(batch),
        Action::Retry(_) => up_to(events.start),
        Action::Restart(_) => Effect { restarts: true, ..up_to(events.start) },
        _ => {
            // Of the actions that end a stage, one takes the event with it.
            let end = if action == Action::SkipAndStop { events.end } else { events.start };
            let outcome = Some(outcome(action, failure, events.start));
            Effect { skipped: events.start..end, outcome, ..up_to(end) }
        }
    }
}

/// How a stage ends by its own action.
fn outcome(action: Action, failure: Option<Failure>, sequence: Sequence) -> Outcome {
    let text = |failure: Failure| message(failure.at);
    match (action, failure) {
        (Action::Stop | Action::SkipAndStop, None) => Outcome::Stopped,
        (Action::Stop | Action::SkipAndStop, Some(failure)) => {
            Outcome::Detached { message: text(failure), sequence }
        }
        (_, None) => Outcome::Halted,
        (_, Some(failure)) if failure.is_panic => {
            Outcome::Panicked { message: text(failure), sequence }
        }
        (_, Some(failure)) => Outcome::Failed { message: text(failure), sequence },
    }
}
