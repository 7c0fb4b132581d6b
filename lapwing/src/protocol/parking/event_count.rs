//! Parking on something that advances: the cursor, or the sequence of a stage.
//!
//! ```text
//! waiter                              whoever advances it
//! seen = word, marked                 sequence = new
//! heavy fence                         light fence
//! is it there? no                     is the word marked? then word = next epoch, unmarked; wake
//! sleep unless the word left `seen`
//! ```
//!
//! Either the waiter sees the new sequence or the other side sees the mark (O6). A word that was
//! advanced before it was marked brings the sequence with it (O7); one advanced later ends the
//! sleep. Whoever wakes takes the mark away, so that the next ones who advance the thing pay
//! nothing until somebody has lain down again, even if the woken thread gets no CPU for a while.
//!
//! Who polls need not be seen: it sleeps without a mark, so that nobody pays for it, and only
//! what wakes everybody, a close or a halt, ends its sleep.

use std::time::Duration;

use super::asymmetric::AsymmetricFence;
use super::word::Epoch;
pub(crate) use super::word::{ENDED, FOLLOW_UP};

/// How long a waiter sleeps that parks where nobody looks for sleepers: 50 µs, which is what Linux
/// makes of any shorter sleep.
pub(crate) const UNSEEN_SLEEP: Duration = Duration::from_micros(50);

/// Where those sleep who wait for one thing. Nobody pays for it while nobody sleeps, but for one
/// load.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct EventCount {
    epoch: Epoch,
}

impl EventCount {
    /// Sleeps until `is_over`, or for `time_left`, or for no reason: the caller looks again.
    /// Returns whether somebody woke it.
    ///
    /// A mark that no sleep follows stays, as does that of a sleep that ended by itself: to take it
    /// away could take another waiter's. It costs somebody a needless wake, nothing else.
    pub(crate) fn park(
        &self,
        fence: AsymmetricFence,
        time_left: impl FnOnce() -> Option<Duration>,
        is_over: impl FnOnce() -> bool,
    ) -> bool {
        let seen = self.epoch.mark();
        // O6: between the mark and the look.
        let is_fenced = fence.heavy();
        if is_over() {
            return false;
        }
        // Without the fence nobody might see the mark: then it wakes by itself.
        let longest = (!is_fenced).then_some(UNSEEN_SLEEP);
        let timeout = [time_left(), longest].into_iter().flatten().min();
        self.epoch.sleep(seen, timeout);
        self.epoch.has_left(seen)
    }

    /// Takes away the mark of a sleep that is over, where nobody but the caller ever sleeps; false if
    /// somebody has woken it. So whoever [wakes](Self::notify) it and the caller agree on whether it has.
    pub(super) fn take_mark(&self) -> bool {
        self.epoch.take_mark()
    }

    /// Sleeps, unmarked, for what `length` returns, or not at all, or not to the end. Whoever only
    /// advances the thing does not look for this sleeper; [`wake_all`](Self::wake_all) wakes it.
    pub(crate) fn sleep(&self, length: impl FnOnce() -> Option<Duration>) {
        // O7: the epoch first, then the look that `length` takes. Whoever wakes all stores before it
        // advances the epoch: that shows in the look, or it ends the sleep.
        let seen = self.epoch.current();
        if let Some(length) = length() {
            self.epoch.sleep(seen, Some(length));
        }
    }

    /// Whether somebody sleeps here or is about to.
    #[inline(always)]
    pub(super) fn is_awaited(&self) -> bool {
        self.epoch.is_marked()
    }

    /// What there is to do for whoever advances the thing: 0 if nobody [sleeps](Self::is_awaited) and no flag is raised.
    #[inline(always)]
    pub(crate) fn flags(&self) -> u32 {
        self.epoch.flags()
    }

    /// Raises a flag for whoever advances the thing.
    pub(crate) fn raise(&self, flag: u32) {
        self.epoch.raise(flag);
    }

    /// Lowers a flag that the caller has raised.
    pub(crate) fn lower(&self, flag: u32) {
        self.epoch.lower(flag);
    }

    /// Wakes the sleepers, if there are any and nobody else is about to; whether it did. The caller has
    /// advanced the thing that is waited for, and then run the light fence.
    #[inline(always)]
    pub(crate) fn notify(&self) -> bool {
        self.epoch.is_marked() && self.epoch.wake_marked()
    }

    /// Wakes the sleepers, looked for or not: for what happens once, such as a halt.
    #[cold]
    pub(crate) fn wake_all(&self) {
        self.epoch.advance_and_wake();
    }
}
