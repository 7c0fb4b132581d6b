//! Fetching the line of a slot before its event is known to be there, or its claim to be granted.
//!
//! A consumer that waits looks at a word of another thread, and finds the event only then: two lines to
//! bring from the producer's cache, one after the other. Asked for with each look, the event's line comes
//! while the word's does, and a lone event takes one exchange and not two. Who asks for lines to write is
//! `sequencer::runway`. See `perf/results/experiments.md`.

use std::ops::Range;

use super::RingBuffer;
use crate::Sequence;

/// Bytes of a cache line. Where they are longer, some are asked for twice.
pub(super) const LINE: usize = 64;

/// Whether an event of so many bytes takes half a line at least, so that there are hardly fewer lines than events.
pub(super) const fn is_large(event_bytes: usize) -> bool {
    event_bytes >= LINE / 2
}

/// Where the slots of a ring lie, for whoever may not touch them yet. One of no ring does no harm.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Prefetcher {
    /// Address of the first slot. Not a pointer: nothing is read through it.
    first: usize,
    /// Number of slots less one.
    mask: u64,
    /// Bytes from one slot to the next.
    stride: usize,
}

impl Prefetcher {
    /// Of the slots of `buffer`.
    pub(crate) fn of<E>(buffer: &RingBuffer<E>) -> Self {
        let first = buffer.first.as_ptr().addr();
        Self { first, mask: buffer.mask, stride: size_of::<E>() }
    }

    /// Of `slots`, of which there are a power of two.
    pub(crate) fn of_slice<T>(slots: &[T]) -> Self {
        Self { first: slots.as_ptr().addr(), mask: slots.len() as u64 - 1, stride: size_of::<T>() }
    }

    /// Number of slots in so many bytes, at least one; 0 where the CPU has no hints.
    pub(crate) fn slots_in(self, bytes: u64) -> u64 {
        if cpu::HAS_HINTS { (bytes / self.stride.max(1) as u64).max(1) } else { 0 }
    }

    /// Asks the CPU for the first line of the slot of `sequence`. Reads nothing, so no right to the slot
    /// is needed, and where the CPU has no such hint nothing happens.
    #[inline(always)]
    pub(crate) fn fetch(self, sequence: Sequence) {
        cpu::hint_to_read(self.address(sequence));
    }

    /// Asks the CPU for the lines that begin in the slots of `sequences`, to write. Needs no right to them
    /// either, but takes the lines from whoever is still reading there.
    pub(crate) fn fetch_to_write(self, sequences: Range<Sequence>) {
        let mut next = sequences.start;
        while next < sequences.end {
            let end = sequences.end.min((next | self.mask) + 1);
            let first = self.address(next);
            let bytes = (end - next) as usize * self.stride;
            let offset = first.next_multiple_of(LINE) - first;
            (offset..bytes).step_by(LINE).for_each(|offset| cpu::hint_to_write(first + offset));
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

    /// Nothing.
    #[inline(always)]
    pub(in crate::ring_buffer) fn hint_to_read(_: usize) {}

    /// Nothing.
    #[inline(always)]
    pub(in crate::ring_buffer) fn hint_to_write(_: usize) {}
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

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
