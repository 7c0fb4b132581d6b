//! Sleeping with a lock and a condition variable, for platforms without a futex, for Miri and for
//! models.

use std::time::Duration;

use crate::sync::{AtomicU32, Condvar, Mutex, Ordering};

/// Those who sleep on a word.
#[derive(Debug, Default)]
pub(super) struct Portable {
    /// Held between the last look at the word and falling asleep.
    lock: Mutex<()>,
    advanced: Condvar,
}

impl Portable {
    /// Sleeps unless `word` has left `seen`; until it is woken, `timeout` has passed, or for no
    /// reason at all.
    pub(super) fn sleep(&self, word: &AtomicU32, seen: u32, timeout: Option<Duration>) {
        let guard = self.lock.lock().expect("nothing panics under this lock");
        // O7, Acquire: as in `Epoch::current`.
        if word.load(Ordering::Acquire) != seen {
            return;
        }
        match timeout {
            None => drop(self.advanced.wait(guard).expect("nothing panics under this lock")),
            Some(timeout) => drop(
                self.advanced.wait_timeout(guard, timeout).expect("nothing panics under this lock"),
            ),
        }
    }

    /// Wakes whoever sleeps on the word, which the caller has changed.
    pub(super) fn wake(&self, _: &AtomicU32) {
        // Whoever saw the old word under the lock is asleep once the lock can be had.
        drop(self.lock.lock().expect("nothing panics under this lock"));
        self.advanced.notify_all();
    }
}
