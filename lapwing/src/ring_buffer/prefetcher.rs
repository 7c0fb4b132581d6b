//! Fetching the line of a slot before its event is known to be there.
//!
//! A consumer that waits looks at a word of another thread, and finds the event only then: two lines to
//! bring from the producer's cache, one after the other. Asked for with each look, the event's line comes
//! while the word's does, and a lone event takes one exchange and not two. See
//! `perf/results/experiments.md`.

use super::RingBuffer;
use crate::Sequence;

/// Where the events of a ring lie, for whoever may not touch them yet. One of no ring does no harm.
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

    /// Asks the CPU for the first line of the event of `sequence`. Reads nothing, so no right to the slot
    /// is needed, and where the CPU has no such hint nothing happens.
    #[inline(always)]
    pub(crate) fn fetch(self, sequence: Sequence) {
        hint(self.first.wrapping_add((sequence & self.mask) as usize * self.stride));
    }
}

/// The line at `address` will be read soon.
#[cfg(all(target_arch = "x86_64", not(any(loom, miri, lapwing_portable))))]
#[inline(always)]
fn hint(address: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: I4: a slot's address; and at any other the instruction would neither read nor fault
    // (Intel SDM 2B, PREFETCHh).
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::without_provenance(address)) };
}

/// The line at `address` will be read soon.
#[cfg(all(target_arch = "aarch64", not(any(loom, miri, lapwing_portable))))]
#[inline(always)]
fn hint(address: usize) {
    // SAFETY: I4: a slot's address; and at any other the instruction would neither read nor fault
    // (Arm ARM, C6.2, PRFM).
    unsafe {
        std::arch::asm!(
            "prfm pldl1keep, [{}]",
            in(reg) address,
            options(nostack, preserves_flags, readonly)
        );
    }
}

/// Nothing: there is no stable hint for this CPU, or the program is checked and not timed.
#[cfg(not(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(loom, miri, lapwing_portable))
)))]
#[inline(always)]
fn hint(_: usize) {}
