//! A stage as its thread sees it: before it begins, at work, and what it has apart from its handler. Not
//! here: how it begins (`processor`), the loop (`stage_loop`).

use std::thread;
use std::time::{Duration, Instant};

use super::Finished;
use super::catch::catch;
use super::recovery::Recovery;
use super::source::Source;
use super::stop::StopHandle;
use crate::activity::{Activity, Doing};
use crate::error::HaltCause;
use crate::protocol::control::{Control, StageIndex};
use crate::protocol::reading::Drained;
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

    /// From now on it shares its thread: it takes turns and does nothing else, and its batches are short
    /// enough that the next stage finds their events in the first-level cache.
    fn share_thread(&mut self);

    /// Handles one batch, if it is there; never waits.
    fn take_turn(&mut self) -> Turn;

    /// Whether [`take_turn`](Self::take_turn) would find something.
    fn is_ready(&self) -> bool;

    /// Whether it is in a pause before something is given again.
    fn is_pausing(&self) -> bool;

    /// When the stage wants a turn at the latest.
    fn deadline(&self) -> Option<Instant>;

    /// Code of the user's panicked for this stage. Its policy says whether that ends it.
    fn fail(&mut self, message: String);

    /// What is left of the stage. The last call.
    fn finish(self: Box<Self>) -> Finished;

    fn control(&self) -> &Arc<Control>;

    fn activity(&self) -> &Activity;

    /// A copy of its strategy, for a thread that waits for several stages.
    fn copy_strategy(&mut self) -> Box<dyn AnyWaitStrategy>;
}

/// What came of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// A batch; and, if the stage knows of nothing more, what its batches came to.
    Handled(Option<Drained>),
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
    pub(super) fn arm(&mut self, control: &Arc<Control>, stage: StageIndex) {
        self.0.get_or_insert_with(|| (Arc::clone(control), stage));
    }

    /// The stage ended by itself; whether it is drained.
    pub(super) fn release(mut self, is_drained: bool) {
        if let Some((control, stage)) = self.0.take() {
            let doing = if is_drained { Doing::Drained } else { Doing::Halted };
            control.stages[stage].activity.set(doing);
        }
    }

    /// The stage panicked, in a net.
    pub(super) fn fail(mut self) {
        self.halt(HaltCause::StageFailed);
    }

    fn halt(&mut self, cause: HaltCause) {
        if let Some((control, stage)) = self.0.take() {
            control.stages[stage].activity.set(Doing::Failed);
            control.halt(cause);
        }
    }
}

impl Drop for HaltOnDrop {
    fn drop(&mut self) {
        let is_panic = thread::panicking();
        self.halt(if is_panic { HaltCause::StageFailed } else { HaltCause::StageDropped });
    }
}
