//! The word of an event count. It holds an epoch, a mark that a thread is parked or about to park,
//! and flags for the threads that advance the sequence.
//!
//! ```text
//! word = epoch << 4 | flags | mark      a waiter sets the mark; a thread that wakes clears it and
//!                                       moves to the next epoch, which keeps the flags
//! ```
//!
//! The flags have nothing to do with parking. They are here because a thread that advances the
//! sequence loads this word each time. One load and one branch then tell it that no thread is
//! parked and that there is nothing else to do.
//!
//! The epoch advances before the parked threads are woken. A thread that loaded the old word
//! therefore either does not block or is woken.

use std::time::Duration;

#[cfg(not(any(loom, miri, lapwing_portable, not(target_os = "linux"))))]
use super::futex::Futex as Sleepers;
#[cfg(any(loom, miri, lapwing_portable, not(target_os = "linux")))]
use super::portable::Portable as Sleepers;
use crate::sync::{AtomicU32, Ordering};

/// A thread is parked here or about to park.
pub(super) const MARK: u32 = 1;
/// Flag: the ring accepts nothing more; [`Life`](crate::life::Life) has the reason. Never
/// lowered.
pub(crate) const ENDED: u32 = 2;
/// Flag: a thread that advances the sequence has more to do than to check this word.
pub(crate) const FOLLOW_UP: u32 = 4;
/// Flag: tasks wait here, and rely on a full fence of the thread that advances the sequence. Never
/// lowered.
pub(super) const TASKS: u32 = 8;
/// The increment of the word for one epoch.
const EPOCH: u32 = 16;

/// A word on which threads park.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Epoch {
    word: AtomicU32,
    sleepers: Sleepers,
}

impl Epoch {
    /// Returns the word to pass to [`sleep`](Self::sleep), for a sleep without a mark.
    pub(super) fn current(&self) -> u32 {
        // O7, Acquire: a thread that sees an epoch sees what was stored before it was advanced.
        self.word.load(Ordering::Acquire)
    }

    /// Marks the word; returns the value to pass to [`sleep`](Self::sleep).
    pub(super) fn mark(&self) -> u32 {
        // O6 and O7, Relaxed: a fence follows. It orders the mark before the check, and
        // acquires what an epoch that is read here carries.
        self.word.fetch_or(MARK, Ordering::Relaxed) | MARK
    }

    /// Whether a thread is parked here or about to park.
    #[inline]
    pub(super) fn is_marked(&self) -> bool {
        self.flags() & MARK != 0
    }

    /// Returns the mark and the flags: 0 if there is nothing to do.
    #[inline]
    pub(super) fn flags(&self) -> u32 {
        // O6, O8 and O33, Relaxed: ordered after the caller's store by the light fence.
        self.word.load(Ordering::Relaxed) & (EPOCH - 1)
    }

    /// Raises a flag.
    pub(super) fn raise(&self, flag: u32) {
        // O32, Release: carries what was stored before the flag. Pairs with the fence in
        // `why_ended`.
        self.word.fetch_or(flag, Ordering::Release);
    }

    /// Lowers a flag.
    pub(super) fn lower(&self, flag: u32) {
        // O13, Relaxed: only the thread that raised a flag lowers it, and the flag carries no data.
        self.word.fetch_and(!flag, Ordering::Relaxed);
    }

    /// Blocks unless the word has changed from `seen`; until it changes, until `timeout` has
    /// passed, or spuriously, for example when a flag changes.
    pub(super) fn sleep(&self, seen: u32, timeout: Option<Duration>) {
        self.sleepers.sleep(&self.word, seen, timeout);
    }

    /// Returns the number of the epoch.
    #[cfg(test)]
    pub(super) fn number(&self) -> u32 {
        self.current() / EPOCH
    }

