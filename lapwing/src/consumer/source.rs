//! The interface through which a consumer gets its batches and releases them. Not here: the source
//! of a stage that is not a worker (`stage_reader`), that of a worker (`worker`).

use std::mem;
use std::ops::Range;
use std::sync::Arc as SharedArc;
use std::time::{Duration, Instant};

use lapwing_core::{Control, Drained, ONLY_GENERATION, Placed, StageIndex};

use super::access::Access;
use super::failing::Failing;
use super::finished::Outcome;
use super::pause::Pause;
use super::stop::StopHandle;
use crate::Sequence;
use crate::activity::{Activity, Doing};
use crate::error::PollError;
use crate::group::{Group, KeyTransfer};
use crate::ring::Shared;
use crate::sync::Arc;
use crate::sync::threads::sleep;
use crate::wait::cpu_load::CpuLoad;
use crate::wait::{Pacing, Waiter};

/// Longest time between two checks for a halt or a stop during a pause.
const LONGEST_SLEEP: Duration = Duration::from_millis(10);

/// Lets `waiter` back off after what was `drained`, or yield the CPU if `load` shows
/// oversubscription.
#[inline]
pub(super) fn pace(drained: Drained, waiter: &mut Waiter, load: Option<CpuLoad<'_>>) {
    let Drained { is_late, events } = drained;
    waiter.pace(&Pacing { events, is_late, load });
}

/// What a wait has shown.
#[derive(Debug)]
pub(crate) enum Seen {
    /// These events may be read.
    Batch(Range<Sequence>),
    /// Something may have changed; a poll shows what it is.
    Something,
    /// The time is over, or the consumer is asked to leave.
    Expired,
}

/// The batches of one consumer. The consumer gets one batch at a time and releases it, possibly in
/// parts.
pub(crate) trait Source<E> {
    /// What the ends of its ring share.
    fn shared(&self) -> &SharedArc<Shared>;

    /// The words of its ring.
    #[inline]
    fn control(&self) -> &Placed<Control> {
        &self.shared().control
    }

    /// Lends the events of `batch`, or a part of one, that a poll has returned and that is not
    /// released.
    fn events<A: Access>(&mut self, batch: Range<Sequence>) -> A::Slice<'_, E>;

    /// The words that hold its sequence, its activity and a request to leave.
    fn stage(&self) -> StageIndex;

    /// Which consumer of these words it is.
    fn generation(&self) -> u64 {
        ONLY_GENERATION
    }

    /// Its group, if it is a worker.
    fn group(&self) -> Option<&Arc<Group>> {
        None
    }

    /// Whether it is a worker that is not active, and parked.
    fn is_resting(&self) -> bool {
        false
    }

    /// Whether it joined a running ring. Such a consumer may leave without a halt.
    fn is_guest(&self) -> bool {
        false
    }

    /// First sequence that it has not finished. For a worker without a claim, the next sequence
    /// that its group may claim.
    fn next(&self) -> Sequence;

    /// Number of events that it has finished, including claims that were given up.
    fn processed(&self) -> u64;

    /// Number of claims that were given up, which no handler gets.
    fn given_up(&self) -> u64;

    /// Number of events known to be available, beyond the wrap and the longest batch: the depth of
    /// the queue. Polls for more events only if that is not known.
    fn available(&mut self) -> u64;

    /// Limits its batches to `events`.
    fn limit_batch(&mut self, events: u64);

    /// The next events, up to the wrap at most. Returns a batch again until it is released. Skips
    /// claims that were given up. Never waits.
    ///
    /// # Errors
    ///
    /// [`PollError::Closed`] once the ring is closed and no event is left for this consumer.
    fn poll(&mut self) -> Result<Range<Sequence>, PollError>;

    /// Whether a call of [`poll`](Self::poll) would find events or the end, or the consumer is
    /// asked to leave.
    fn is_ready(&self) -> bool;

    /// Waits with the strategy until a poll may find something, or until `deadline` if there is
    /// one.
    fn wait_once(&mut self, deadline: Option<Instant>) -> Seen;

    /// Returns the next events, and waits for them with the strategy of the stage, until `deadline`
    /// if there is one. The time is also over when this consumer [is asked to
    /// leave](Self::is_stopping) or [has keys to give or take](Self::has_transfer).
    #[inline]
    fn wait(&mut self, deadline: Option<Instant>) -> Result<Range<Sequence>, PollError> {
        self.wait_with(deadline, |_| {})
    }

