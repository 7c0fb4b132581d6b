//! The store that acquires ownership of a cache line without changing it, so that the thread which
//! writes there next finds no other owner. Not here: when that pays (`lapwing::tuning`).
//!
//! The store loads a byte and stores it unchanged, so no other thread may access the slot at that
//! time. It is not a Rust assignment `event = event`: the compiler would remove that, and it would
//! count as a write beside reads of the same thread. Assumption: on x86-64, a byte that one thread
//! loads and stores is unchanged if no other thread accesses its event meanwhile (Intel SDM 3A, 9.2).

use std::ops::Range;

use super::RingBuffer;
use crate::Sequence;
use crate::addresses::Addresses;
use crate::publication::Stamps;

/// The cache lines of the slots of a ring, and of their stamps.
#[derive(Debug)]
pub(crate) struct Lines {
    slots: Addresses,
    stamps: Option<Addresses>,
}

impl Lines {
    /// The lines of the slots of `buffer`.
    pub(crate) fn of<E>(buffer: &RingBuffer<E>, stamps: Option<&Stamps>) -> Self {
        Self { slots: buffer.exposed(), stamps: stamps.map(Stamps::exposed) }
    }

    /// Acquires ownership of the cache lines that begin in the slots and stamps of `sequences`.
    ///
    /// # Safety
    ///
    /// The ring exists, and no other thread accesses these slots and stamps meanwhile (I15).
    #[inline(never)]
    pub(crate) unsafe fn acquire(&self, sequences: Range<Sequence>) {
        let acquire = |line| {
            // SAFETY: I15, by the caller: the cache line begins in one of the slots or stamps. A stamp
            // is written with its claim, and again only with the claim of the next lap.
            unsafe { cpu::store_unchanged(line) }
        };
        if let Some(stamps) = self.stamps {
            stamps.for_each_line(sequences.clone(), acquire);
        }
        self.slots.for_each_line(sequences, acquire);
    }
}

#[cfg(all(target_arch = "x86_64", not(any(loom, miri, lapwing_portable))))]
mod cpu {
    use std::arch::asm;

    /// Stores the byte at `address` unchanged.
    ///
    /// # Safety
    ///
    /// `address` is in memory that is allocated and exposed, and no other thread writes to it
    /// meanwhile (I15).
    #[inline]
    pub(super) unsafe fn store_unchanged(address: usize) {
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
}

/// Nothing, where no gain is measured, in models and Miri, and in the portable build.
#[cfg(not(all(target_arch = "x86_64", not(any(loom, miri, lapwing_portable)))))]
mod cpu {
    /// Does nothing.
    ///
    /// # Safety
    ///
    /// `address` is in memory that no other thread writes to meanwhile (I15), as on x86-64.
    #[inline]
    pub(super) unsafe fn store_unchanged(_: usize) {}
}

/// Whether this build acquires cache lines. A model does, to check that no other thread accesses
/// the events.
pub const ACQUIRES_LINES: bool =
    cfg!(any(loom, all(target_arch = "x86_64", not(any(miri, lapwing_portable)))));

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::UnsafeCell;

    use super::*;

    #[test]
    fn lines_that_are_acquired_have_what_they_had() {
        let slots: Vec<_> = (0..64_u64).map(|n| UnsafeCell::new([n, !n, n << 32])).collect();
        let lines = |slots| Lines { slots, stamps: None };
        for (from, to) in [(0, 64), (5, 11), (60, 70), (3, 3), (1 << 40, (1 << 40) + 64)] {
            // SAFETY: I15: no other thread accesses these slots.
            unsafe { lines(Addresses::exposed_slice(&slots)).acquire(from..to) };
            // SAFETY: I15: the events have no bytes.
            unsafe { lines(Addresses::exposed_slice(&[(); 8])).acquire(from..to) };
        }
        for (n, slot) in (0..).zip(slots) {
            assert_eq!(slot.into_inner(), [n, !n, n << 32]);
        }
    }
}