    /// Whether the epoch of `seen` is over, for statistics of wake-ups.
    pub(super) fn has_left(&self, seen: u32) -> bool {
        // O13, Relaxed: a snapshot. It ignores the flags, which change within an epoch.
        (self.word.load(Ordering::Relaxed) ^ seen) >= EPOCH
    }

    /// Clears the mark. Returns false if another thread has already woken the parked thread.
    pub(super) fn take_mark(&self) -> bool {
        // O29, Relaxed: one modification order decides which of the two came first.
        self.word.fetch_and(!MARK, Ordering::Relaxed) & MARK != 0
    }

    /// Advances a marked word and wakes every parked thread. Returns false if another thread has
    /// done so.
    #[inline]
    pub(super) fn wake_marked(&self) -> bool {
        // O6, Relaxed: ordered after the caller's store by the light fence.
        let mut seen = self.word.load(Ordering::Relaxed);
        while seen & MARK != 0 {
            let next = (seen & !MARK).wrapping_add(EPOCH);
            // O6, Relaxed: a thread that parks after this marks the word after the load above, and
            // sees what the caller stored. On failure, either a flag changed and the threads are
            // still parked, or another thread has woken them and cleared the mark.
            let swap = self.word.compare_exchange(seen, next, Ordering::Relaxed, Ordering::Relaxed);
            match swap {
                Ok(_) => {
                    self.sleepers.wake(&self.word);
                    return true;
                }
                Err(now) => seen = now,
            }
        }
        false
    }

    /// Advances the word, marked or not, and wakes every blocked thread.
    pub(super) fn advance_and_wake(&self) {
        let advanced = |word: u32| Some((word & !MARK).wrapping_add(EPOCH));
        // O7, Release: carries what the caller stored before. Pairs with the Acquire in `current`,
        // and with the fence after `mark`. Relaxed: the old word is only incremented.
        let _ = self.word.fetch_update(Ordering::Release, Ordering::Relaxed, advanced);
        self.sleepers.wake(&self.word);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_wake_up_clears_the_mark_and_a_second_one_finds_none() {
        let epoch = Epoch::default();
        assert!(!epoch.is_marked());
        let seen = epoch.mark();
        assert!(epoch.is_marked() && !epoch.has_left(seen));
        epoch.wake_marked();
        assert!(!epoch.is_marked() && epoch.has_left(seen));
        let unmarked = epoch.current();
        epoch.wake_marked();
        assert_eq!(epoch.current(), unmarked);
    }

    #[test]
    fn a_thread_that_read_the_old_word_does_not_block() {
        let epoch = Epoch::default();
        let (marked, unmarked) = (epoch.mark(), epoch.current());
        epoch.advance_and_wake();
        epoch.sleep(marked, None);
        epoch.sleep(unmarked, None);
        let unmarked = epoch.current();
        epoch.advance_and_wake();
        epoch.sleep(unmarked, None); // a sleep without a mark
    }

    #[test]
    fn epochs_wrap_after_the_last() {
        let last = !(EPOCH - 1) | ENDED;
        let epoch = Epoch { word: AtomicU32::new(last), ..Epoch::default() };
        let seen = epoch.mark();
        epoch.wake_marked();
        assert_eq!((seen, epoch.current()), (last | MARK, ENDED));
    }

    #[test]
    fn flags_outlive_an_epoch_and_end_none() {
        let epoch = Epoch::default();
        let seen = epoch.mark();
        for flag in [ENDED, FOLLOW_UP, TASKS] {
            epoch.raise(flag);
        }
        assert!(!epoch.has_left(seen));
        epoch.sleep(seen, None); // the word has changed, so this returns at once
        epoch.wake_marked();
        assert_eq!(epoch.flags(), ENDED | FOLLOW_UP | TASKS);
        assert!(epoch.has_left(seen));
        epoch.lower(FOLLOW_UP);
        epoch.advance_and_wake();
        assert_eq!(epoch.flags(), ENDED | TASKS);
    }
}
