//! The CPU instructions for cache lines: prefetch to read, prefetch to write, and a store that
//! acquires ownership of a cache line without changing it. The files beside this one decide when to
//! use them.
//!
//! A prefetch hint reads nothing and therefore needs no right to the slot. On a CPU without such a
//! hint it does nothing.
//!
//! The acquiring store loads a byte and stores it unchanged, so no other thread may access the slot
//! at that time. It is not a Rust assignment `event = event`: the compiler would remove that, and
//! it would count as a write beside reads of the same thread. Assumption: on x86-64, a byte that
//! one thread loads and stores is unchanged if no other thread accesses its event meanwhile (Intel
//! SDM 3A, 9.2).

use std::ops::Range;

use crate::Sequence;
use crate::protocol::ring_buffer::Addresses;

/// Bytes of a cache line. On a CPU with longer lines, some are prefetched twice.
pub(super) const LINE: usize = 64;

/// Whether an event takes at least a quarter of a cache line, so that there are at most four events
/// to a line.
pub(super) const fn is_large(event_bytes: usize) -> bool {
    event_bytes >= LINE / 4
}

/// The cache-line instructions for the slots of a ring.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prefetch(pub(super) Addresses);

impl Prefetch {
    /// Whether this build acquires ownership of a cache line with a store.
    pub(super) const ACQUIRES_LINES: bool = cpu::ACQUIRES_LINES;

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
        self.for_each_line(sequences, cpu::hint_to_write);
    }

    /// Acquires ownership of the cache lines that begin in the slots of `sequences`: stores a byte
    /// of each unchanged. Does nothing on CPUs that are not known to gain from it.
    ///
    /// # Safety
    ///
    /// The slots exist, and no other thread accesses them meanwhile (I15).
    pub(super) unsafe fn acquire(self, sequences: Range<Sequence>) {
        self.for_each_line(sequences, |line| {
            // SAFETY: I15, by the caller: the cache line begins in one of the slots.
            unsafe { cpu::store_unchanged(line) }
        });
    }

    #[inline]
    fn for_each_line(self, sequences: Range<Sequence>, act: impl Fn(usize)) {
        let mut next = sequences.start;
        while next < sequences.end {
            let end = sequences.end.min(self.0.wrap_after(next));
            let first = self.0.of_slot(next);
            let bytes = (end - next) as usize * self.0.stride();
            let offset = first.next_multiple_of(LINE) - first;
            (offset..bytes).step_by(LINE).for_each(|offset| act(first + offset));
            next = end;
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(any(loom, miri, lapwing_portable, lapwing_plain))))]
pub(super) mod cpu {
    use std::arch::asm;
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

    pub(in crate::tuning) const HAS_HINTS: bool = true;
    pub(in crate::tuning) const ACQUIRES_LINES: bool = true;

    /// Stores the byte at `address` unchanged.
    ///
    /// # Safety
    ///
    /// `address` is in memory that is allocated and exposed, and no other thread writes to it
    /// meanwhile (I15).
    #[inline]
    pub(in crate::tuning) unsafe fn store_unchanged(address: usize) {
        // Assembly, since the compiler would remove a Rust load and store, and they would conflict
        // with concurrent reads.
        // SAFETY: I15, by the caller: the byte exists, and no store to it is lost.
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
    pub(in crate::tuning) const ACQUIRES_LINES: bool = false;

    /// Does nothing, since the gain is not measured on this CPU.
    ///
    /// # Safety
    ///
    /// `address` is in memory that no other thread writes to meanwhile (I15), as on x86-64.
    #[inline]
    pub(in crate::tuning) unsafe fn store_unchanged(_: usize) {}

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
    /// A model calls the acquiring code to check that no other thread accesses the events.
    pub(in crate::tuning) const ACQUIRES_LINES: bool = cfg!(loom);

    /// Does nothing.
    ///
    /// # Safety
    ///
    /// `address` is in memory that no other thread writes to meanwhile (I15), as on x86-64.
    #[inline]
    pub(in crate::tuning) unsafe fn store_unchanged(_: usize) {}

    /// Does nothing.
    #[inline]
    pub(in crate::tuning) fn hint_to_read(_: usize) {}

    /// Does nothing.
    #[inline]
    pub(in crate::tuning) fn hint_to_write(_: usize) {}
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::{RefCell, UnsafeCell};

    use super::*;

    #[test]
    fn lines_that_are_acquired_have_what_they_had() {
        let slots: Vec<_> = (0..64_u64).map(|n| UnsafeCell::new([n, !n, n << 32])).collect();
        for (from, to) in [(0, 64), (5, 11), (60, 70), (3, 3), (1 << 40, (1 << 40) + 64)] {
            // SAFETY: I15: no other thread accesses these slots.
            unsafe { Prefetch(Addresses::of_slice(&slots)).acquire(from..to) };
            // SAFETY: I15: the events have no bytes.
            unsafe { Prefetch(Addresses::of_slice(&[(); 8])).acquire(from..to) };
        }
        for (n, slot) in (0..).zip(slots) {
            assert_eq!(slot.into_inner(), [n, !n, n << 32]);
        }
    }

    #[test]
    fn each_line_is_that_of_the_slot_in_which_it_begins() {
        let first = 7 * LINE - 24;
        let slots = Prefetch(Addresses::at(first, 8, 24));
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
    fn lines_may_be_prefetched_across_the_wrap_and_where_there_is_no_ring() {
        let slots = [[0_u64; 3]; 8];
        for (from, to) in [(0, 8), (5, 11), (7, 8), (3, 3), (1 << 40, (1 << 40) + 8)] {
            Prefetch(Addresses::of_slice(&slots)).to_write(from..to);
            Prefetch(Addresses::of_slice(&[(); 8])).to_write(from..to);
            Prefetch(Addresses::default()).to_write(from..to);
        }
    }
}
