//! The loop of a stage that a handler works for: wait, handle a batch, let go of it; until the end.
//! Not here: what a handler is (`work`), what its stage's policy says of a failure (`recovery`).

use std::any::Any;
use std::marker::PhantomData;
use std::mem;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::access::Access;
use super::action::Action;
use super::failure::Cause;
use super::reader::{Reader, UNLIMITED};
use super::recovery::Recovery;
use super::work::{Interruption, Progress, Work};
use super::{Finished, Outcome};
use crate::Sequence;
use crate::control::Control;
use crate::error::WaitTimeoutError;
use crate::sync::Arc;

/// A stage that has not begun.
pub(crate) trait Begin<'env>: Send {
    /// Makes the handler, on the thread that is to run it.
    ///
    /// # Errors
    ///
    /// The end of the stage, if that panicked.
    fn begin(self: Box<Self>, name: String) -> Result<Box<dyn Task + 'env>, Finished>;
}

/// A stage that its thread runs.
pub(crate) trait Task {
    /// Handles events until the stage ends.
    fn run(self: Box<Self>) -> Finished;
}

/// A stage and what it does. `make` makes the handler; `hand_back` says what is left of it for the
/// report.
pub(crate) struct Processor<E, A, M, B> {
    reader: Reader<E>,
    make: M,
    hand_back: B,
    timeout: Option<Duration>,
    recovery: Recovery,
    lifeline: HaltOnDrop,
    access: PhantomData<A>,
}

impl<E, A, M, B> Processor<E, A, M, B> {
    pub(crate) fn new(
        reader: Reader<E>,
        make: M,
        hand_back: B,
        timeout: Option<Duration>,
        recovery: Recovery,
    ) -> Self {
        let lifeline = HaltOnDrop(Some(Arc::clone(&reader.ring.control)));
        Self { reader, make, hand_back, timeout, recovery, lifeline, access: PhantomData }
    }
}

impl<'env, E, A, M, B, H> Begin<'env> for Processor<E, A, M, B>
where
    E: Send + 'env,
    A: Access,
    M: FnOnce() -> H + Send,
    B: FnOnce(H) -> Option<Box<dyn Any + Send>> + Send + 'env,
    H: Work<E, A> + 'env,
{
    fn begin(self: Box<Self>, name: String) -> Result<Box<dyn Task + 'env>, Finished> {
        let Self { reader, make, hand_back, timeout, recovery, lifeline, access } = *self;
        match catch(make) {
            Ok(work) => Ok(Box::new(Shift {
                name,
                reader,
                work,
                hand_back,
                timeout,
                recovery,
                lifeline,
                access,
                progress: Progress::default(),
                is_announcing: false,
                skipped: 0,
            })),
            Err(message) => Err(Finished {
                name,
                outcome: Outcome::Panicked { message, sequence: reader.next() },
                processed: reader.next(),
                skipped: 0,
                handler: None,
            }),
        }
    }
}

/// A stage at work.
struct Shift<E, A, H, B> {
    name: String,
    reader: Reader<E>,
    work: H,
    hand_back: B,
    timeout: Option<Duration>,
    recovery: Recovery,
    /// Halts the ring if this stage ends before its events do: by a panic, or by never having run.
    lifeline: HaltOnDrop,
    access: PhantomData<A>,
    progress: Progress,
    /// `on_batch_start` is running; after a panic in it, that it is not to be called again.
    is_announcing: bool,
    /// Number of events that were left behind as failed.
    skipped: u64,
}

impl<E, A, H, B> Task for Shift<E, A, H, B>
where
    A: Access,
    B: FnOnce(H) -> Option<Box<dyn Any + Send>>,
    H: Work<E, A>,
{
    fn run(mut self: Box<Self>) -> Finished {
        let outcome = match catch(|| self.work.on_start()) {
            Ok(()) => self.work_to_the_end(),
            Err(message) => Outcome::Panicked { message, sequence: self.reader.next() },
        };
        self.finish(outcome)
    }
}

