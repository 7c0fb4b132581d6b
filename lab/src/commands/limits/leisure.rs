//! What the reader of a bare ring of words does after each batch:
//!
//! - It can acquire the cache lines of the slots that it has read, by storing the words with their
//!   own values. The writer then need not take them from the reader.
//! - It backs off, because each of its polls takes a cache line from the writer.
//! - It can watch another word meanwhile, in which the writer stores its progress whenever it waits
//!   for slots.
//!
//! Both ends can prefetch cache lines before they read or write them.

use std::hint::spin_loop;
use std::ops::Range;
use std::sync::atomic::AtomicU64;

use super::hint;

/// Bytes of a cache line.
pub(super) const LINE: usize = 64;

/// The behaviour of a reader between batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leisure {
    /// The name in a report.
    pub(super) name: &'static str,
    /// Pause hints after a batch.
    hints: u32,
    takes_lines: bool,
    /// Whether it ends the back-off early when the other word shows progress.
    watches: bool,
    /// Whether both ends prefetch cache lines.
    asks: bool,
}

/// Returns the leisure of a reader that does not watch.
const fn away(name: &'static str, hints: u32, takes_lines: bool) -> Leisure {
    Leisure { name, hints, takes_lines, watches: false, asks: false }
}

/// Returns the leisure of a reader that acquires cache lines and watches, for a few microseconds at
/// most.
const fn watching(name: &'static str, asks: bool) -> Leisure {
    Leisure { name, hints: 48, takes_lines: true, watches: true, asks }
}

impl Leisure {
    /// The candidates, for readers that find from one cache line to thousands of cache lines of
    /// events.
    pub(super) const ALL: [Self; 6] = [
        away("16-hints", 16, false),
        away("128-hints", 128, false),
        away("1024-hints", 1_024, false),
        away("lines-16-hints", 16, true),
        away("lines-128-hints", 128, true),
        away("lines-1024-hints", 1_024, true),
    ];

    /// The candidates if there is a word to watch.
    pub(super) const ALL_AND_WATCHING: [Self; 8] = {
        let [a, b, c, d, e, f] = Self::ALL;
        let asking = watching("watch-asked-48-hints", true);
        [a, b, c, d, e, f, watching("watch-48-hints", false), asking]
    };

    /// Stores one word of each cache line of the `read` slots, if it acquires cache lines. Called
    /// before the slots are released. The number of slots is a power of two.
    #[inline(always)]
    pub(super) fn take_lines<T>(self, slots: &[T], read: Range<u64>, store_as_it_is: impl Fn(&T)) {
        if self.takes_lines {
            for_each_line(slots, read, store_as_it_is);
        }
    }

    /// Prefetches the cache lines of the free ones of `slots`, before they are written.
    #[inline(always)]
    pub(super) fn ask_to_write(self, slots: &[AtomicU64], free: Range<u64>) {
        if self.asks {
            for_each_line(slots, free, hint::to_write);
        }
    }

    /// Prefetches the cache lines of the available events, before they are read.
    #[inline(always)]
    pub(super) fn ask_to_read(self, slots: &[AtomicU64], there: Range<u64>) {
        if self.asks {
            for_each_line(slots, there, hint::to_read);
        }
    }

    /// Backs off after the slots are released.
    #[inline(always)]
    pub(super) fn keep_away(self) {
        (0..self.hints).for_each(|_| spin_loop());
    }

    /// Backs off like [`keep_away`](Self::keep_away), but reads the watched word by `shown`.
    /// Returns its value as soon as it exceeds `next`.
    #[inline(always)]
    pub(super) fn watch(self, next: u64, shown: impl Fn() -> u64) -> Option<u64> {
        if !self.watches {
            self.keep_away();
            return None;
        }
        (0..self.hints).find_map(|_| {
            spin_loop();
            Some(shown()).filter(|&end| end > next)
        })
    }
}

/// Calls `act` for one slot of each cache line of the slots with these `numbers`. The number of
/// slots is a power of two.
#[inline(always)]
fn for_each_line<T>(slots: &[T], numbers: Range<u64>, act: impl Fn(&T)) {
    let slot = |number: u64| &slots[number as usize & (slots.len() - 1)];
    numbers.step_by(LINE / size_of::<T>()).for_each(|number| act(slot(number)));
}
