//! Parking on something that advances: the cursor, or the sequence of a stage.
//!
//! ```text
//! waiter                              whoever advances it
//! sleepers += 1                       sequence = new
//! heavy fence                         light fence
//! seen = epoch; is it there? no       sleepers > 0? then epoch += 1, wake
//! sleep unless epoch left `seen`
//! ```
//!
//! Either the waiter sees the new sequence or the other side sees the sleeper (O6). An epoch that
//! was advanced before it was read brings the sequence with it (O7); one advanced later ends the
//! sleep.
//!
//! Who polls need not be seen: it sleeps without being counted, so that nobody pays for it, and only
//! what wakes everybody, a close or a halt, ends its sleep.

use std::time::Duration;

use super::asymmetric::AsymmetricFence;
use super::park::Epoch;
use crate::sync::{AtomicU32, Ordering};

/// How long a waiter sleeps that parks where nobody looks for sleepers: 50 µs, which is what Linux
/// makes of any shorter sleep.
pub(super) const UNSEEN_SLEEP: Duration = Duration::from_micros(50);

/// Where those sleep who wait for one thing. Nobody pays for it while nobody sleeps, but for one
/// load.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct EventCount {
    /// Threads that sleep here or are about to. Written by waiters, read by whoever advances the
    /// thing.
    sleepers: AtomicU32,
    epoch: Epoch,
}

impl EventCount {
    /// Sleeps until `is_over`, or for `time_left`, or for no reason: the caller looks again.
    /// Returns whether somebody woke it.
    pub(crate) fn park(
        &self,
        fence: AsymmetricFence,
        time_left: impl FnOnce() -> Option<Duration>,
        is_over: impl FnOnce() -> bool,
    ) -> bool {
        // O6, Relaxed: ordered against the look below by the fence.
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        let is_fenced = fence.heavy();
        let seen = self.epoch.current();
        let mut is_woken = false;
        if !is_over() {
            // Without the fence nobody might see the sleeper: then it wakes by itself.
            let longest = (!is_fenced).then_some(UNSEEN_SLEEP);
            let timeout = [time_left(), longest].into_iter().flatten().min();
            self.epoch.sleep(seen, timeout);
            is_woken = self.epoch.has_left(seen);
        }
        // O6, Relaxed: a count that is too high costs a needless wake, nothing else.
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
        is_woken
    }

    /// Sleeps, uncounted, for what `length` returns, or not at all, or not to the end. Whoever only
    /// advances the thing does not look for this sleeper; [`wake_all`](Self::wake_all) wakes it.
    pub(crate) fn sleep(&self, length: impl FnOnce() -> Option<Duration>) {
        // O7: the epoch first, then the look that `length` takes. Whoever wakes all stores before it
        // advances the epoch: that shows in the look, or it ends the sleep.
        let seen = self.epoch.current();
        if let Some(length) = length() {
            self.epoch.sleep(seen, Some(length));
        }
    }

    /// Wakes the sleepers, if there are any. The caller has advanced the thing that is waited for,
    /// and then run the light fence.
    #[inline(always)]
    pub(crate) fn notify(&self) {
        // O6, Relaxed: ordered after the caller's store by the fence.
        if self.sleepers.load(Ordering::Relaxed) != 0 {
            self.wake_all();
        }
    }

    /// Wakes the sleepers, looked for or not: for what happens once, such as a halt.
    #[cold]
    pub(crate) fn wake_all(&self) {
        self.epoch.advance_and_wake();
    }
}