impl<E, A: Access, H: Work<E, A>, B> Shift<E, A, H, B> {
    /// Handles events until the stage ends, through such panics as its policy lets it survive.
    fn work_to_the_end(&mut self) -> Outcome {
        loop {
            match catch(|| self.handle_batches()) {
                Ok(outcome) => return outcome,
                Err(message) => {
                    if let Some(outcome) = self.panicked(message) {
                        return outcome;
                    }
                }
            }
        }
    }

    fn handle_batches(&mut self) -> Outcome {
        loop {
            let deadline = self.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
            let ended = match self.reader.wait(UNLIMITED, deadline) {
                Ok(batch) => self.handle(batch),
                Err(WaitTimeoutError::TimedOut) => {
                    self.work.on_timeout(self.reader.next());
                    None
                }
                Err(WaitTimeoutError::Closed) => Some(Outcome::Drained),
                Err(WaitTimeoutError::Halted) => Some(Outcome::Halted),
            };
            if let Some(outcome) = ended {
                return outcome;
            }
        }
    }

    /// Handles one batch; returns how the stage ends, if it does.
    #[inline(always)]
    fn handle(&mut self, batch: Range<Sequence>) -> Option<Outcome> {
        // Left over from a panic in it.
        if H::LOOKS_AT_DEPTH && !mem::take(&mut self.is_announcing) {
            self.is_announcing = true;
            self.work.on_batch_start(batch.end - batch.start, self.reader.available());
            self.is_announcing = false;
        }
        self.progress.begin(&batch);
        let reader = &self.reader;
        // SAFETY: I2: `wait` gave this stage `batch`, up to the wrap at most, and the slice is gone
        // when `release` lets go of it. I6: a stage has access `A` only if its graph allows it.
        let events = unsafe { A::slice(&reader.ring.buffer, batch.clone()) };
        let result = if reader.may_have_failed(batch.start) {
            let is_failed = |sequence| reader.has_failed(sequence);
            self.work.on_batch_with_failed(events, batch.start, &self.progress, &is_failed)
        } else {
            self.work.on_batch(events, batch.start, &self.progress)
        };
        self.progress.end();
        A::watch(&self.reader.ring.buffer, batch.clone());
        match result {
            Ok(()) => {
                self.reader.release(batch.end);
                None
            }
            Err(interruption) => self.interrupted(interruption),
        }
    }

    /// The handler had something to say of an event, or of its batch.
    #[cold]
    fn interrupted(&mut self, Interruption { events, verdict }: Interruption) -> Option<Outcome> {
        let sequence = events.start;
        match verdict {
            Ok(action) => self.follow(Ok(action), events, None),
            Err(error) => {
                let action = self.decide(sequence, Cause::Error(&*error));
                let failure = Outcome::Failed { message: error.to_string(), sequence };
                self.follow(action, events, Some(failure))
            }
        }
    }

    /// The handler panicked, in an event or between batches.
    #[cold]
    fn panicked(&mut self, message: String) -> Option<Outcome> {
        let next = self.reader.next();
        let events = match self.progress.within() {
            Some(batch) if H::IS_BY_BATCH => batch,
            Some(batch) => batch.start..batch.start + 1,
            None => next..next,
        };
        self.progress.end();
        let sequence = events.start;
        let action = self.decide(sequence, Cause::Panic(&message));
        self.follow(action, events, Some(Outcome::Panicked { message, sequence }))
    }

    /// What the policy says; or the text of its panic.
    fn decide(&mut self, sequence: Sequence, cause: Cause<'_>) -> Result<Action, String> {
        let Self { name, recovery, reader, .. } = self;
        catch(|| recovery.decide(name, sequence, reader.next(), cause))
    }

