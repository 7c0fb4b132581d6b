//! How far a producer claims before it prefetches the next slots to write.
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
//! An A/B test ([`ab_test`](super::ab_test)) decides at run time whether to prefetch, and only in
//! streams. With single events, a claim would wait for the cache lines of later ones.
//!
//! Measured gain in throughput (E54 and E68 in `perf/results/experiments.md`): 1.3 to 1.5 times with three
//! producers on a Xeon (Emerald Rapids). With 1 Ki slots on an EPYC (Zen 4), 1.46 to 1.9 times.

use std::ops::Range;

use super::ab_test::{AbTest, EVENTS_PER_STRETCH};
use super::prefetch::Prefetch;
use crate::Sequence;
use crate::protocol::ring_buffer::Addresses;

/// Bytes of slots that the only producer of a ring prefetches together.
const BYTES_AHEAD: u64 = 1024;
/// The same for each of several producers: four cache lines, since other producers often write the
/// lines further on. The compare-and-swap of a claim waits for the earlier stores, and these wait
/// for their cache lines.
const BYTES_AHEAD_OF_SEVERAL: u64 = 256;
/// Most bytes of slots prefetched at once: half of the smallest first-level cache, so that the
/// lines are still there when they are written.
const BYTES_AT_ONCE: u64 = 16 << 10;
/// Time per event in nanoseconds above which consumers wait for each event. A prefetch would delay
/// it, so there is none.
const SLOW_NS: u64 = 100;

/// The claim window of one producer, and what it has prefetched.
#[derive(Debug)]
pub(super) struct ClaimWindow {
    /// First sequence whose slot is not yet prefetched.
    prefetched: Sequence,
    slots: Prefetch,
    stamps: Option<Prefetch>,
    /// Number of slots that are prefetched together; 0 without prefetch hints.
    stride: u64,
    /// Most slots that are prefetched at once, for a long claim.
    most: u64,
    /// The A/B test. First way: no prefetch. Other way: prefetch.
    test: AbTest<SLOW_NS>,
}

impl ClaimWindow {
    /// Creates the window of a producer whose first claim begins at `first`.
    pub(super) fn new(slots: Addresses, stamps: Option<Addresses>, first: Sequence) -> Self {
        let bytes = if stamps.is_some() { BYTES_AHEAD_OF_SEVERAL } else { BYTES_AHEAD };
        Self::of_bytes(slots, stamps, first, bytes)
    }

    fn of_bytes(slots: Addresses, stamps: Option<Addresses>, first: Sequence, bytes: u64) -> Self {
        let (slots, stamps) = (Prefetch(slots), stamps.map(Prefetch));
        let (stride, most) = (slots.slots_in(bytes), slots.slots_in(BYTES_AT_ONCE));
        let test = if stride > 0 { AbTest::starting_at(first) } else { AbTest::default() };
        Self { prefetched: first, slots, stamps, stride, most, test }
    }

    /// Returns the end of the window after the granted `claim`, for a producer that may claim up to
    /// `limit`.
    pub(super) fn after(&mut self, claim: &Range<Sequence>, limit: Sequence) -> Sequence {
        if !self.test.covers(claim.end) {
            self.test.next(claim.start);
        }
        if self.test.is_first() {
            return limit.min(claim.end + EVENTS_PER_STRETCH);
        }
        self.prefetch(self.wanted(claim, limit));
        limit.min(claim.end + self.stride)
    }

    /// Returns the slots to prefetch at `claim` that are not prefetched yet.
    fn wanted(&self, claim: &Range<Sequence>, limit: Sequence) -> Range<Sequence> {
        let first = self.prefetched.max(claim.start);
        // One stride beyond the window, which leaves the cache lines time to arrive.
        let end = limit.min(claim.end + 2 * self.stride);
        first..end.min(first + self.most)
    }

    fn prefetch(&mut self, slots: Range<Sequence>) {
        if slots.is_empty() {
            return;
        }
        self.prefetched = slots.end;
        if let Some(stamps) = self.stamps {
            stamps.to_write(slots.clone());
        }
        self.slots.to_write(slots);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The window of a producer of `capacity` slots of 8 bytes that prefetches four of them
    /// together.
    fn window(capacity: usize) -> ClaimWindow {
        let slots = Addresses::of_slice(&vec![0_u64; capacity]);
        ClaimWindow::of_bytes(slots, None, 0, 32)
    }

    #[test]
    fn slots_are_prefetched_a_stride_ahead_and_once() {
        let mut window = window(64);
        if window.stride == 0 {
            return; // no hints here
        }
        window.test = AbTest::always_other();
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
    fn nothing_is_prefetched_until_a_stream_has_tried_it() {
        let mut window = window(1 << 16);
        let end = window.after(&(0..1), 1 << 16);
        assert_eq!((end, window.prefetched), (1 + EVENTS_PER_STRETCH, 0));
    }

    #[test]
    fn a_long_claim_is_prefetched_from_its_beginning_and_no_longer_than_it_stays() {
        let mut window = window(64);
        (window.stride, window.most) = (4, 64);
        let mut wanted = |prefetched, claim| {
            window.prefetched = prefetched;
            window.wanted(&claim, 1_000)
        };
        assert_eq!(wanted(0, 0..10), 0..18, "itself, and two strides beyond");
        assert_eq!(wanted(18, 10..20), 18..28, "no line twice");
        assert_eq!(wanted(18, 100..110), 100..118, "none that was claimed without a check");
        assert_eq!(wanted(0, 0..500), 0..64, "as many as stay");
        assert_eq!(wanted(998, 990..1_000), 998..1_000, "none beyond the gate");
    }

    #[test]
    fn both_ways_are_tried() {
        let mut window = window(1 << 16);
        if window.stride == 0 {
            return;
        }
        let (mut ways, mut end) = ([false; 2], 0);
        for next in 0..1 << 16 {
            if next >= end {
                let before = window.prefetched;
                end = window.after(&(next..next + 1), 1 << 16);
                assert!(!window.test.is_first() || window.prefetched == before, "{window:?}");
                ways[usize::from(window.test.is_first())] = true;
            }
        }
        assert_eq!(ways, [true; 2]);
    }
}
