//! The loop of a running stage: wait, handle a batch, release it, until the end. Not here: handlers
//! (`work`), the policy for a failure (`recovery`), steps between batches (`between`), reports of a
//! release (`releasing`), pauses (`pausing`), the end (`ending`).

mod between;
mod pausing;
mod releasing;

mod ending;

use std::any::Any;
use std::marker::PhantomData;
use std::mem;
use std::ops::Range;
use std::sync::Arc as SharedArc;
use std::time::{Duration, Instant};

use crate::Sequence;
use crate::activity::{Activity, Doing};
use crate::catch::catch;
use crate::consumer::access::Access;
use crate::consumer::action::Action;
use crate::consumer::failing::Skipped;
use crate::consumer::failure::Cause;
use crate::consumer::pause::Pause;
use crate::consumer::progress::Progress;
use crate::consumer::recovery::{Decided, Recovery};
use crate::consumer::source::Source;
use crate::consumer::task::{HaltOnDrop, Post, Task, TurnResult};
use crate::consumer::together::longest_turn;
use crate::consumer::work::{Interruption, Work};
use crate::consumer::{Outcome, StageReport};
use crate::error::{HaltCause, PollError};
use crate::failures::{Reason, Trouble};
use crate::on_this_thread::OnThisThread;
use crate::ring::Shared;
use crate::sync::now;
use crate::wait::AnyWaitStrategy;

/// A running stage.
pub(super) struct StageLoop<E, A, S, H, B> {
    name: String,
    source: S,
    work: H,
    hand_back: B,
    timeout: Option<Duration>,
    /// Whether it handles events that upstream stages have skipped like any other.
    takes_failed: bool,
    recovery: Recovery,
    lifeline: HaltOnDrop,
    access: PhantomData<(fn() -> E, A)>,
    progress: Progress,
    /// Whether `on_batch_start` is running. After a panic in it, the next `handle` does not call it
    /// again, unless the stage has paused.
    is_announcing: bool,
    /// Whether a panic has ended the stage. Its handler is not called again.
    is_broken: bool,
    /// Number of events that were skipped as failed.
    skipped: u64,
    /// Whether it shares its thread and takes turns there.
    takes_turns: bool,
    /// The end of its timeout, if it takes turns.
    expires: Option<Instant>,
    /// The pause before it handles an event again, if it takes turns.
    pause: Option<Pause>,
    /// How the stage ended, once it has.
    outcome: Option<Outcome>,
    /// Tells producers on this thread that only this thread advances the stage.
    here: OnThisThread,
}

impl<E, A, S, H, B> StageLoop<E, A, S, H, B> {
    pub(super) fn new(
        name: String,
        post: Post<S>,
        work: H,
        hand_back: B,
        here: OnThisThread,
    ) -> Self {
        let Post { source, timeout, takes_failed, recovery, lifeline } = post;
        Self {
            name,
            source,
            work,
            hand_back,
            timeout,
            takes_failed,
            recovery,
            lifeline,
            access: PhantomData,
            progress: Progress::default(),
            is_announcing: false,
            is_broken: false,
            skipped: 0,
            takes_turns: false,
            expires: None,
            pause: None,
            outcome: None,
            here,
        }
    }
}

impl<E, A, S, H, B> Task for StageLoop<E, A, S, H, B>
where
    A: Access,
    S: Source<E>,
    B: FnOnce(H) -> Option<Box<dyn Any + Send>>,
    H: Work<E, A>,
{
    fn start(&mut self) {
        self.source.activity().set(Doing::Handling);
        if let Err(message) = catch(|| self.work.on_start()) {
            let sequence = self.source.next();
            self.outcome = Some(Outcome::Panicked { message, sequence });
        }
        self.source.activity().set(Doing::Between);
    }

    fn work(&mut self) {
        while self.outcome.is_none() {
            if let Some(outcome) = self.survive(Self::handle_batches) {
                self.outcome = Some(outcome);
            }
        }
    }

    fn share_thread(&mut self) {
        self.takes_turns = true;
        self.source.limit_batch(longest_turn::<E>());
    }

    fn take_turn(&mut self) -> TurnResult {
        if self.outcome.is_none() {
            match self.survive(Self::poll_batch) {
                Some(Ok(turn)) => return turn,
                Some(Err(outcome)) => self.outcome = Some(outcome),
                None => return TurnResult::Handled(None),
            }
        }
        TurnResult::Ended
    }

    fn is_ready(&self) -> bool {
        self.outcome.is_some()
            || match &self.pause {
                Some(pause) => !self.source.is_held_by(pause),
                None => self.source.is_ready(),
            }
    }

    fn is_pausing(&self) -> bool {
        self.pause.is_some()
    }

    fn deadline(&self) -> Option<Instant> {
        self.pause.map_or(self.expires, |pause| pause.until)
    }

    fn fail(&mut self, message: String) {
        self.recover(message);
    }

    fn finish(self: Box<Self>) -> StageReport {
        self.end()
    }

    fn shared(&self) -> &SharedArc<Shared> {
        self.source.shared()
    }

    fn activity(&self) -> &Activity {
        self.source.activity()
    }

    fn copy_strategy(&mut self) -> Box<dyn AnyWaitStrategy> {
        self.source.waiter().0.copy_strategy()
    }
}