    /// Does what `action` says of `events`, the first of which is not done; returns how the stage
    /// ends, if it does, because of `failure` if there was one.
    fn follow(
        &mut self,
        action: Result<Action, String>,
        events: Range<Sequence>,
        failure: Option<Outcome>,
    ) -> Option<Outcome> {
        let sequence = events.start;
        let action = match action {
            Ok(action) => action,
            Err(message) => return Some(Outcome::Panicked { message, sequence }),
        };
        match action {
            Action::Continue | Action::ReleaseNow => self.reader.release(events.end),
            Action::Skip => self.skip(events),
            Action::Retry(pause) => {
                self.is_announcing = false;
                self.reader.release(events.start);
                self.reader.pause(pause);
            }
            Action::Rewind(pause) => {
                self.is_announcing = false;
                self.reader.pause(pause);
            }
            Action::Restart(pause) => {
                self.is_announcing = false;
                self.reader.release(events.start);
                self.reader.pause(pause);
                if let Err(message) = catch(|| self.work.on_restart()) {
                    return Some(Outcome::Panicked { message, sequence });
                }
            }
            Action::Stop => {
                self.reader.release(events.start);
                return Some(failure.map_or(Outcome::Stopped, Outcome::into_detached));
            }
            Action::Halt => {
                self.reader.release(events.start);
                self.reader.ring.control.halt();
                return Some(failure.unwrap_or(Outcome::Halted));
            }
        }
        None
    }

    /// Leaves `events` behind as failed.
    fn skip(&mut self, events: Range<Sequence>) {
        self.skipped += events.end - events.start;
        self.reader.mark_failed(events.clone());
        self.reader.release(events.end);
    }
}

impl<E, A, H, B> Shift<E, A, H, B>
where
    A: Access,
    B: FnOnce(H) -> Option<Box<dyn Any + Send>>,
    H: Work<E, A>,
{
    /// Ends the stage. Each net is for code of the user's: the handler's last call, handing it back
    /// or dropping it, and with the reader the wait strategy.
    fn finish(self, mut outcome: Outcome) -> Finished {
        let Self { name, reader, mut work, hand_back, recovery, lifeline, skipped, .. } = self;
        let processed = reader.next();
        match outcome {
            Outcome::Stopped | Outcome::Detached { .. } => {
                reader.ring.control.detach(reader.stage);
            }
            // Before the handler is dropped, which may take its time.
            Outcome::Failed { .. } | Outcome::Panicked { .. } => reader.ring.control.halt(),
            Outcome::Drained | Outcome::Halted => {}
        }
        let absorb = |outcome: &mut Outcome, panic: String| {
            if !outcome.is_failure() {
                *outcome = Outcome::Panicked { message: panic, sequence: processed };
            }
        };
        if !matches!(outcome, Outcome::Panicked { .. })
            && let Err(panic) = catch(|| work.on_shutdown())
        {
            absorb(&mut outcome, panic);
        }
        let handler = match catch(|| hand_back(work)) {
            Ok(handler) => handler,
            Err(panic) => {
                absorb(&mut outcome, panic);
                None
            }
        };
        if let Err(panic) = catch(|| drop((reader, recovery))) {
            absorb(&mut outcome, panic);
        }
        if !matches!(outcome, Outcome::Failed { .. } | Outcome::Panicked { .. }) {
            lifeline.release();
        }
        Finished { name, outcome, processed, skipped, handler }
    }
}

/// Runs code of the user's.
///
/// # Errors
///
/// The text of its panic.
fn catch<R>(body: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|panic| {
        let message = message_of(&*panic);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
            // Whose dropping panics may do so again.
            mem::forget(panic);
        }
        message
    })
}

/// The text of a panic.
fn message_of(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".to_owned())
}

/// Halts its ring when dropped, unless released before.
struct HaltOnDrop(Option<Arc<Control>>);

impl HaltOnDrop {
    fn release(mut self) {
        self.0 = None;
    }
}

impl Drop for HaltOnDrop {
    fn drop(&mut self) {
        if let Some(control) = &self.0 {
            control.halt();
        }
    }
}
