//! Whether a consumer of a small ring prefetches the start of a batch before it reads the batch.
//!
//! A lap of a ring that fits into a first-level cache takes only a few transfers of cache lines. On
//! cores without a shared cache, such a transfer is long, and the hardware prefetcher starts again
//! with each batch. Cache lines that are prefetched together arrive together. In a larger ring, the
//! hardware prefetcher is far enough ahead by then. On cores that share a cache, the prefetch can
//! take longer than the wait for the lines. An A/B test ([`ab_test`](super::ab_test)) therefore
//! decides at run time.
//!
//! Measured gain in throughput (E59 in `perf/results/experiments.md`), 1 Ki
//! slots on an EPYC (Zen 4): 1.95 to 2.9 times on cores without a shared cache, 0.99 to 1.20 times
//! on cores that share one.

use std::ops::Range;

use super::SMALL_RING;
use super::ab_test::AbTest;
use super::prefetch::Prefetch;
use super::stream;
use crate::Sequence;
use crate::protocol::ring_buffer::Addresses;

/// Bytes of events that are prefetched before the first one is read.
const BYTES_AHEAD: u64 = 2 << 10;
/// Time per event in nanoseconds above which the arrival of a cache line makes no difference.
const SLOW_NS: u64 = 100;

/// The prefetching of one consumer.
#[derive(Debug)]
pub(super) struct PrefetchBatch {
    slots: Prefetch,
    /// Most events that are prefetched; 0 in a ring that is not small, or without prefetch hints.
    most: u64,
    /// First sequence for which `decide` has not run yet.
    decided: Sequence,
    /// The A/B test. First way: no prefetch. Other way: prefetch.
    test: AbTest<SLOW_NS>,
}

impl PrefetchBatch {
    /// Creates the choice of a consumer of `slots` whose first event is `first`.
    pub(super) fn of(slots: Addresses, first: Sequence) -> Self {
        let is_small = slots.slots() * slots.stride() as u64 <= SMALL_RING;
        let most = if is_small { Prefetch(slots).slots_in(BYTES_AHEAD) } else { 0 };
        let test = AbTest::over_laps(slots.slots(), first);
        let slots = Prefetch(slots);
        Self { slots, most, decided: first, test }
    }

    /// Prefetches events of `known`, whose first event is read next, if they form a stream and the
    /// A/B test chose to prefetch.
    #[inline]
    pub(super) fn found(&mut self, known: Range<Sequence>) {
        let end = known.end.min(known.start + self.most);
        if end >= self.decided.max(known.start) + stream::FEWEST {
            self.decide(known.start..end);
        }
    }

    /// Not inlined, to keep the hot path of a single event short.
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

    /// A consumer of `capacity` events of 8 bytes that prefetches if the CPU has hints.
    fn prefetching(capacity: usize) -> PrefetchBatch {
        let batch = PrefetchBatch::of(Addresses::of_slice(&vec![0_u64; capacity]), 0);
        PrefetchBatch { test: AbTest::always_other(), ..batch }
    }

    #[test]
    fn a_batch_is_prefetched_once_and_no_further_than_it_is_known() {
        let mut batch = prefetching(1 << 10);
        if batch.most == 0 {
            return; // no hints on this CPU
        }
        assert_eq!(batch.most, 256);
        for (known, decided) in [
            (0..100, 100),
            (50..100, 100),
            (100..110, 100), // too few for a stream
            (100..1_000, 356),
            (110..1_000, 356), // ten more are too few
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
