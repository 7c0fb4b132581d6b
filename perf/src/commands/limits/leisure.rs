//! What the reader of a bare ring does with its time after each batch, for all rings of words: it may take the lines of what
//! it has read, by storing words as they are, so that they need not be taken from it when they are written again; and it
//! keeps away for a while, since each of its looks takes a line from whoever writes.

use std::hint;
use std::ops::Range;

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
}

impl Leisure {
    /// Those to try: from one that finds a line of events to one that finds thousands of them.
    pub(super) const ALL: [Self; 6] = [
        Self { name: "16-hints", hints: 16, takes_lines: false },
        Self { name: "128-hints", hints: 128, takes_lines: false },
        Self { name: "1024-hints", hints: 1_024, takes_lines: false },
        Self { name: "lines-16-hints", hints: 16, takes_lines: true },
        Self { name: "lines-128-hints", hints: 128, takes_lines: true },
        Self { name: "lines-1024-hints", hints: 1_024, takes_lines: true },
    ];

    /// Before those of the `slots` are given back that were `read`, if it takes lines: has one of each line stored. The slots
    /// are a power of two.
    #[inline(always)]
    pub(super) fn take_lines<T>(self, slots: &[T], read: Range<u64>, store_as_it_is: impl Fn(&T)) {
        if self.takes_lines {
            let slot = |number: u64| &slots[number as usize & (slots.len() - 1)];
            read.step_by(LINE / size_of::<T>()).for_each(|number| store_as_it_is(slot(number)));
        }
    }

    /// After they are given back.
    #[inline(always)]
    pub(super) fn keep_away(self) {
        (0..self.hints).for_each(|_| hint::spin_loop());
    }
}
