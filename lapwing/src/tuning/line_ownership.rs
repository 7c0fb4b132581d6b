//! Whether a consumer acquires ownership of the cache lines of finished events before it releases
//! their slots.
//!
//! ```text
//!                    written      read      acquired     released, and written a lap later
//! producer's cache   owned        shared    invalid      prefetched before the stores; owned
//! consumer's cache   invalid      shared    owned        invalid
//! ```
//!
//! After a read, both caches share the cache line, and the producer's next store must first
//! invalidate the consumer's copy. That takes 30 ns on cores that share a cache and 135 ns on cores
//! without a shared cache. Stores become visible in order, so only as many of these waits overlap
//! as fit into the store buffer. On AMD CPUs, a prefetch to write has no effect on a line that is
//! present in the shared state.
//!
//! A consumer that stores a byte unchanged acquires the line, together with many others, while no
//! thread waits for it. The producer then has no copy of the line, and its hardware prefetcher
//! loads it ahead of the stores.
//!
//! The consumer pays for these stores. It therefore acquires cache lines only in a stream. An A/B
//! test ([`ab_test`](super::ab_test)) over some laps decides, since the effect shows one lap later.
//! If several stages gate the producers side by side, the last of them to finish acquires the
//! lines.
//!
//! Measured gain in throughput (E22 and E60 in `lab/results/experiments.md`), on an EPYC (Zen 4): on
//! cores that share a cache, 1.5 to 2.3 times with one producer and 1.2 to 1.4 times with three. On
//! cores without a shared cache, 4 to 7 times and 1.2 times. Multicast: 1.9 to 3.8 times.

use std::ops::Range;

use lapwing_core::ACQUIRES_LINES;

use super::ab_test::AbTest;
use super::stream;

use crate::Sequence;

/// Fewest events finished together whose cache lines are acquired: a stream. In a model, one.
const FEWEST: u64 = if cfg!(loom) { 1 } else { stream::FEWEST };

/// The choice of one consumer.
#[derive(Debug)]
pub(super) struct LineOwnership {
    test: AbTest,
}

impl LineOwnership {
    /// Creates the choice of a consumer of a ring of `slots`, whose first event is `first`.
    pub(super) fn of(slots: u64, first: Sequence) -> Self {
        Self { test: AbTest::new(slots, first) }
    }

    /// Returns whether to acquire the cache lines of the finished events `done`.
    #[inline]
    pub(super) fn wants(&mut self, done: Range<Sequence>) -> bool {
        done.end - done.start >= FEWEST && self.decide(done.end)
    }

    /// Not inlined, to keep the hot path of a single event short.
    #[inline(never)]
    fn decide(&mut self, end: Sequence) -> bool {
        ACQUIRES_LINES && (cfg!(loom) || self.test.is_on_at(end))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::tuning::ab_test::EVENTS_PER_STRETCH;

    /// Returns how many of `batches` have their cache lines acquired; each batch has `events`
    /// events.
    fn acquired(batches: u64, events: u64) -> usize {
        let mut lines = LineOwnership::of(1, 0);
        (0..batches).filter(|batch| lines.wants(batch * events..(batch + 1) * events)).count()
    }

    #[test]
    fn lines_of_a_stream_are_acquired_for_a_test_at_least() {
        if ACQUIRES_LINES {
            assert!(acquired(3 * EVENTS_PER_STRETCH / 64, 64) > 0);
            assert!(acquired(3, EVENTS_PER_STRETCH + 1) > 0, "of long batches too");
        }
    }

    #[test]
    fn lines_of_single_events_are_left() {
        assert_eq!(acquired(8 * EVENTS_PER_STRETCH, 1), 0);
        assert_eq!(acquired(8 * EVENTS_PER_STRETCH, FEWEST - 1), 0);
    }
}
