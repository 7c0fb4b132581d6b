//! Asking the CPU for lines, of which no safe function of the standard library knows.

use std::sync::atomic::AtomicU64;

/// The line of `slot` will be read soon.
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

/// The line of `slot` will be written soon.
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
