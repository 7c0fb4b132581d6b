//! How far the only producer of a small ring claims before it prefetches the next slots to write.
//!
//! ```text
//!     next claim           window          prefetched             limit
//!  ───────┼──────────────────┼────────────────┼───────────────────┼───
//!         │ these cache lines are in flight   │                   └ the gate, as last loaded
//! ```
//!
//! A reused slot is in the cache of the consumer that read it last, and a store to it waits for its
//! cache line. Several cache lines prefetched together take little longer than one. A claim within
//! the window compares two numbers and does nothing else. A claim beyond the window runs a check,
//! which prefetches and moves the window. A claim longer than the window is prefetched from its own
//! start.
//!
//! In a larger ring, the hints gain time on one CPU and cost time on another. Where a consumer waits
//! for each event ([`own_count`](super::own_count)), a claim would wait for the cache lines of later
//! ones.
//!
//! Measured gain in throughput with 1 Ki slots (E40, E42 and E52 in
//! `lab/results/experiments.md`):
//!
//! - EPYC (Zen 4), events of 8 bytes: 1.46 times on cores that share a cache, 1.9 times on others.
//!   Events of 32 bytes: 1.14 and 1.37 times.
//! - Xeon (Emerald Rapids), events of 8 bytes: 1.1 times. Events of 32 bytes: 1.6 to 2.0 times.

use std::ops::Range;

use lapwing_core::Addresses;

use super::prefetch::Prefetch;
use crate::Sequence;

/// Largest ring in bytes that fits into the smallest first-level data cache.
const SMALL_RING: u64 = 32 << 10;
/// Bytes of slots that are prefetched together.
const BYTES_AHEAD: u64 = 1024;

/// The claim window of one producer, and what it has prefetched.
#[derive(Debug)]
pub(super) struct PrefetchWindow {
    /// First sequence whose slot is not prefetched yet.
    prefetched: Sequence,
    slots: Prefetch,
    /// Number of slots that are prefetched together; 0 if none is.
    stride: u64,
}

impl PrefetchWindow {
    /// Creates the window of a producer whose first claim begins at `first`.
    pub(super) fn new(slots: Addresses, is_multi: bool, first: Sequence) -> Self {
        let is_small = slots.slots() * slots.stride() as u64 <= SMALL_RING;
        let slots = Prefetch(slots);
        let stride = if is_small && !is_multi { slots.slots_in(BYTES_AHEAD) } else { 0 };
        Self { prefetched: first, slots, stride }
    }

    /// Returns the end of the window after the granted `claim`, for a producer that may claim up to
    /// `limit`.
    pub(super) fn after(&mut self, claim: &Range<Sequence>, limit: Sequence) -> Sequence {
        if self.stride == 0 {
            return limit;
        }
        let wanted = self.wanted(claim, limit);
        if !wanted.is_empty() {
            self.prefetched = wanted.end;
            self.slots.to_write(wanted);
        }
        limit.min(claim.end + self.stride)
    }

    /// Returns the slots to prefetch at `claim` that are not prefetched yet.
    fn wanted(&self, claim: &Range<Sequence>, limit: Sequence) -> Range<Sequence> {
        // One stride beyond the window, which leaves the cache lines time to arrive.
        let end = limit.min(claim.end + 2 * self.stride);
        self.prefetched.max(claim.start)..end
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The window of the only producer of `capacity` slots of 8 bytes.
    fn window(capacity: usize) -> PrefetchWindow {
        PrefetchWindow::new(Addresses::at(64, capacity as u64, 8), false, 0)
    }

    #[test]
    fn slots_are_prefetched_a_stride_ahead_and_once() {
        let mut window = PrefetchWindow { stride: 4, ..window(64) };
        let mut end = 0;
        let mut checks = vec![];
        for next in 0..64 {
            if next >= end {
                checks.push(next);
                end = window.after(&(next..next + 1), 64);
            }
        }
        assert_eq!(checks, (0..64).step_by(5).collect::<Vec<_>>());
        assert_eq!(window.prefetched, 64);
    }

    #[test]
    fn a_long_claim_is_prefetched_from_its_beginning() {
        let mut window = PrefetchWindow { stride: 4, ..window(64) };
        let mut wanted = |prefetched, claim| {
            window.prefetched = prefetched;
            window.wanted(&claim, 1_000)
        };
        assert_eq!(wanted(0, 0..10), 0..18, "itself, and two strides beyond");
        assert_eq!(wanted(18, 10..20), 18..28, "no line twice");
        assert_eq!(wanted(18, 100..110), 100..118, "none that was claimed without a check");
        assert_eq!(wanted(998, 990..1_000), 998..1_000, "none beyond the gate");
    }

    #[test]
    fn nothing_is_prefetched_in_a_large_ring_or_by_several_producers() {
        let slots = Addresses::at(64, 64, 8);
        for mut window in [window(1 << 13), PrefetchWindow::new(slots, true, 0)] {
            assert_eq!((window.after(&(0..1), 64), window.prefetched), (64, 0));
        }
    }
}
