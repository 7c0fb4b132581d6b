//! A stage with its handler, before it begins, and as a thread sees it at work. Not here: the loop
//! (`shift`).

use std::any::Any;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use super::access::Access;
use super::catch::catch;
use super::recovery::Recovery;
use super::shift::Shift;
use super::source::Source;
use super::stop::StopHandle;
use super::work::Work;
use super::{Finished, Outcome};
use crate::activity::{Activity, Doing};
use crate::control::{Control, StageIndex};
use crate::on_this_thread;
use crate::sync::Arc;
use crate::wait::AnyWaitStrategy;

/// A stage that has not begun.
pub(crate) trait Begin<'env>: Send {
    /// Makes the handler, on the thread that is to run it.
    ///
    /// # Errors
    ///
    /// The end of the stage, if that panicked.
    fn begin(self: Box<Self>, name: String) -> Result<Box<dyn Task + 'env>, Finished>;

    fn stop_handle(&self) -> StopHandle;
}

/// A stage that its thread runs.
pub(crate) trait Task {
    /// Starts the handler. The first call.
    fn start(&mut self);

    /// Handles events until the stage has ended; waits in between.
    fn work(&mut self);

    /// Handles one batch, if it is there; never waits.
    fn take_turn(&mut self) -> Turn;

    /// Whether [`take_turn`](Self::take_turn) would find something.
    fn is_ready(&self) -> bool;

    /// When the stage wants a turn at the latest.
    fn deadline(&self) -> Option<Instant>;

    /// Ends the stage because waiting for it panicked.
    fn fail(&mut self, message: String);

    /// What is left of the stage. The last call.
    fn finish(self: Box<Self>) -> Finished;

    fn control(&self) -> &Arc<Control>;

    fn activity(&self) -> &Activity;

    fn strategy(&self) -> Box<dyn AnyWaitStrategy>;
}

/// What came of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    Handled,
    Idle,
    Ended,
}

/// What a stage, or a worker of one, has apart from its handler.
pub(crate) struct Post<S> {
    pub(super) source: S,
    pub(super) timeout: Option<Duration>,
    pub(super) recovery: Recovery,
    /// Halts the ring if this stage ends before its events do: by a panic, or, in the graph, by
    /// never having run.
    pub(super) lifeline: HaltOnDrop,
}

impl<S> Post<S> {
    pub(crate) fn new<E>(source: S, timeout: Option<Duration>, recovery: Recovery) -> Self
    where
        S: Source<E>,
    {
        // Nobody misses one that joined and never ran.
        let is_missed = !source.is_guest();
        let lifeline = (Arc::clone(source.control()), source.stage());
        let lifeline = HaltOnDrop(is_missed.then_some(lifeline));
        Self { source, timeout, recovery, lifeline }
    }
}

/// A stage and what it does. `make` makes the handler; `hand_back` says what is left of it for the
/// report.
pub(crate) struct Processor<E, A, S, M, B> {
    post: Post<S>,
    make: M,
    hand_back: B,
    access: PhantomData<(fn() -> E, A)>,
}

impl<E, A, S: Source<E>, M, B> Processor<E, A, S, M, B> {
    pub(crate) fn new(post: Post<S>, make: M, hand_back: B) -> Self {
        Self { post, make, hand_back, access: PhantomData }
    }
}

impl<'env, E, A, S, M, B, H> Begin<'env> for Processor<E, A, S, M, B>
where
    E: Send + 'env,
    A: Access,
    S: Source<E> + Send + 'env,
    M: FnOnce() -> H + Send,
    B: FnOnce(H) -> Option<Box<dyn Any + Send>> + Send + 'env,
    H: Work<E, A> + 'env,
{
    fn begin(self: Box<Self>, name: String) -> Result<Box<dyn Task + 'env>, Finished> {
        let Self { mut post, make, hand_back, access: _ } = *self;
        let (control, stage) = (post.source.control(), post.source.stage());
        post.lifeline.arm(control, stage);
        let here = on_this_thread::enter(control, stage);
        post.source.activity().set(Doing::Handling);
        match catch(make) {
            Ok(work) => {
                post.source.activity().set(Doing::Between);
                Ok(Box::new(Shift::<E, A, S, _, _>::new(name, post, work, hand_back, here)))
            }
            Err(message) => {
                let Post { source, recovery, lifeline, .. } = post;
                let processed = source.processed();
                let outcome = Outcome::Panicked { message, sequence: source.next() };
                // Before the rest is dropped, which may take its time.
                drop(lifeline);
                // The factory's panic says more than theirs would.
                let _ = drop_all(source, recovery);
                Err(Finished { name, outcome, processed, skipped: 0, handler: None })
            }
        }
    }

    fn stop_handle(&self) -> StopHandle {
        self.post.source.stop_handle()
    }
}

/// Drops what a stage has of the user's code, its wait strategy and its policies, each in a net of
/// its own: two panics at once end the process.
///
/// # Errors
///
/// The text of the first panic.
pub(super) fn drop_all(source: impl Sized, recovery: Recovery) -> Result<(), String> {
    let Recovery { on_error, on_panic, .. } = recovery;
    let dropped = [catch(|| drop(source)), catch(|| drop(on_error)), catch(|| drop(on_panic))];
    dropped.into_iter().collect()
}

/// Halts the ring of its stage when dropped, unless released before.
pub(super) struct HaltOnDrop(Option<(Arc<Control>, StageIndex)>);

impl HaltOnDrop {
    /// From now on, at the latest.
    fn arm(&mut self, control: &Arc<Control>, stage: StageIndex) {
        self.0.get_or_insert_with(|| (Arc::clone(control), stage));
    }

    /// The stage ended by itself; whether it is drained.
    pub(super) fn release(mut self, is_drained: bool) {
        if let Some((control, stage)) = self.0.take() {
            let doing = if is_drained { Doing::Drained } else { Doing::Halted };
            control.stages[stage].activity.set(doing);
        }
    }
}

impl Drop for HaltOnDrop {
    fn drop(&mut self) {
        if let Some((control, stage)) = &self.0 {
            control.stages[*stage].activity.set(Doing::Failed);
            control.halt();
        }
    }
}
