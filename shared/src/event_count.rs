//! An event count between processes: a thread parks on it until a thread of any process advances
//! what it waits for. Not here: the fences between the mark and what is waited for (`fences`).
//!
//! ```text
//! waiter                             thread that advances
//! seen = word, marked                advance
//! heavy fence                        light fence
//! check: not there                   is the word marked? then set its second bit, and wake
//! sleep unless the word has changed
//! ```
//!
//! Either the waiter sees the advance, or the other thread sees the mark (P5). The word changes and the
//! sleepers wake in one call of the system (`FUTEX_WAKE_OP`), so that a process that is killed or
//! stopped in between leaves nobody asleep. If it is killed before the call, its peers learn of its
//! death, and wake their own threads (`watch`).
//!
//! ```text
//! word = epoch << 2 | woken << 1 | mark
//! ```
//!
//! The kernel cannot compare before it changes the word, so the change is one that may come twice: it
//! sets a bit. The next waiter begins a new epoch, and clears both.

use std::time::Duration;

use crate::sync::{AtomicU32, Ordering, fence};

/// A thread is parked, or about to park.
const MARK: u32 = 1;
/// Those that had marked the word are woken.
const WOKEN: u32 = 2;
/// The increment of the word for one epoch.
const EPOCH: u32 = 4;

/// The place where threads of all processes park. In the segment it is a word of four bytes.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct EventCount {
    word: AtomicU32,
    #[cfg(loom)]
    sleepers: Sleepers,
}

impl EventCount {
    /// Returns the word to pass to [`sleep`](Self::sleep), for a sleep without a mark.
    pub(crate) fn current(&self) -> u32 {
        // P6, Acquire: a thread that sees an epoch sees what was stored before it was advanced.
        self.word.load(Ordering::Acquire)
    }

    /// Marks the word. Returns the value to pass to [`sleep`](Self::sleep).
    pub(crate) fn mark(&self) -> u32 {
        // P5 and P6, Relaxed, here and below: the heavy fence follows. It orders the mark before the
        // check, and acquires what an epoch that is read here carries.
        let mut seen = self.word.load(Ordering::Relaxed);
        loop {
            let marked =
                if seen & WOKEN == 0 { seen } else { (seen & !(MARK | WOKEN)).wrapping_add(EPOCH) };
            let (relaxed, marked) = (Ordering::Relaxed, marked | MARK);
            match self.word.compare_exchange_weak(seen, marked, relaxed, relaxed) {
                Ok(_) => return marked,
                Err(now) => seen = now,
            }
        }
    }

    /// Wakes the threads that have marked the word, if any has. The caller has advanced what they
    /// wait for, and has run the light fence.
    #[inline]
    pub(crate) fn notify(&self) {
        if self.is_marked() {
            self.wake_marked();
        }
    }

    /// Whether a thread is parked here, or about to park, and nobody has woken it.
    #[inline]
    fn is_marked(&self) -> bool {
        // P5, Relaxed: the light fence orders it after the caller's store.
        self.word.load(Ordering::Relaxed) & (MARK | WOKEN) == MARK
    }

    #[cold]
    #[inline(never)]
    fn wake_marked(&self) {
        self.change_and_wake(Change::Woken);
    }

    /// Wakes all sleepers, marked or not.
    #[cold]
    pub(crate) fn wake_all(&self) {
        // P6, Release: carries what the caller stored. Pairs with `current`, and with the fence after
        // `mark`.
        fence(Ordering::Release);
        // A mark stays: a thread that has set it, and does not sleep yet, needs it.
        self.change_and_wake(Change::Epoch);
    }
}

/// How the word changes when sleepers are woken.
#[derive(Debug, Clone, Copy)]
enum Change {
    /// Those that have marked it are woken.
    Woken,
    /// A new epoch, with the same mark.
    Epoch,
}

/// How it sleeps on Linux. Processes share the word, so these are not private futexes.
#[cfg(not(loom))]
impl EventCount {
    /// Sleeps unless the word has changed from `seen`; until it is woken, until `timeout` has
    /// passed, or spuriously.
    pub(crate) fn sleep(&self, seen: u32, timeout: Option<Duration>) {
        use rustix::thread::futex::{Flags, Timespec, wait};

        let timeout = timeout.map(|time| Timespec {
            // At most 68 years, which each kernel accepts.
            tv_sec: i32::try_from(time.as_secs()).unwrap_or(i32::MAX).into(),
            tv_nsec: time.subsec_nanos().into(),
        });
        // Interrupted, expired or changed: the caller checks again in any case.
        let _ = wait(&self.word, Flags::empty(), seen, timeout.as_ref());
    }

    /// Changes the word, and wakes all sleepers.
    fn change_and_wake(&self, change: Change) {
        use rustix::thread::futex::{Flags, WakeOp, WakeOpCmp, wake_op};

        let (op, by) = match change {
            Change::Woken => (WakeOp::Or, WOKEN),
            Change::Epoch => (WakeOp::Add, EPOCH),
        };
        let (word, none, all) = (&self.word, 0, i32::MAX.cast_unsigned());
        // The comparison decides about a second word, of which it wakes none. Fails only for a bad
        // address.
        let _ = wake_op(word, Flags::empty(), all, none, word, op, WakeOpCmp::Eq, by as u16, 0);
    }
}

/// The threads that sleep, in a model.
#[cfg(loom)]
#[derive(Debug, Default)]
struct Sleepers {
    lock: crate::sync::Mutex<()>,
    advanced: crate::sync::Condvar,
}

#[cfg(loom)]
impl EventCount {
    pub(crate) fn sleep(&self, seen: u32, _: Option<Duration>) {
        let guard = self.sleepers.lock.lock().unwrap();
        // P6, Acquire: as in `current`.
        if self.word.load(Ordering::Acquire) == seen {
            drop(self.sleepers.advanced.wait(guard).unwrap());
        }
    }

    fn change_and_wake(&self, change: Change) {
        let guard = self.sleepers.lock.lock().unwrap();
        // P5 and P6, Relaxed: the fences of the callers carry what they stored.
        match change {
            Change::Woken => self.word.fetch_or(WOKEN, Ordering::Relaxed),
            Change::Epoch => self.word.fetch_add(EPOCH, Ordering::Relaxed),
        };
        drop(guard);
        self.sleepers.advanced.notify_all();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn two_wake_ups_for_one_mark_are_one() {
        let place = EventCount::default();
        let seen = place.mark();
        assert!(place.is_marked());
        place.wake_marked();
        place.wake_marked();
        assert!(!place.is_marked());
        assert_ne!(place.current(), seen);
        let next = place.mark();
        assert!(place.is_marked() && next != seen);
    }

    #[test]
    fn a_wake_up_of_all_leaves_the_mark_of_others() {
        let place = EventCount::default();
        let seen = place.mark();
        place.wake_all();
        assert!(place.is_marked());
        assert_ne!(place.current(), seen);
    }

    #[test]
    fn a_thread_that_read_an_old_word_does_not_sleep() {
        let place = EventCount::default();
        let (marked, unmarked) = (place.mark(), place.current());
        place.wake_all();
        place.sleep(marked, None);
        place.sleep(unmarked, None);
    }

    #[test]
    fn epochs_wrap() {
        let place = EventCount { word: AtomicU32::new(u32::MAX) };
        assert_eq!(place.mark(), MARK);
    }
}
