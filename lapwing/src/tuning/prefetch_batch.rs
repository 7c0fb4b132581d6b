//! Prefetches the beginning of a batch of a small ring before it is read.
//!
//! A ring that fits into a first-level cache, between CPUs that share no cache, has a lap of a few exchanges of cache lines,
//! and the hardware prefetcher begins anew with each batch. Lines that are prefetched together come together. In a larger ring
//! the hardware prefetcher has fetched them by then, and where CPUs share a cache a prefetch takes longer than a wait. So an A/B
//! test ([`ab_test`](super::ab_test)) decides.
//!
//! Worth (`perf/results/experiments.md`, "Small rings, a fourth time"): 1 Ki slots 1.95 to 2.9 on an EPYC (Zen 4) whose CPUs share no
//! cache, 0.99 to 1.20 where they do.

use std::ops::Range;

use super::SMALL_RING;
use super::ab_test::AbTest;
use super::prefetch::Prefetch;
use super::stream;
use crate::Sequence;
use crate::protocol::ring_buffer::Addresses;

/// Bytes of events that are prefetched ahead of the first that is read.
const BYTES_AHEAD: u64 = 2 << 10;
/// Where events take longer than this, a line sooner or later makes no difference.
const SLOW_NS: u64 = 100;

/// What one consumer has prefetched.
#[derive(Debug)]
pub(super) struct PrefetchBatch {
    slots: Prefetch,
    /// Most events that are prefetched; 0 where none are.
    most: u64,
    /// First sequence of which it was not decided whether to prefetch it.
    decided: Sequence,
    /// Whether to leave them, the first way, or to prefetch.
    test: AbTest<SLOW_NS>,
}

impl PrefetchBatch {
    /// Of a consumer of these `slots` whose first event is `first`.
    pub(super) fn of(slots: Addresses, first: Sequence) -> Self {
        let is_small = slots.slots() * slots.stride() as u64 <= SMALL_RING;
        let test = AbTest::over_laps(slots.slots(), first);
        let slots = Prefetch(slots);
        let most = if is_small { slots.slots_in(BYTES_AHEAD) } else { 0 };
        Self { slots, most, decided: first, test }
    }

    /// Prefetches events of `known`, whose first is read next, if they are a stream and it pays.
    #[inline(always)]
    pub(super) fn found(&mut self, known: Range<Sequence>) {
        let end = known.end.min(known.start + self.most);
        if end >= self.decided.max(known.start) + stream::FEWEST {
            self.decide(known.start..end);
        }
    }

    /// Not in line: the hot path of a lone event stays short.
    #[inline(never)]
    fn decide(&mut self, events: Range<Sequence>) {
        if !self.test.is_first_at(events.start) {
            self.slots.to_read(events.start.max(self.decided)..events.end);
        }
        self.decided = events.end;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// That of a consumer of a ring of `capacity` events of 8 bytes, which prefetches where the CPU has hints.
    fn prefetching(capacity: usize) -> PrefetchBatch {
        let batch = PrefetchBatch::of(Addresses::of_slice(&vec![0_u64; capacity]), 0);
        PrefetchBatch { test: AbTest::always_other(), ..batch }
    }

    #[test]
    fn a_batch_is_prefetched_once_and_no_further_than_it_is_known() {
        let mut batch = prefetching(1 << 10);
        if batch.most == 0 {
            return; // no hints here
        }
        assert_eq!(batch.most, 256);
        for (known, decided) in [
            (0..100, 100),
            (50..100, 100),
            (100..110, 100), // too few to be a stream
            (100..1_000, 356),
            (110..1_000, 356), // ten more are not worth it
            (200..1_000, 456),
            (1_000..1_024, 1_024),
        ] {
            batch.found(known.clone());
            assert_eq!(batch.decided, decided, "{known:?}");
        }
    }

    #[test]
    fn nothing_is_prefetched_in_a_large_ring() {
        let mut batch = prefetching(1 << 13);
        batch.found(0..1_000);
        assert_eq!(batch.decided, 0);
    }
}
