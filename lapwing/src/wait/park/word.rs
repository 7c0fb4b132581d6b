//! The word that threads sleep on: an epoch, and a mark that says that somebody sleeps or is about to.
//!
//! ```text
//! word = epoch << 1 | mark        a waiter sets the mark; whoever wakes adds one to a marked word,
//!                                 which is the next epoch without a mark
//! ```
//!
//! It is advanced before its sleepers are woken, so whoever read the old word either does not fall
//! asleep or is woken.

use std::time::Duration;

use super::Sleepers;
use crate::sync::{AtomicU32, Ordering};

/// That somebody sleeps here or is about to.
const MARK: u32 = 1;

/// A word that threads sleep on.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Epoch {
    word: AtomicU32,
    sleepers: Sleepers,
}

impl Epoch {
    /// The word to hand to [`sleep`](Self::sleep), for who is not to be looked for.
    pub(crate) fn current(&self) -> u32 {
        // O7, Acquire: who sees an epoch sees what was stored before it was advanced.
        self.word.load(Ordering::Acquire)
    }

    /// Marks the word; returns it to hand to [`sleep`](Self::sleep).
    pub(crate) fn mark(&self) -> u32 {
        // O6 and O7, Relaxed: the heavy fence comes next. It orders the mark against the look after
        // it, and acquires what an epoch that was read here brings.
        self.word.fetch_or(MARK, Ordering::Relaxed) | MARK
    }

    /// Whether somebody sleeps here or is about to.
    #[inline(always)]
    pub(crate) fn is_marked(&self) -> bool {
        self.marked() != 0
    }

    /// The mark, 0 if there is none: for who asks for several things at once.
    #[inline(always)]
    pub(crate) fn marked(&self) -> u32 {
        // O6, Relaxed: ordered after the caller's store by the light fence.
        self.word.load(Ordering::Relaxed) & MARK
    }

    /// Sleeps unless the word has left `seen`; until it does, `timeout` has passed, or for no reason
    /// at all.
    pub(crate) fn sleep(&self, seen: u32, timeout: Option<Duration>) {
        self.sleepers.sleep(&self.word, seen, timeout);
    }

    /// Whether the word has left `seen`, for whoever counts wakes.
    pub(crate) fn has_left(&self, seen: u32) -> bool {
        // O13, Relaxed: a look.
        self.word.load(Ordering::Relaxed) != seen
    }

    /// Takes the mark away; false if somebody has woken who set it.
    pub(crate) fn take_mark(&self) -> bool {
        // O29, Relaxed: one modification order says which of the two came first.
        self.word.fetch_and(!MARK, Ordering::Relaxed) & MARK != 0
    }

    /// Advances a marked word, and wakes every sleeper; false if somebody else does.
    #[cold]
    #[inline(never)]
    pub(crate) fn wake_marked(&self) -> bool {
        // O6, Relaxed: as in `is_marked`.
        let seen = self.word.load(Ordering::Relaxed);
        if seen & MARK == 0 {
            return false;
        }
        let next = seen.wrapping_add(1);
        // O6, Relaxed: who lies down from now on marks the word after the look above, and so sees what
        // the caller stored. Hence also nothing to do on failure: somebody else has woken those that
        // were asleep.
        let is_mine =
            self.word.compare_exchange(seen, next, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_mine {
            self.sleepers.wake(&self.word);
        }
        is_mine
    }

    /// Advances the word, marked or not, and wakes every sleeper.
    pub(crate) fn advance_and_wake(&self) {
        let advanced = |word: u32| Some((word | MARK).wrapping_add(1));
        // O7, Release: carries what the caller stored before. Pairs with the Acquire in `current`, and
        // with the fence after `mark`. Relaxed: the old word is only counted on.
        let _ = self.word.fetch_update(Ordering::Release, Ordering::Relaxed, advanced);
        self.sleepers.wake(&self.word);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn who_wakes_takes_the_mark_away_and_nobody_after_it_finds_one() {
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
    fn whoever_read_the_old_word_does_not_fall_asleep() {
        let epoch = Epoch::default();
        let (counted, uncounted) = (epoch.mark(), epoch.current());
        epoch.advance_and_wake();
        epoch.sleep(counted, None);
        epoch.sleep(uncounted, None);
        let uncounted = epoch.current();
        epoch.advance_and_wake();
        epoch.sleep(uncounted, None); // of an unmarked word too
    }

    #[test]
    fn epochs_begin_anew_after_the_last() {
        let epoch = Epoch { word: AtomicU32::new(u32::MAX - 1), ..Epoch::default() };
        let seen = epoch.mark();
        epoch.wake_marked();
        assert_eq!((seen, epoch.current()), (u32::MAX, 0));
    }
}
