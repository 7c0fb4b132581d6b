//! The CPU instructions that prefetch cache lines, to read or to write. The files beside this one
//! decide when to use them. Not here: the store that acquires a cache line (`lapwing_core`).
//!
//! A prefetch hint reads nothing and therefore needs no right to the slot. On a CPU without such a
//! hint it does nothing.

use std::ops::Range;

use lapwing_core::{Addresses, LINE};

use crate::Sequence;

/// Whether an event takes at least a quarter of a cache line, so that there are at most four events
/// to a line.
pub(super) const fn is_large(event_bytes: usize) -> bool {
    event_bytes >= LINE / 4
}

/// The cache-line instructions for the slots of a ring.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prefetch(pub(super) Addresses);

impl Prefetch {
    /// Number of slots in `bytes`, at least one; 0 if this build has no prefetch hints.
    pub(super) fn slots_in(self, bytes: u64) -> u64 {
        if cpu::HAS_HINTS { (bytes / self.0.stride().max(1) as u64).max(1) } else { 0 }
    }

    /// Prefetches the first cache line of the slot of `sequence`, to read.
    #[inline]
    pub(super) fn first_line(self, sequence: Sequence) {
        cpu::hint_to_read(self.0.of_slot(sequence));
    }

    /// Prefetches the cache lines that begin in the slots of `sequences`, to write. This takes the
    /// lines from a thread that still reads there.
    pub(super) fn to_write(self, sequences: Range<Sequence>) {
        self.0.for_each_line(sequences, cpu::hint_to_write);
    }
}

#[cfg(all(target_arch = "x86_64", not(any(loom, miri, lapwing_portable, lapwing_plain))))]
pub(super) mod cpu {
    use std::arch::asm;
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

    pub(in crate::tuning) const HAS_HINTS: bool = true;

    /// Hints that the cache line at `address` will be read soon.
    #[inline]
    pub(in crate::tuning) fn hint_to_read(address: usize) {
        // SAFETY: I4: the address of a slot. At any other address the instruction neither reads nor
        // faults (Intel SDM 2B, PREFETCHh).
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::without_provenance(address)) };
    }

    /// Hints that the cache line at `address` will be written soon.
    #[inline]
    pub(in crate::tuning) fn hint_to_write(address: usize) {
        // Not `_mm_prefetch`, which is a hint to read when it is compiled for baseline x86-64.
        // Intel CPUs from before 2015 execute `prefetchw` as a no-op.
        // SAFETY: I4: the address of a slot. At any other address the instruction neither reads,
        // writes nor faults (Intel SDM 2B, PREFETCHW).
        unsafe {
            asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
        }
    }
}

#[cfg(all(target_arch = "aarch64", not(any(loom, miri, lapwing_portable, lapwing_plain))))]
pub(super) mod cpu {
    use std::arch::asm;

    pub(in crate::tuning) const HAS_HINTS: bool = true;

    /// Hints that the cache line at `address` will be read soon.
    #[inline]
    pub(in crate::tuning) fn hint_to_read(address: usize) {
        // SAFETY: I4: the address of a slot. At any other address the instruction neither reads nor
        // faults (Arm ARM, C6.2, PRFM).
        unsafe {
            asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
        }
    }

    /// Hints that the cache line at `address` will be written soon.
    #[inline]
    pub(in crate::tuning) fn hint_to_write(address: usize) {
        // SAFETY: I4: the address of a slot. At any other address the instruction neither reads,
        // writes nor faults (Arm ARM, C6.2, PRFM).
        unsafe {
            asm!("prfm pstl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
        }
    }
}

/// No hints, for CPUs without a stable hint, for models and Miri, and for the portable and plain
/// builds.
#[cfg(not(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(loom, miri, lapwing_portable, lapwing_plain))
)))]
pub(super) mod cpu {
    pub(in crate::tuning) const HAS_HINTS: bool = false;

    /// Does nothing.
    #[inline]
    pub(in crate::tuning) fn hint_to_read(_: usize) {}

    /// Does nothing.
    #[inline]
    pub(in crate::tuning) fn hint_to_write(_: usize) {}
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn lines_may_be_prefetched_across_the_wrap_and_where_there_is_no_ring() {
        let slots = [[0_u64; 3]; 8];
        let of_slots = Addresses::at(slots.as_ptr().addr(), 8, 24);
        for (from, to) in [(0, 8), (5, 11), (7, 8), (3, 3), (1 << 40, (1 << 40) + 8)] {
            Prefetch(of_slots).to_write(from..to);
            Prefetch(Addresses::at(of_slots.of_slot(0), 8, 0)).to_write(from..to);
            Prefetch(Addresses::default()).to_write(from..to);
        }
    }
}
