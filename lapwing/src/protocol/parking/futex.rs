//! The futex of Linux (`man 2 futex`).

use std::time::Duration;

use rustix::thread::futex::{Flags, Timespec, wait, wake};

use crate::sync::AtomicU32;

/// The kernel knows who sleeps on a word. It lies in one process, hence `PRIVATE`.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Futex;

impl Futex {
    /// Sleeps unless `word` has left `seen`; until it is woken, `timeout` has passed, or for no
    /// reason at all.
    pub(super) fn sleep(&self, word: &AtomicU32, seen: u32, timeout: Option<Duration>) {
        let timeout = timeout.map(|duration| Timespec {
            // No kernel refuses so many, and nobody misses the sleep to end after 68 years.
            tv_sec: i32::try_from(duration.as_secs()).unwrap_or(i32::MAX).into(),
            tv_nsec: duration.subsec_nanos().into(),
        });
        // Interrupted, timed out, or the word has changed: the caller looks again in any case.
        let _ = wait(word, Flags::PRIVATE, seen, timeout.as_ref());
    }

    /// Wakes whoever sleeps on `word`, which the caller has changed.
    pub(super) fn wake(&self, word: &AtomicU32) {
        // Fails only for a bad address.
        let _ = wake(word, Flags::PRIVATE, i32::MAX.cast_unsigned());
    }
}
