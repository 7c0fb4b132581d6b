//! Blocks a thread with a lock and a condition variable, for platforms without a futex, for Miri
//! and for models.

use std::time::Duration;

use crate::sync::{AtomicU32, Condvar, Mutex, Ordering, wait_timeout};

/// The threads that are blocked on a word.
#[derive(Debug, Default)]
pub(super) struct Portable {
    /// Held from the last load of the word until the thread blocks.
    lock: Mutex<()>,
    advanced: Condvar,
}

impl Portable {
    /// Blocks unless `word` has changed from `seen`; until woken, until `timeout` has passed, or
    /// spuriously.
    pub(super) fn sleep(&self, word: &AtomicU32, seen: u32, timeout: Option<Duration>) {
        let guard = self.lock.lock().expect("no code panics under this lock");
        // O7, Acquire: a thread that sees an epoch sees what was stored before it was advanced.
        if word.load(Ordering::Acquire) != seen {
            return;
        }
        match timeout {
            None => drop(self.advanced.wait(guard).expect("no code panics under this lock")),
            Some(timeout) => wait_timeout(&self.advanced, guard, timeout),
        }
    }

    /// Wakes all threads that are blocked on the word, which the caller has changed.
    pub(super) fn wake(&self, _: &AtomicU32) {
        // A thread that loaded the old word under the lock has blocked by the time this acquires
        // the lock.
        drop(self.lock.lock().expect("no code panics under this lock"));
        self.advanced.notify_all();
    }
}
