//! Where the batches of a consumer come from, and what becomes of them. Not here: a stage of its own
//! (`reader`), a worker of a group (`worker`).

use std::ops::Range;
use std::thread;
use std::time::{Duration, Instant};

use super::finished::Outcome;
use super::pause::Pause;
use super::stop::StopHandle;
use crate::Sequence;
use crate::activity::{Activity, Doing};
use crate::error::{PollError, RingError, WaitTimeoutError};
use crate::protocol::control::{Control, ONLY_TURN, StageIndex};
use crate::protocol::group::{Group, KeyTransfer};
use crate::protocol::reading::{Drained, Spun};
use crate::protocol::ring::Ring;
use crate::sync::Arc;
use crate::wait::cpu_load::CpuLoad;
use crate::wait::{AnyWaitStrategy, Pacing};

/// A pause looks for a halt or a stop at least this often.
const LONGEST_SLEEP: Duration = Duration::from_millis(10);

/// Lets `strategy` keep away for a moment after what was `drained`, or give its CPU away where `load` says so.
#[inline]
pub(super) fn pace(
    drained: Drained,
    strategy: &mut dyn AnyWaitStrategy,
    load: Option<CpuLoad<'_>>,
) {
    let Drained { is_late, events } = drained;
    strategy.pace(&Pacing { events, is_late, load });
}

/// Batches for one consumer: it gets one at a time and lets go of it, in parts if it likes.
pub(crate) trait Source<E> {
    fn ring(&self) -> &Ring<E>;

    fn control(&self) -> &Arc<Control>;

    /// The words that say how far it is, what it does, and whether it is asked to leave.
    fn stage(&self) -> StageIndex;

    /// Which of the consumers of these words it is.
    fn turn(&self) -> u64 {
        ONLY_TURN
    }

    /// Its group, if it is a worker of one.
    fn group(&self) -> Option<&Arc<Group>> {
        None
    }

    /// Whether it is not to work just now, and sleeps: a worker too many.
    fn is_resting(&self) -> bool {
        false
    }

    /// Whether it joined a ring that ran: if it goes, nobody misses it.
    fn is_guest(&self) -> bool {
        false
    }

    /// First sequence that it has not finished; of a worker with nothing in hand, the next one that
    /// any of its group may get.
    fn next(&self) -> Sequence;

    /// Number of events that it has finished, those that were given up included.
    fn processed(&self) -> u64;

    /// Number of those that were given up. No handler gets them.
    fn given_up(&self) -> u64;

    /// Number of events that are known to be there, past the wrap and past the longest batch: the depth of the queue. Looks
    /// only if that is not known.
    fn available(&mut self) -> u64;

    /// Makes its batches at most `events` long.
    fn limit_batch(&mut self, events: u64);

    /// The next events, up to the wrap at most; again what was not let go of. Skips claims that were
    /// given up. Never waits.
    ///
    /// # Errors
    ///
    /// [`PollError::Closed`] once the ring is closed and there will never be any for this consumer.
    fn poll(&mut self) -> Result<Range<Sequence>, PollError>;

    /// Whether a call of [`poll`](Self::poll) would find something, or the end, or the consumer is
    /// asked to leave.
    fn is_ready(&self) -> bool;

    /// Hands one wait to the strategy, after [looks](Self::await_next) of its own that showed nothing, or to nobody if it only
    /// looks; whether the time is over afterwards.
    fn wait_once(&mut self, deadline: Option<Instant>) -> bool;

    /// As [`poll`](Self::poll), but waits by the strategy of the stage, until `deadline` if there is
    /// one. The time is also over when this consumer [is asked to leave](Self::is_stopping), or
    /// [has keys to give or take](Self::has_transfer).
    #[inline(always)]
    fn wait(&mut self, deadline: Option<Instant>) -> Result<Range<Sequence>, WaitTimeoutError> {
        self.wait_with(deadline, |_| {})
    }

    /// As [`wait`](Self::wait), and calls `found_nothing` after each poll that found nothing.
    #[inline(always)]
    fn wait_with(
        &mut self,
        deadline: Option<Instant>,
        mut found_nothing: impl FnMut(&mut Self),
    ) -> Result<Range<Sequence>, WaitTimeoutError> {
        if self.is_stopping() {
            return Err(WaitTimeoutError::TimedOut);
        }
        self.pace();
        let mut is_expired = false;
        loop {
            match self.poll() {
                Ok(range) => return Ok(range),
                Err(PollError::Closed) => return Err(RingError::Closed.into()),
                Err(PollError::Halted(cause)) => return Err(RingError::Halted(cause).into()),
                Err(PollError::Empty) => {
                    found_nothing(self);
                    if is_expired || self.has_transfer() {
                        self.activity().set(Doing::Between);
                        return Err(WaitTimeoutError::TimedOut);
                    }
                    is_expired = match self.await_next() {
                        Spun::Batch(range) => return Ok(range),
                        Spun::Something => false,
                        Spun::Nothing => self.wait_once(deadline),
                    };
                }
            }
        }
    }

