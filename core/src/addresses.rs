//! The addresses of slots, for code that has no right to access the events: prefetches, and the
//! store that acquires ownership of a cache line without changing it (`ring_buffer::lines`).

use std::ops::Range;

use crate::Sequence;

/// Bytes of a cache line. On a CPU with longer lines, some are taken twice.
pub const LINE: usize = 64;

/// The addresses of the slots of a ring, or of an array with one entry per slot. The default
/// belongs to no ring; its use has no effect.
#[derive(Debug, Clone, Copy, Default)]
pub struct Addresses {
    /// Address of the first slot. Not a pointer, since no event is read through it.
    first: usize,
    /// Number of slots minus one.
    mask: u64,
    /// Number of bytes from one slot to the next.
    stride: usize,
}

impl Addresses {
    /// Returns the addresses of `slots`, whose number is a power of two. Their provenance is exposed,
    /// so that a cache line can be written by its address (I15).
    pub(crate) fn exposed_slice<T>(slots: &[T]) -> Self {
        let first = slots.as_ptr().expose_provenance();
        Self { first, mask: slots.len() as u64 - 1, stride: size_of::<T>() }
    }

    /// Returns the addresses of `slots` slots from `first` on, `stride` bytes each.
    #[must_use]
    pub fn at(first: usize, slots: u64, stride: usize) -> Self {
        Self { first, mask: slots - 1, stride }
    }

    /// Returns the number of slots.
    #[must_use]
    pub fn slots(self) -> u64 {
        self.mask + 1
    }

    /// Returns the number of bytes from one slot to the next.
    #[must_use]
    pub fn stride(self) -> usize {
        self.stride
    }

    /// Returns the first sequence after `sequence` that lies in slot 0.
    #[must_use]
    pub fn wrap_after(self, sequence: Sequence) -> Sequence {
        (sequence | self.mask) + 1
    }

    /// Returns the address of the slot of `sequence`.
    #[inline]
    #[must_use]
    pub fn of_slot(self, sequence: Sequence) -> usize {
        self.first.wrapping_add((sequence & self.mask) as usize * self.stride)
    }

    /// Calls `act` with the address of each cache line that begins in a slot of `sequences`.
    #[inline]
    pub fn for_each_line(self, sequences: Range<Sequence>, act: impl Fn(usize)) {
        let mut next = sequences.start;
        while next < sequences.end {
            let end = sequences.end.min(self.wrap_after(next));
            let first = self.of_slot(next);
            let bytes = (end - next) as usize * self.stride;
            let offset = first.next_multiple_of(LINE) - first;
            (offset..bytes).step_by(LINE).for_each(|offset| act(first + offset));
            next = end;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn each_line_is_that_of_the_slot_in_which_it_begins() {
        let first = 7 * LINE - 24;
        let slots = Addresses::at(first, 8, 24);
        let lines = |sequences| {
            let lines = RefCell::new(vec![]);
            slots.for_each_line(sequences, |line| lines.borrow_mut().push(line));
            lines.into_inner()
        };
        assert_eq!(lines(0..1), [0; 0], "it begins in the next slot");
        assert_eq!(lines(0..8), [7, 8, 9].map(|n| n * LINE));
        assert_eq!(lines(1..2), [7 * LINE]);
        assert_eq!(lines(6..10), [9, 7].map(|n| n * LINE), "across the wrap");
        let one_by_one: Vec<_> = (0..8).flat_map(|n| lines(n..n + 1)).collect();
        assert_eq!(one_by_one, lines(0..8));
    }
}