    /// Waits like [`wait`](Self::wait), and calls `found_nothing` after each poll that found
    /// nothing.
    #[inline(always)]
    fn wait_with(
        &mut self,
        deadline: Option<Instant>,
        mut found_nothing: impl FnMut(&mut Self),
    ) -> Result<Range<Sequence>, PollError> {
        if self.is_stopping() {
            return Err(PollError::Empty);
        }
        self.pace();
        let (mut is_expired, mut has_begun) = (false, false);
        loop {
            match self.poll() {
                Ok(range) => return Ok(range),
                Err(PollError::Closed) => return Err(PollError::Closed),
                Err(PollError::Halted(cause)) => return Err(PollError::Halted(cause)),
                Err(PollError::Empty) => {
                    found_nothing(self);
                    if is_expired || self.has_transfer() {
                        self.activity().set(Doing::Between);
                        return Err(PollError::Empty);
                    }
                    if !mem::replace(&mut has_begun, true) {
                        // After a single event, only this poll has shown that it was the last.
                        self.pace();
                        self.waiter().0.begin();
                    }
                    is_expired = match self.wait_once(deadline) {
                        Seen::Batch(range) => return Ok(range),
                        Seen::Something => false,
                        Seen::Expired => true,
                    };
                }
            }
        }
    }

    /// What it has drained since the last call, if it knows of no more events.
    fn drained(&mut self) -> Option<Drained>;

    /// Backs off if its strategy says so, before it polls for more events than it knows of.
    #[inline]
    fn pace(&mut self) {
        let shared = self.shared();
        shared.turns.pass_on(&shared.control);
        if let Some(drained) = self.drained() {
            let (waiter, load) = self.waiter();
            pace(drained, waiter, load);
        }
    }

    /// How it waits, and the CPU load of the ring if it may delay another stage.
    fn waiter(&mut self) -> (&mut Waiter, Option<CpuLoad<'_>>);

    /// Sleeps while `pause` [holds](Self::is_held_by) it.
    #[cold]
    fn sleep(&self, pause: &Pause) {
        while self.is_held_by(pause)
            && let Some(left) = pause.left()
        {
            sleep(left.min(LONGEST_SLEEP));
        }
    }

    /// Whether `pause` is not over and this consumer is not about to end.
    fn is_held_by(&self, pause: &Pause) -> bool {
        !self.is_ending() && pause.left().is_some()
    }

    /// Whether the ring is halted or this consumer is asked to leave.
    fn is_ending(&self) -> bool {
        self.control().is_halted() || self.is_stopping()
    }

    /// Which events upstream stages have skipped, and where it marks its own.
    fn failing(&self) -> &Failing;

    /// Releases everything below `sequence` that it has.
    fn release(&mut self, sequence: Sequence);

    /// The next sequence, if polls have released something since the last batch and the last call:
    /// claims that were given up, or events of other workers. Called after a poll that found
    /// nothing.
    fn take_passed(&mut self) -> Option<Sequence>;

    /// Whether there is state to [hand over](Self::hand_over) before it gets events.
    #[inline]
    fn has_transfer(&self) -> bool {
        false
    }

    /// Takes and gives the state of keys that change owner; gives all of it if the worker `leaves`.
    fn hand_over(&mut self, transfer: &mut dyn KeyTransfer, leaves: bool) {
        let _ = (transfer, leaves);
    }

    /// After it has left, takes back what it gave and no other worker will take.
    fn take_back(&mut self, transfer: &mut dyn KeyTransfer) {
        let _ = transfer;
    }

    /// Leaves the graph, or its group, once. True for the last worker of a group, which has halted
    /// the ring. The caller reads no more events.
    fn leave(&mut self) -> bool;

    /// How it ends in a halted ring.
    fn halted(&mut self) -> Outcome {
        Outcome::Halted
    }

    /// Its activity, for monitors.
    #[inline]
    fn activity(&self) -> &Activity {
        self.shared().activity(self.stage())
    }

    /// Whether it is asked to leave.
    #[inline]
    fn is_stopping(&self) -> bool {
        self.control().is_stopping(self.stage(), self.generation())
    }

    fn stop_handle(&self) -> StopHandle {
        StopHandle::new(self.control().clone(), self.stage(), self.generation())
    }
}
