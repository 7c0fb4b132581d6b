//! Blocks a thread on a word with the futex of Linux (`man 2 futex`).

use std::time::Duration;

use rustix::thread::futex::{Flags, Timespec, wait, wake};

use crate::sync::AtomicU32;

/// The futex operations on a word. The kernel keeps the list of blocked threads, so this has no
/// fields. No other process shares the word: `PRIVATE`.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Futex;

impl Futex {
    /// Blocks unless `word` has changed from `seen`; until woken, until `timeout` has passed, or
    /// spuriously.
    pub(super) fn sleep(&self, word: &AtomicU32, seen: u32, timeout: Option<Duration>) {
        let timeout = timeout.map(|duration| Timespec {
            // Caps the seconds at 68 years, which every kernel accepts.
            tv_sec: i32::try_from(duration.as_secs()).unwrap_or(i32::MAX).into(),
            tv_nsec: duration.subsec_nanos().into(),
        });
        // Interrupted, timed out or changed: the caller checks again in any case.
        let _ = wait(word, Flags::PRIVATE, seen, timeout.as_ref());
    }

    /// Wakes all threads that are blocked on `word`, which the caller has changed.
    pub(super) fn wake(&self, word: &AtomicU32) {
        // Fails only for a bad address.
        let _ = wake(word, Flags::PRIVATE, i32::MAX.cast_unsigned());
    }
}