    /// Looks until the next event is there, or for some microseconds, if it only looks, or its strategy says that it is to
    /// begin with that. In a loop of its own, without an eye on a close or a stop. After a [`poll`](Self::poll) that
    /// found nothing.
    #[inline(always)]
    fn await_next(&mut self) -> Spun {
        Spun::Nothing
    }

    /// Whether whoever looks by itself has no more time, or is asked to leave.
    fn is_time_over(&self, deadline: Option<Instant>) -> bool {
        self.activity().set(Doing::Waiting);
        let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        is_late || self.is_stopping()
    }

    /// What it has drained since it was asked the last time, if it knows of nothing more.
    fn drained(&mut self) -> Option<Drained>;

    /// Keeps away for a moment if its strategy says so, before it looks for more than it knows of.
    #[inline]
    fn pace(&mut self) {
        if let Some(drained) = self.drained() {
            let (strategy, load) = self.strategy();
            pace(drained, strategy, load);
        }
    }

    /// Its strategy, and the load that it makes room for, if it may hold up another stage.
    fn strategy(&mut self) -> (&mut dyn AnyWaitStrategy, Option<CpuLoad<'_>>);

    /// Sleeps as long as it is [held](Self::is_held_by).
    #[cold]
    fn sleep(&self, pause: &Pause) {
        while self.is_held_by(pause)
            && let Some(left) = pause.left()
        {
            thread::sleep(left.min(LONGEST_SLEEP));
        }
    }

    /// Whether `pause` is not over, and this consumer is not to end before it is.
    fn is_held_by(&self, pause: &Pause) -> bool {
        !self.is_ending() && pause.left().is_some()
    }

    /// Whether the ring is halted, or this consumer is asked to leave.
    fn is_ending(&self) -> bool {
        self.control().life.is_halted() || self.is_stopping()
    }

    /// Whether a stage before this one has skipped an event from `first` on, among those that this
    /// consumer may read.
    fn may_have_failed(&self, first: Sequence) -> bool;

    /// Whether a stage before this one has skipped `sequence`, which this consumer may read.
    fn has_failed(&self, sequence: Sequence) -> bool;

    /// Marks `events`, which this consumer has and leaves behind as failed, for the stages after it.
    fn mark_failed(&self, events: Range<Sequence>);

    /// Lets go of everything below `sequence` that it has.
    fn release(&mut self, sequence: Sequence);

    /// The next sequence, if polls have let go of something since the last batch and since this was asked:
    /// claims that were given up, or what a worker goes past. Asked after a poll that found nothing.
    fn take_passed(&mut self) -> Option<Sequence>;

    /// Whether there is something for it to [hand over](Self::hand_over) before it gets events.
    #[inline(always)]
    fn has_transfer(&self) -> bool {
        false
    }

    /// Takes and gives what is known of keys that change hands; all that there is, if it `leaves`.
    fn hand_over(&mut self, transfer: &mut dyn KeyTransfer, leaves: bool) {
        let _ = (transfer, leaves);
    }

    /// Takes back what it gave, and nobody will take any more, once it has left.
    fn take_back(&mut self, transfer: &mut dyn KeyTransfer) {
        let _ = transfer;
    }

    /// Leaves the graph, or its group, once; true for the last worker of a group, which has halted the
    /// ring. The caller reads no more.
    fn leave(&mut self) -> bool;

    /// How it ends in a ring that is halted.
    fn halted(&mut self) -> Outcome {
        Outcome::Halted
    }

    /// What it is doing, for monitors.
    #[inline(always)]
    fn activity(&self) -> &Activity {
        &self.control().stages[self.stage()].activity
    }

    /// Whether it is asked to leave.
    #[inline]
    fn is_stopping(&self) -> bool {
        self.control().is_stopping(self.stage(), self.turn())
    }

    fn stop_handle(&self) -> StopHandle {
        StopHandle::new(Arc::clone(self.control()), self.stage(), self.turn())
    }
}
