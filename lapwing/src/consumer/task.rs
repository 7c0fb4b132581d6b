//! The interface of a stage for the thread that runs it, and the parts of a stage besides its
//! handler. Not here: how a stage starts (`processor`), its loop (`stage_loop`).

use std::sync::Arc as SharedArc;
use std::thread;
use std::time::{Duration, Instant};

use lapwing_core::{Control, Drained, Placed};

use super::StageReport;
use super::recovery::Recovery;
use super::source::Source;
use super::stop::StopHandle;
use crate::activity::{Activity, Doing};
use crate::catch::catch;
use crate::error::HaltCause;
use crate::ring::Shared;
use crate::wait::AnyWaitStrategy;

/// A stage that has not started.
pub(crate) trait Begin<'env>: Send {
    /// Makes the handler, on the thread that will run it.
    ///
    /// # Errors
    ///
    /// The result of the stage, if making the handler panicked.
    fn begin(self: Box<Self>, name: String) -> Result<Box<dyn Task + 'env>, StageReport>;

    fn stop_handle(&self) -> StopHandle;
}

/// A stage that its thread runs.
pub(crate) trait Task {
    /// Starts the handler. Called first.
    fn start(&mut self);

    /// Handles events, with waits in between, until the stage has ended.
    fn work(&mut self);

    /// Makes the stage share its thread. From now on it only takes turns. Its batches are short
    /// enough that the next stage finds their events in the first-level cache.
    fn share_thread(&mut self);

    /// Handles one batch, if there is one; never waits.
    fn take_turn(&mut self) -> TurnResult;

    /// Whether [`take_turn`](Self::take_turn) would find something to do.
    fn is_ready(&self) -> bool;

    /// Whether it pauses before it handles an event again.
    fn is_pausing(&self) -> bool;

    /// The latest time of the stage's next turn, if there is one.
    fn deadline(&self) -> Option<Instant>;

    /// Handles a panic of user code that ran for this stage. The policy of the stage decides
    /// whether it ends.
    fn fail(&mut self, message: String);

    /// Ends the stage and returns its result. Called last.
    fn finish(self: Box<Self>) -> StageReport;

    fn shared(&self) -> &SharedArc<Shared>;

    fn activity(&self) -> &Activity;

    /// A copy of its strategy, for a thread that waits for several stages.
    fn copy_strategy(&mut self) -> Box<dyn AnyWaitStrategy>;
}

/// The result of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnResult {
    /// The stage handled a batch. If it knows of no more events, `Drained` describes what it
    /// drained.
    Handled(Option<Drained>),
    /// The stage handled its timeout.
    TimedOut,
    Idle,
    Ended,
}

/// The parts of a stage or a worker besides its handler.
pub(crate) struct Post<S> {
    pub(super) source: S,
    pub(super) timeout: Option<Duration>,
    /// Whether it handles events that upstream stages have skipped like any other.
    pub(super) takes_failed: bool,
    pub(super) recovery: Recovery,
    /// Halts the ring if this stage ends too early: by a panic, or, for a stage of the graph,
    /// because it was never run.
    pub(super) lifeline: HaltOnDrop,
}

impl<S> Post<S> {
    pub(crate) fn new<E>(source: S, timeout: Option<Duration>, recovery: Recovery) -> Self
    where
        S: Source<E>,
    {
        // A consumer that joined may be dropped without having run.
        let is_missed = !source.is_guest();
        let activity = source.shared().activity(source.stage()).clone();
        let lifeline = (source.control().clone(), Some(activity));
        let lifeline = HaltOnDrop(is_missed.then_some(lifeline));
        Self { source, timeout, takes_failed: false, recovery, lifeline }
    }

    /// Makes the stage handle events that upstream stages have skipped like any other, if it
    /// `takes` them.
    pub(crate) fn taking_failed(mut self, takes: bool) -> Self {
        self.takes_failed = takes;
        self
    }
}

/// Drops the wait strategy and the policies of a stage, which are user code. Each drop is caught on
/// its own, since a panic during an unwind aborts the process.
///
/// # Errors
///
/// The message of the first panic.
pub(super) fn drop_all(source: impl Sized, recovery: Recovery) -> Result<(), String> {
    let Recovery { on_error, on_panic, .. } = recovery;
    let dropped = [catch(|| drop(source)), catch(|| drop(on_error)), catch(|| drop(on_panic))];
    dropped.into_iter().collect()
}

/// Halts the ring of its stage when dropped, unless released before.
///
/// It outlives the source of the stage. So it records a failure for a stage of the graph only: the
/// words of a dynamic stage may belong to another consumer by then.
pub(super) struct HaltOnDrop(Option<Lifeline>);

/// The ring that is halted, and the activity of a stage of its graph.
type Lifeline = (Placed<Control>, Option<Activity>);

impl HaltOnDrop {
    /// Makes its drop halt the ring, if it does not already. Called for a dynamic consumer.
    pub(super) fn arm(&mut self, control: &Placed<Control>) {
        self.0.get_or_insert_with(|| (control.clone(), None));
    }

    /// Disarms it: the stage ended by itself.
    pub(super) fn release(mut self) {
        self.0 = None;
    }

    /// The stage failed, and its panic, if any, was caught.
    pub(super) fn fail(mut self) {
        self.halt(HaltCause::StageFailed);
    }

    fn halt(&mut self, cause: HaltCause) {
        if let Some((control, activity)) = self.0.take() {
            if let Some(activity) = activity {
                activity.set(Doing::Failed);
            }
            control.halt(cause.core());
        }
    }
}

impl Drop for HaltOnDrop {
    fn drop(&mut self) {
        let is_panic = thread::panicking();
        self.halt(if is_panic { HaltCause::StageFailed } else { HaltCause::StageDropped });
    }
}
