//! An event count: parks a thread until the cursor or the sequence of a stage advances. Not here:
//! how long a thread spins before it parks (`wait`), and the layout of the word (`word`).
//!
//! ```text
//! waiter                              thread that advances the sequence
//! seen = word, marked                 sequence = new
//! heavy fence                         light fence
//! load the sequence: not reached      is the word marked? then word = next epoch, unmarked; wake
//! park unless the word has changed
//! from `seen`
//! ```
//!
//! Either the waiter sees the new sequence or the other side sees the mark (O6). If the epoch
//! advances before the mark is set, the waiter sees the sequence (O7). If it advances later, that
//! ends the park. The thread that wakes the others clears the mark. Later advances therefore pay
//! nothing until a thread parks again, even if the woken thread gets no CPU for a while.
//!
//! A waiter that polls between timed sleeps sets no mark and costs the other side nothing. Only a
//! wake-up of all threads, by a close or a halt, ends its sleep early.

use std::time::Duration;

use super::asymmetric::AsymmetricFence;
use super::word::Epoch;
pub(crate) use super::word::{ENDED, FOLLOW_UP};

/// Length of a sleep where no thread checks for parked threads: 50 µs. With its default timer
/// slack, Linux makes shorter sleeps about as long.
pub(crate) const UNSEEN_SLEEP: Duration = Duration::from_micros(50);

/// Longest park where a thread is [woken late](EventCount::late): 100 µs, several times the cost of a
/// sleep and a wake-up. What a consumer holds for longer may be what the thread waits for.
const LATE_SLEEP: Duration = Duration::from_micros(100);

/// The place where threads park that wait for one sequence. While none is parked, it costs the
/// thread that advances the sequence one load.
#[derive(Debug, Default)]
#[repr(C)]
pub struct EventCount {
    epoch: Epoch,
    /// Whether a thread that parks here may be woken later than it could go on.
    is_late: bool,
}

impl EventCount {
    /// Creates the place of threads that are not woken as soon as they could go on. A park here has
    /// a short limit, whatever the caller asks for.
    pub(super) fn late() -> Self {
        Self { is_late: true, ..Self::default() }
    }

    /// Parks until woken, until `is_over`, for `time_left`, or spuriously; the caller must check
    /// its condition again. Returns whether another thread woke it.
    ///
    /// The mark stays set if the thread did not park or timed out, since clearing it could clear
    /// the mark of another waiter. A stale mark costs one needless wake-up.
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
        // Without the fence the other side may miss the mark, so the time is bounded.
        let unseen = (!is_fenced).then_some(UNSEEN_SLEEP);
        let late = self.is_late.then_some(LATE_SLEEP);
        let timeout = [time_left(), unseen, late].into_iter().flatten().min();
        self.epoch.sleep(seen, timeout);
        self.epoch.has_left(seen)
    }

    /// Clears the mark after a park has ended. Returns false if another thread has woken this one.
    /// Only for an event count on which no other thread parks: a thread that [wakes](Self::notify)
    /// it and the caller then agree on which was first.
    pub(super) fn take_mark(&self) -> bool {
        self.epoch.take_mark()
    }

    /// Sleeps without a mark, at most for the duration that `length` returns, or not at all if it
    /// returns `None`. A thread that advances the sequence does not see this thread;
    /// [`wake_all`](Self::wake_all) wakes it.
    pub(crate) fn sleep(&self, length: impl FnOnce() -> Option<Duration>) {
        // O7: the epoch is loaded before the check in `length`. A thread that wakes all others
        // stores before it advances the epoch. Either the check sees that store, or the new epoch
        // ends the sleep.
        let seen = self.epoch.current();
        if let Some(length) = length() {
            self.epoch.sleep(seen, Some(length));
        }
    }

    /// Whether a thread is parked here or is about to park.
    #[inline]
    pub(super) fn is_awaited(&self) -> bool {
        self.epoch.is_marked()
    }

    /// Returns the mark and the flags; 0 if no thread [is parked](Self::is_awaited) and no flag is
    /// raised.
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

    /// Wakes the parked threads if the word is marked; returns whether this call did. The caller
    /// has advanced the sequence and then run the light fence.
    #[inline]
    pub(crate) fn notify(&self) -> bool {
        self.epoch.is_marked() && self.epoch.wake_marked()
    }

    /// Returns how often threads were woken.
    #[cfg(test)]
    pub(crate) fn epochs(&self) -> u32 {
        self.epoch.number()
    }

    /// Wakes all threads, marked or not; for a close, a halt and similar events.
    #[cold]
    pub(crate) fn wake_all(&self) {
        self.epoch.advance_and_wake();
    }
}
