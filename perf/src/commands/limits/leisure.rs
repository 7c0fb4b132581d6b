//! What the reader of a bare ring does with its time after each batch, for all rings of words: it may take the lines of what
//! it has read, by storing words as they are, so that they need not be taken from it when they are written again; and it
//! keeps away for a while, since each of its looks takes a line from whoever writes. Where whoever writes says in another word
//! how far it has come each time that it waits for slots, the reader may watch that word meanwhile. And both may ask for lines
//! before they read or write them.

use std::hint::spin_loop;
use std::ops::Range;
use std::sync::atomic::AtomicU64;

use super::hint;

/// Bytes of a cache line.
pub(super) const LINE: usize = 64;

/// How a reader spends its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leisure {
    /// The name in a report.
    pub(super) name: &'static str,
    /// Pause hints after a batch.
    hints: u32,
    takes_lines: bool,
    /// Whether it ends the time early, when the other word shows something.
    watches: bool,
    /// Whether lines are asked for, at both ends.
    asks: bool,
}

/// That of one that does not watch.
const fn away(name: &'static str, hints: u32, takes_lines: bool) -> Leisure {
    Leisure { name, hints, takes_lines, watches: false, asks: false }
}

/// That of one that takes lines and watches, for some microseconds at most.
const fn watching(name: &'static str, asks: bool) -> Leisure {
    Leisure { name, hints: 48, takes_lines: true, watches: true, asks }
}

impl Leisure {
    /// Those to try: from one that finds a line of events to one that finds thousands of them.
    pub(super) const ALL: [Self; 6] = [
        away("16-hints", 16, false),
        away("128-hints", 128, false),
        away("1024-hints", 1_024, false),
        away("lines-16-hints", 16, true),
        away("lines-128-hints", 128, true),
        away("lines-1024-hints", 1_024, true),
    ];

    /// Those to try where there is a word to watch.
    pub(super) const ALL_AND_WATCHING: [Self; 8] = {
        let [a, b, c, d, e, f] = Self::ALL;
        let asking = watching("watch-asked-48-hints", true);
        [a, b, c, d, e, f, watching("watch-48-hints", false), asking]
    };

    /// Before those of the `slots` are given back that were `read`, if it takes lines: has one of each line stored. The slots
    /// are a power of two.
    #[inline(always)]
    pub(super) fn take_lines<T>(self, slots: &[T], read: Range<u64>, store_as_it_is: impl Fn(&T)) {
        if self.takes_lines {
            for_each_line(slots, read, store_as_it_is);
        }
    }

    /// Asks for the lines of those of the `slots` that are free, before they are written.
    #[inline(always)]
    pub(super) fn ask_to_write(self, slots: &[AtomicU64], free: Range<u64>) {
        if self.asks {
            for_each_line(slots, free, hint::to_write);
        }
    }

    /// Asks for the lines of those that are there, before they are read.
    #[inline(always)]
    pub(super) fn ask_to_read(self, slots: &[AtomicU64], there: Range<u64>) {
        if self.asks {
            for_each_line(slots, there, hint::to_read);
        }
    }

    /// After they are given back.
    #[inline(always)]
    pub(super) fn keep_away(self) {
        (0..self.hints).for_each(|_| spin_loop());
    }

    /// The same, where `shown` reads the word to watch: what it shows beyond `next`, if it does.
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

/// One slot of each line of those that have these `numbers`. There are a power of two.
#[inline(always)]
fn for_each_line<T>(slots: &[T], numbers: Range<u64>, act: impl Fn(&T)) {
    let slot = |number: u64| &slots[number as usize & (slots.len() - 1)];
    numbers.step_by(LINE / size_of::<T>()).for_each(|number| act(slot(number)));
}
