//! Parking until the cursor, or the sequence of a stage, advances. Not here: how long to spin first (`wait`),
//! the layout of the word (`word`).
//!
//! ```text
//! waiter                              thread that advances the sequence
//! seen = word, marked                 sequence = new
//! heavy fence                         light fence
//! load the sequence: not there        is the word marked? then word = next epoch, unmarked; wake
//! sleep unless the word left `seen`
//! ```
//!
//! Either the waiter sees the new sequence or the other side sees the mark (O6). If the epoch advanced before
//! the mark was set, the waiter sees the sequence (O7); if it advances later, that ends the sleep. The thread
//! that wakes clears the mark. Later advances therefore pay nothing until a thread parks again, even if the
//! woken thread gets no CPU for a while.
//!
//! A waiter that polls sleeps without a mark and costs the other side nothing. Only a wake of all sleepers,
//! by a close or a halt, ends its sleep early.

use std::time::Duration;

use super::asymmetric::AsymmetricFence;
use super::word::Epoch;
pub(crate) use super::word::{ENDED, FOLLOW_UP};

/// Length of a sleep where no thread checks for sleepers: 50 µs. With its default timer slack, Linux makes
/// shorter sleeps about as long.
pub(crate) const UNSEEN_SLEEP: Duration = Duration::from_micros(50);

/// Where the threads sleep that wait for one sequence. While none sleeps, it costs the advancing side one
/// load.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct EventCount {
    epoch: Epoch,
}

impl EventCount {
    /// Sleeps until woken, until `is_over`, for `time_left`, or spuriously: the caller checks again. Returns
    /// whether another thread woke it.
    ///
    /// The mark remains if no sleep follows or the sleep timed out, since clearing it could clear the mark of
    /// another waiter. A stale mark costs one needless wake.
    pub(crate) fn park(
        &self,
        fence: AsymmetricFence,
        time_left: impl FnOnce() -> Option<Duration>,
        is_over: impl FnOnce() -> bool,
    ) -> bool {
        let seen = self.epoch.mark();
        // O6: between the mark and the check.
        let is_fenced = fence.heavy();
        if is_over() {
            return false;
        }
        // Without the fence the other side may miss the mark, so the sleep is bounded.
        let longest = (!is_fenced).then_some(UNSEEN_SLEEP);
        let timeout = [time_left(), longest].into_iter().flatten().min();
        self.epoch.sleep(seen, timeout);
        self.epoch.has_left(seen)
    }

    /// Clears the mark of a sleep that is over; false if another thread has woken it. Only for an event count
    /// on which no other thread sleeps: then a thread that [wakes](Self::notify) it and the caller agree on
    /// which came first.
    pub(super) fn take_mark(&self) -> bool {
        self.epoch.take_mark()
    }

    /// Sleeps without a mark for the duration that `length` returns, at most, or not at all. A thread that
    /// advances the sequence does not see this sleeper; [`wake_all`](Self::wake_all) wakes it.
    pub(crate) fn sleep(&self, length: impl FnOnce() -> Option<Duration>) {
        // O7: the epoch is loaded before the check in `length`. A thread that wakes all sleepers stores
        // before it advances the epoch: either the check sees the store, or the new epoch ends the sleep.
        let seen = self.epoch.current();
        if let Some(length) = length() {
            self.epoch.sleep(seen, Some(length));
        }
    }

    /// Whether a thread sleeps here or is about to.
    #[inline]
    pub(super) fn is_awaited(&self) -> bool {
        self.epoch.is_marked()
    }

    /// The mark and the flags; 0 if no thread [sleeps](Self::is_awaited) and no flag is raised.
    #[inline]
    pub(crate) fn flags(&self) -> u32 {
        self.epoch.flags()
    }

    /// Raises a flag for the threads that advance the sequence.
    pub(crate) fn raise(&self, flag: u32) {
        self.epoch.raise(flag);
    }

    /// Lowers a flag that the caller has raised.
    pub(crate) fn lower(&self, flag: u32) {
        self.epoch.lower(flag);
    }

    /// Wakes the sleepers if the word is marked; returns whether this call did. The caller has advanced the
    /// sequence and then run the light fence.
    #[inline]
    pub(crate) fn notify(&self) -> bool {
        self.epoch.is_marked() && self.epoch.wake_marked()
    }

    /// Wakes all sleepers, marked or not: for a close, a halt and the like.
    #[cold]
    pub(crate) fn wake_all(&self) {
        self.epoch.advance_and_wake();
    }
}
