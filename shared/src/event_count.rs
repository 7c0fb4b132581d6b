//! An event count between processes: a thread parks on it until a thread of any process advances what it
//! waits for. Not here: the fences between the mark and what is waited for (`fences`).
//!
//! ```text
//! waiter                             thread that advances
//! seen = word, marked                advance
//! heavy fence                        light fence
//! check: not there                   is the word marked? then word = next epoch, unmarked; wake
//! sleep unless the word has changed
//! ```
//!
//! Either the waiter sees the advance, or the other thread sees the mark (P5). A process that dies after
//! it has cleared the mark and before it wakes the sleepers leaves them asleep. So each process watches the
//! others, and wakes its own threads when one of them dies (`watch`).

use std::time::Duration;

use crate::sync::{AtomicU32, Ordering};

/// A thread is parked, or about to park.
const MARK: u32 = 1;
/// The increment of the word for one epoch.
const EPOCH: u32 = 2;

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
        // P5 and P6, Relaxed: the heavy fence follows. It orders the mark before the check, and acquires
        // what an epoch that is read here carries.
        self.word.fetch_or(MARK, Ordering::Relaxed) | MARK
    }

    /// Whether a thread is parked here, or about to park.
    #[inline]
    pub(crate) fn is_marked(&self) -> bool {
        // P5, Relaxed: the light fence orders it after the caller's store.
        self.word.load(Ordering::Relaxed) & MARK != 0
    }

    /// Wakes the threads that have marked the word. The caller has advanced what they wait for and has
    /// run the light fence.
    #[cold]
    #[inline(never)]
    pub(crate) fn wake_marked(&self) {
        // P5, Relaxed: the mark alone decides. A thread that marks the next epoch sees what the caller
        // stored before the light fence.
        let mut seen = self.word.load(Ordering::Relaxed);
        while seen & MARK != 0 {
            let next = (seen & !MARK).wrapping_add(EPOCH);
            // P5, Relaxed: as above.
            let swap = self.word.compare_exchange(seen, next, Ordering::Relaxed, Ordering::Relaxed);
            match swap {
                Ok(_) => return self.wake(),
                Err(now) => seen = now,
            }
        }
    }

    /// Wakes all sleepers, marked or not.
    #[cold]
    pub(crate) fn wake_all(&self) {
        let next = |word: u32| Some((word & !MARK).wrapping_add(EPOCH));
        // P6, Release: carries what the caller stored. Pairs with `current`, and with the fence after
        // `mark`.
        let _ = self.word.fetch_update(Ordering::Release, Ordering::Relaxed, next);
        self.wake();
    }
}

/// How it sleeps on Linux. Processes share the word, so these are not private futexes.
#[cfg(not(loom))]
impl EventCount {
    /// Sleeps unless the word has changed from `seen`; until it is woken, until `timeout` has passed, or
    /// spuriously.
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

    fn wake(&self) {
        use rustix::thread::futex::{Flags, wake};

        // Fails only for a bad address.
        let _ = wake(&self.word, Flags::empty(), i32::MAX.cast_unsigned());
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

    fn wake(&self) {
        drop(self.sleepers.lock.lock().unwrap());
        self.sleepers.advanced.notify_all();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_wake_up_clears_the_mark() {
        let place = EventCount::default();
        let seen = place.mark();
        assert!(place.is_marked());
        place.wake_marked();
        assert!(!place.is_marked());
        assert_ne!(place.current(), seen & !MARK);
        let unmarked = place.current();
        place.wake_marked(); // wakes nobody, so it changes nothing
        assert_eq!(place.current(), unmarked);
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
        place.wake_marked();
        assert_eq!(place.current(), 0);
    }
}
