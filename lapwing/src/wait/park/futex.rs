//! The futex of Linux (`man 2 futex`).

use std::time::Duration;

use rustix::thread::futex::{Flags, Timespec, wait, wake};

use crate::sync::{AtomicU32, Ordering};

/// A word that threads sleep on. It lies in one process, hence `PRIVATE`.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Epoch(AtomicU32);

impl Epoch {
    /// The epoch to hand to [`sleep`](Self::sleep).
    pub(crate) fn current(&self) -> u32 {
        // O7, Acquire: who sees an epoch sees what was stored before it was advanced.
        self.0.load(Ordering::Acquire)
    }

    /// Sleeps unless the epoch has left `seen`; until it is advanced, `timeout` has passed, or for
    /// no reason at all.
    pub(crate) fn sleep(&self, seen: u32, timeout: Option<Duration>) {
        let timeout = timeout.map(|duration| Timespec {
            // No kernel refuses so many, and nobody misses the sleep to end after 68 years.
            tv_sec: i32::try_from(duration.as_secs()).unwrap_or(i32::MAX).into(),
            tv_nsec: duration.subsec_nanos().into(),
        });
        // Interrupted, timed out, or the epoch has changed: the caller looks again in any case.
        let _ = wait(&self.0, Flags::PRIVATE, seen, timeout.as_ref());
    }

    /// Whether the epoch has left `seen`, for whoever counts wakes.
    pub(crate) fn has_left(&self, seen: u32) -> bool {
        // O13, Relaxed: a look.
        self.0.load(Ordering::Relaxed) != seen
    }

    /// Advances the epoch and wakes every sleeper.
    pub(crate) fn advance_and_wake(&self) {
        // O7, Release: carries what the caller stored before. Pairs with the Acquire in `current`.
        self.0.fetch_add(1, Ordering::Release);
        // Fails only for a bad address.
        let _ = wake(&self.0, Flags::PRIVATE, i32::MAX.cast_unsigned());
    }
}
