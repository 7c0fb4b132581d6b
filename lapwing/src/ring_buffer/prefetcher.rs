//! Fetching the line of a slot before its event is known to be there, or its claim to be granted.
//!
//! A consumer that waits looks at a word of another thread, and finds the event only then: two lines to
//! bring from the producer's cache, one after the other. Asked for with each look, the event's line comes
//! while the word's does, and a lone event takes one exchange and not two. Who asks for lines to write is
//! `sequencer::runway`, and who takes them without asking `consumer::lines`. See `perf/results/experiments.md`.

use std::ops::Range;

use super::RingBuffer;
use crate::Sequence;

/// Bytes of a cache line. Where they are longer, some are asked for twice.
pub(super) const LINE: usize = 64;

/// Whether an event of so many bytes takes a quarter of a line at least, so that there are not many more events than lines.
pub(super) const fn is_large(event_bytes: usize) -> bool {
    event_bytes >= LINE / 4
}

/// Where the slots of a ring lie, for whoever may not touch them yet. One of no ring does no harm.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Prefetcher {
    /// Address of the first slot. Not a pointer: no event is read through it.
    first: usize,
    /// Number of slots less one.
    mask: u64,
    /// Bytes from one slot to the next.
    stride: usize,
}

impl Prefetcher {
    /// Of the slots of `buffer`.
    pub(crate) fn of<E>(buffer: &RingBuffer<E>) -> Self {
        // Exposed, for `take`.
        let first = buffer.first.as_ptr().expose_provenance();
        Self { first, mask: buffer.mask, stride: size_of::<E>() }
    }

    /// Of `slots`, of which there are a power of two.
    pub(crate) fn of_slice<T>(slots: &[T]) -> Self {
        let first = slots.as_ptr().expose_provenance();
        Self { first, mask: slots.len() as u64 - 1, stride: size_of::<T>() }
    }

    /// Number of slots in so many bytes, at least one; 0 where the CPU has no hints.
    pub(crate) fn slots_in(self, bytes: u64) -> u64 {
        if cpu::HAS_HINTS { (bytes / self.stride.max(1) as u64).max(1) } else { 0 }
    }

    /// Number of slots.
    pub(crate) fn slots(self) -> u64 {
        self.mask + 1
    }

    /// Bytes of all slots.
    pub(crate) fn bytes(self) -> u64 {
        self.slots() * self.stride as u64
    }

    /// Whether taking lines does anything.
    pub(crate) const TAKES_LINES: bool = cpu::TAKES_LINES;

    /// Asks the CPU for the first line of the slot of `sequence`. Reads nothing, so no right to the slot
    /// is needed, and where the CPU has no such hint nothing happens.
    #[inline(always)]
    pub(crate) fn fetch(self, sequence: Sequence) {
        cpu::hint_to_read(self.address(sequence));
    }

    /// Asks the CPU for the lines that begin in the slots of `sequences`, to read.
    pub(crate) fn fetch_to_read(self, sequences: Range<Sequence>) {
        self.for_each_line(sequences, cpu::hint_to_read);
    }

    /// Asks the CPU for the lines that begin in the slots of `sequences`, to write. Needs no right to them
    /// either, but takes the lines from whoever is still reading there.
    pub(crate) fn fetch_to_write(self, sequences: Range<Sequence>) {
        self.for_each_line(sequences, cpu::hint_to_write);
    }

    /// Makes the lines that begin in the slots of `sequences` this CPU's own, by storing there what is there. To the
    /// program nothing happens. Where the CPU is not known to gain by it, to the CPU neither.
    ///
    /// # Safety
    ///
    /// The slots are there, and nobody writes to them meanwhile (I15).
    pub(crate) unsafe fn take(self, sequences: Range<Sequence>) {
        self.for_each_line(sequences, |line| {
            // SAFETY: I15, by the caller: the line begins in one of the slots.
            unsafe { cpu::store_what_is_there(line) }
        });
    }

    #[inline(always)]
    fn for_each_line(self, sequences: Range<Sequence>, act: impl Fn(usize)) {
        let mut next = sequences.start;
        while next < sequences.end {
            let end = sequences.end.min((next | self.mask) + 1);
            let first = self.address(next);
            let bytes = (end - next) as usize * self.stride;
            let offset = first.next_multiple_of(LINE) - first;
            (offset..bytes).step_by(LINE).for_each(|offset| act(first + offset));
            next = end;
        }
    }

    fn address(self, sequence: Sequence) -> usize {
        self.first.wrapping_add((sequence & self.mask) as usize * self.stride)
    }
}

#[cfg(all(target_arch = "x86_64", not(any(loom, miri, lapwing_portable))))]
pub(super) mod cpu {
    use std::arch::asm;
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

    pub(in crate::ring_buffer) const HAS_HINTS: bool = true;
    pub(in crate::ring_buffer) const TAKES_LINES: bool = true;