impl<E, A: Access, S: Source<E>, H: Work<E, A>, B> StageLoop<E, A, S, H, B> {
    /// Runs user code. `None` after a panic, which may have ended the stage.
    fn survive<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> Option<T> {
        match catch(|| body(self)) {
            Ok(value) => Some(value),
            Err(message) => {
                self.recover(message);
                None
            }
        }
    }

    /// Handles a panic, which may end the stage.
    fn recover(&mut self, message: String) {
        self.outcome = self.panicked(message);
        self.is_broken = self.outcome.is_some();
    }

    fn handle_batches(&mut self) -> Outcome {
        loop {
            let ended = match self.wait() {
                Ok(batch) => self.handle(batch),
                Err(PollError::Empty) if self.source.is_stopping() => Some(Outcome::Stopped),
                Err(PollError::Empty) if self.source.has_transfer() => self.hand_over(),
                Err(PollError::Empty) => {
                    self.expire();
                    None
                }
                Err(PollError::Closed) => Some(Outcome::Drained),
                Err(PollError::Halted(_)) => Some(self.source.halted()),
            };
            if let Some(outcome) = ended {
                return outcome;
            }
        }
    }

    /// Handles one batch, or checks for the timeout if there is none.
    fn poll_batch(&mut self) -> Result<TurnResult, Outcome> {
        if let Some(pause) = self.pause {
            if self.source.is_held_by(&pause) {
                return Ok(TurnResult::Idle);
            }
            self.pause = None;
            if let Some(outcome) = self.resume(pause) {
                return Err(outcome);
            }
        }
        if self.source.is_stopping() {
            return Err(Outcome::Stopped);
        }
        match self.poll() {
            Ok(batch) => {
                self.expires = None;
                self.handle(batch)
                    .map_or_else(|| Ok(TurnResult::Handled(self.source.drained())), Err)
            }
            Err(PollError::Empty) if self.source.has_transfer() => {
                self.hand_over().map_or(Ok(TurnResult::Handled(None)), Err)
            }
            Err(PollError::Empty) if self.source.is_resting() => {
                self.expires = None;
                Ok(TurnResult::Idle)
            }
            Err(PollError::Empty) => {
                if self.expires.is_some_and(|at| at <= now()) {
                    self.expires = None;
                    self.expire();
                    return Ok(TurnResult::TimedOut);
                }
                self.expires = self.expires.or_else(|| self.timeout_from_now());
                Ok(TurnResult::Idle)
            }
            Err(PollError::Closed) => Err(Outcome::Drained),
            Err(PollError::Halted(_)) => Err(self.source.halted()),
        }
    }

    /// Handles one batch. Returns how the stage ends, if it does.
    #[inline(always)]
    fn handle(&mut self, mut batch: Range<Sequence>) -> Option<Outcome> {
        self.source.activity().begin_batch();
        if self.source.failing().is_any_from(batch.start) && !self.takes_failed {
            let (run, skipped) = self.source.failing().first_run(batch);
            if let Some(skipped) = skipped {
                return self.handle_failed(run, &skipped);
            }
            // The next poll returns the rest.
            batch = run;
        }
        self.announce(&batch);
        self.progress.begin(&batch);
        let events = self.source.events::<A>(batch.clone());
        let result = self.work.on_batch(events, batch.start, &self.progress);
        self.settle(result, batch.end)
    }

    /// Handles a batch whose events an upstream stage has skipped in the same way.
    #[cold]
    fn handle_failed(&mut self, batch: Range<Sequence>, skipped: &Skipped) -> Option<Outcome> {
        self.announce(&batch);
        self.progress.begin(&batch);
        let events = self.source.events::<A>(batch.clone());
        let failure = skipped.failure(batch.start);
        let result = self.work.on_failed(events, batch.start, &self.progress, &failure);
        self.settle(result, batch.end)
    }

    /// Announces `batch` to the handler.
    #[inline(always)]
    fn announce(&mut self, batch: &Range<Sequence>) {
        // Still set after a panic in `on_batch_start`.
        if H::LOOKS_AT_DEPTH && !mem::take(&mut self.is_announcing) {
            self.is_announcing = true;
            self.work.on_batch_start(batch.end - batch.start, self.source.available());
            self.is_announcing = false;
        }
    }

