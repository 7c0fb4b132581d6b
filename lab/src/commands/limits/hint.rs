//! Prefetch hints. The standard library has no safe function for them.

use std::sync::atomic::AtomicU64;

/// Prefetches the cache line of `slot` for a read.
#[inline(always)]
pub(super) fn to_read(slot: &AtomicU64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction neither reads nor writes nor faults, whatever the address (Intel SDM 2B, PREFETCHh).
    unsafe {
        std::arch::asm!("prefetcht0 [{}]", in(reg) slot, options(nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = slot;
}

/// Prefetches the cache line of `slot` for a write.
#[inline(always)]
pub(super) fn to_write(slot: &AtomicU64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as above (Intel SDM 2B, PREFETCHW).
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) slot, options(nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = slot;
}