    /// Stores the byte at `address` as it is.
    ///
    /// # Safety
    ///
    /// `address` is that of memory which is there and has been exposed, and nobody writes to it meanwhile (I15).
    #[inline(always)]
    pub(in crate::ring_buffer) unsafe fn store_what_is_there(address: usize) {
        // Not by a read and a write of Rust's, which the compiler would leave out, and which would have to be nobody
        // else's read: this is none.
        // SAFETY: I15, by the caller: the byte is there, and no store to it gets lost.
        unsafe {
            asm!(
                "mov {byte}, byte ptr [{address}]",
                "mov byte ptr [{address}], {byte}",
                address = in(reg) address,
                byte = out(reg_byte) _,
                options(nostack, preserves_flags),
            );
        }
    }

    /// The line at `address` will be read soon.
    #[inline(always)]
    pub(in crate::ring_buffer) fn hint_to_read(address: usize) {
        // SAFETY: I4: a slot's address; and at any other the instruction would neither read nor fault
        // (Intel SDM 2B, PREFETCHh).
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::without_provenance(address)) };
    }

    /// The line at `address` will be written soon.
    #[inline(always)]
    pub(in crate::ring_buffer) fn hint_to_write(address: usize) {
        // Not by `_mm_prefetch`: built for any x86-64 it would be a hint to read. Intel's CPUs of before
        // 2015 know this one as an instruction that does nothing.
        // SAFETY: I4: a slot's address; and at any other the instruction would neither read, nor write,
        // nor fault (Intel SDM 2B, PREFETCHW).
        unsafe {
            asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
        }
    }
}

#[cfg(all(target_arch = "aarch64", not(any(loom, miri, lapwing_portable))))]
pub(super) mod cpu {
    use std::arch::asm;

    pub(in crate::ring_buffer) const HAS_HINTS: bool = true;
    pub(in crate::ring_buffer) const TAKES_LINES: bool = false;

    /// Nothing: not measured.
    ///
    /// # Safety
    ///
    /// As where it does something (I15).
    #[inline(always)]
    pub(in crate::ring_buffer) unsafe fn store_what_is_there(_: usize) {}

    /// The line at `address` will be read soon.
    #[inline(always)]
    pub(in crate::ring_buffer) fn hint_to_read(address: usize) {
        // SAFETY: I4: a slot's address; and at any other the instruction would neither read nor fault
        // (Arm ARM, C6.2, PRFM).
        unsafe {
            asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
        }
    }

    /// The line at `address` will be written soon.
    #[inline(always)]
    pub(in crate::ring_buffer) fn hint_to_write(address: usize) {
        // SAFETY: I4: a slot's address; and at any other the instruction would neither read, nor write,
        // nor fault (Arm ARM, C6.2, PRFM).
        unsafe {
            asm!("prfm pstl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
        }
    }
}

/// There is no stable hint for this CPU, or the program is checked and not timed.
#[cfg(not(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(loom, miri, lapwing_portable))
)))]
pub(super) mod cpu {
    pub(in crate::ring_buffer) const HAS_HINTS: bool = false;
    /// In a model they are taken, so that it sees whether somebody else has them.
    pub(in crate::ring_buffer) const TAKES_LINES: bool = cfg!(loom);

    /// Nothing: nobody times it.
    ///
    /// # Safety
    ///
    /// As where it does something (I15).
    #[inline(always)]
    pub(in crate::ring_buffer) unsafe fn store_what_is_there(_: usize) {}

    /// Nothing.
    #[inline(always)]
    pub(in crate::ring_buffer) fn hint_to_read(_: usize) {}

    /// Nothing.
    #[inline(always)]
    pub(in crate::ring_buffer) fn hint_to_write(_: usize) {}
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::{RefCell, UnsafeCell};

    use super::*;

    #[test]
    fn lines_that_are_taken_have_what_they_had() {
        let slots: Vec<_> = (0..64_u64).map(|n| UnsafeCell::new([n, !n, n << 32])).collect();
        for (from, to) in [(0, 64), (5, 11), (60, 70), (3, 3), (1 << 40, (1 << 40) + 64)] {
            // SAFETY: I15: nobody else has these.
            unsafe { Prefetcher::of_slice(&slots).take(from..to) };
            // SAFETY: as above; there is nothing.
            unsafe { Prefetcher::of_slice(&[(); 8]).take(from..to) };
        }
        for (n, slot) in (0..).zip(slots) {
            assert_eq!(slot.into_inner(), [n, !n, n << 32]);
        }
    }

    #[test]
    fn each_line_is_that_of_the_slot_in_which_it_begins() {
        let first = 7 * LINE - 24;
        let slots = Prefetcher { first, mask: 7, stride: 24 };
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

    #[test]
    fn lines_may_be_asked_for_across_the_wrap_and_where_there_is_no_ring() {
        let slots = [[0_u64; 3]; 8];
        for (from, to) in [(0, 8), (5, 11), (7, 8), (3, 3), (1 << 40, (1 << 40) + 8)] {
            Prefetcher::of_slice(&slots).fetch_to_write(from..to);
            Prefetcher::of_slice(&[(); 8]).fetch_to_write(from..to);
            Prefetcher::default().fetch_to_write(from..to);
        }
    }
}
