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

use std::time::Instant;

use super::asymmetric::AsymmetricFence;
use super::park::Epoch;
use crate::sync::{AtomicU32, Ordering, yield_now};

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
    /// Sleeps until `is_over`, or until `deadline`, or for no reason: the caller looks again.
    pub(crate) fn park(
        &self,
        fence: AsymmetricFence,
        deadline: Option<Instant>,
        is_over: impl Fn() -> bool,
    ) {
        // O6, Relaxed: ordered against the look below by the fence.
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        // Without the fence nobody might see the sleeper: then it does not sleep.
        let is_fenced = fence.heavy();
        let seen = self.epoch.current();
        if !is_fenced {
            yield_now();
        } else if !is_over() {
            let timeout = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            self.epoch.sleep(seen, timeout);
        }
        // O6, Relaxed: a count that is too high costs a needless wake, nothing else.
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
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
