//! Sleeping with a lock and a condition variable, for platforms without a futex, for Miri and for
//! models.

use std::time::Duration;

use crate::sync::{AtomicU32, Condvar, Mutex, Ordering};

/// A word that threads sleep on.
#[derive(Debug, Default)]
pub(crate) struct Epoch {
    word: AtomicU32,
    /// Held between the last look at `word` and falling asleep.
    lock: Mutex<()>,
    advanced: Condvar,
}

impl Epoch {
    /// The epoch to hand to [`sleep`](Self::sleep).
    pub(crate) fn current(&self) -> u32 {
        // O7, Acquire: who sees an epoch sees what was stored before it was advanced.
        self.word.load(Ordering::Acquire)
    }

    /// Sleeps unless the epoch has left `seen`; until it is advanced, `timeout` has passed, or for
    /// no reason at all.
    pub(crate) fn sleep(&self, seen: u32, timeout: Option<Duration>) {
        let guard = self.lock.lock().expect("nothing panics under this lock");
        // O7, Acquire: as in `current`.
        if self.word.load(Ordering::Acquire) != seen {
            return;
        }
        match timeout {
            None => drop(self.advanced.wait(guard).expect("nothing panics under this lock")),
            Some(timeout) => drop(
                self.advanced.wait_timeout(guard, timeout).expect("nothing panics under this lock"),
            ),
        }
    }

    /// Whether the epoch has left `seen`, for whoever counts wakes.
    pub(crate) fn has_left(&self, seen: u32) -> bool {
        // O13, Relaxed: a look.
        self.word.load(Ordering::Relaxed) != seen
    }

    /// Advances the epoch and wakes every sleeper.
    pub(crate) fn advance_and_wake(&self) {
        // O7, Release: carries what the caller stored before. Pairs with the Acquire in `current`.
        self.word.fetch_add(1, Ordering::Release);
        // Whoever saw the old epoch under the lock is asleep once the lock can be had.
        drop(self.lock.lock().expect("nothing panics under this lock"));
        self.advanced.notify_all();
    }
}