    /// Applies the `result` of a batch that ends at `end`. Returns how the stage ends, if it does.
    #[inline(always)]
    fn settle(&mut self, result: Result<(), Interruption>, end: Sequence) -> Option<Outcome> {
        self.progress.end();
        match result {
            Ok(()) => {
                self.source.release(end);
                self.end_batch(end);
                None
            }
            Err(interruption) => self.interrupted(interruption),
        }
    }

    /// Reacts to an action or an error that the handler returned, for an event or for its batch.
    #[cold]
    fn interrupted(&mut self, Interruption { events, verdict }: Interruption) -> Option<Outcome> {
        let sequence = events.start;
        match verdict {
            Ok(action) => self.follow(Ok(action), events, None, None),
            Err(error) => {
                let Self { name, recovery, source, .. } = self;
                let keeps = source.failing().keeps_reasons();
                match recovery.decide_error(name, sequence, source.next(), error, keeps) {
                    Ok(Decided { action, message, kept }) => {
                        let failure = Outcome::Failed { message, sequence };
                        self.follow(Ok(action), events, Some(failure), kept.map(Trouble::Error))
                    }
                    Err(message) => self.follow(Err(message), events, None, None),
                }
            }
        }
    }

    /// Reacts to a panic of the handler, in an event or between batches.
    #[cold]
    fn panicked(&mut self, message: String) -> Option<Outcome> {
        let next = self.source.next();
        let events = match self.progress.within() {
            Some(batch) if H::IS_BY_BATCH => batch,
            Some(batch) => batch.start..batch.start + 1,
            None => next..next,
        };
        self.progress.end();
        let sequence = events.start;
        let Self { name, recovery, source, .. } = self;
        let action =
            catch(|| recovery.decide(name, sequence, source.next(), Cause::Panic(&message)));
        let skips = matches!(action, Ok(Action::Skip | Action::SkipAndStop));
        let is_kept = skips && self.source.failing().keeps_reasons();
        let trouble = is_kept.then(|| Trouble::Panic(message.clone()));
        self.follow(action, events, Some(Outcome::Panicked { message, sequence }), trouble)
    }

    /// Applies `action` to `events`, of which the first is not finished. An `Err` is the message of
    /// a panic, which ends the stage. Returns how the stage ends, if it does. With a `failure`, the
    /// stage ends with that. If the events are skipped, downstream stages get the `trouble`.
    fn follow(
        &mut self,
        action: Result<Action, String>,
        events: Range<Sequence>,
        failure: Option<Outcome>,
        trouble: Option<Trouble>,
    ) -> Option<Outcome> {
        let sequence = events.start;
        let action = match action {
            Ok(action) => action,
            Err(message) => {
                self.source.release(events.start);
                return Some(Outcome::Panicked { message, sequence });
            }
        };
        match action {
            // Without a failure, this is the end of a batch.
            Action::ReleaseNow if failure.is_none() => {
                self.source.release(events.end);
                self.end_batch(events.end);
                None
            }
            Action::Continue | Action::ReleaseNow => self.let_go(events.end),
            Action::Skip => {
                self.mark_skipped(&events, trouble);
                self.let_go(events.end)
            }
            Action::Retry(pause) => {
                let ended = self.let_go(sequence);
                ended.or_else(|| self.pause(Pause::new(pause, false)))
            }
            Action::Rewind(pause) => self.pause(Pause::new(pause, false)),
            Action::Restart(pause) => {
                let ended = self.let_go(sequence);
                ended.or_else(|| self.pause(Pause::new(pause, true)))
            }
            Action::Stop => Some(self.stop_at(sequence, failure)),
            Action::SkipAndStop => {
                self.mark_skipped(&events, trouble);
                Some(self.stop_at(events.end, failure))
            }
            Action::Halt => {
                self.source.release(sequence);
                self.source.control().halt(HaltCause::by_action(failure.is_some()).core());
                Some(failure.unwrap_or(Outcome::Halted))
            }
        }
    }

    /// Marks and counts `events` as failed, before their release.
    fn mark_skipped(&mut self, events: &Range<Sequence>, trouble: Option<Trouble>) {
        self.skipped += events.end - events.start;
        let attempt = self.recovery.attempt();
        let reason = trouble.map(|trouble| Reason::new(self.name.clone(), attempt, trouble));
        self.source.failing().mark(events.clone(), reason);
    }

    /// Releases everything below `sequence`, and returns the outcome of a stage that stops there.
    fn stop_at(&mut self, sequence: Sequence, failure: Option<Outcome>) -> Outcome {
        self.source.release(sequence);
        failure.map_or(Outcome::Stopped, Outcome::into_detached)
    }
}
