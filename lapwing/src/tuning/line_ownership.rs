//! Whether a consumer acquires ownership of the cache lines of the events that it has done, before it releases their slots.
//!
//! ```text
//!                    written      read        acquired        released, and written a lap later
//! producer's cache   the line     a copy      -               fetched alone, ahead of the stores
//! consumer's cache   -            a copy      the line        -
//! ```
//!
//! A line that was read lies in both caches, and the producer's next store there has to invalidate the consumer's copy: 30 ns
//! where CPUs share a cache, 135 where they do not. Stores keep their order, so only as many overlap as fit into the store
//! buffer; and a prefetch to write does nothing for a line that is there, as a copy, on AMD's CPUs. A consumer that stores a byte
//! as it is owns the line, with many others at a time and while no thread waits for it. Then the producer has no copy, and its
//! hardware prefetcher fetches what it lacks.
//!
//! It is the consumer that pays. So lines are acquired in a stream only, and an A/B test ([`ab_test`](super::ab_test)) over some
//! laps decides, since the effect shows a lap later. Of consumers side by side the last one acquires them.
//!
//! Worth (`perf/results/experiments.md`, "The lines of what is done"): one producer 1.5 to 2.3, three producers 1.2 to 1.4 on an EPYC (Zen 4)
//! whose CPUs share a cache, 4 to 7 and 1.2 where they do not; multicast 1.9 to 3.8.

use std::ops::Range;

use super::ab_test::AbTest;
use super::prefetch::Prefetch;
use super::stream;
use crate::Sequence;

/// Fewest events that are done together whose lines are acquired: those of a stream. In a model, of all.
const FEWEST: u64 = if cfg!(loom) { 1 } else { stream::FEWEST };
/// Where events take longer than this, a line more or less makes no difference to the producers.
const SLOW_NS: u64 = 100;

/// The choice of one consumer.
#[derive(Debug)]
pub(super) struct LineOwnership {
    /// Whether to leave the lines, the first way, or to acquire them.
    test: AbTest<SLOW_NS>,
}

impl LineOwnership {
    /// That of a consumer of a ring of so many `slots`, whose first event is `first`.
    pub(super) fn of(slots: u64, first: Sequence) -> Self {
        Self { test: AbTest::over_laps(slots, first) }
    }

    /// Whether to acquire the lines of `done`.
    #[inline(always)]
    pub(super) fn wants(&mut self, done: Range<Sequence>) -> bool {
        done.end - done.start >= FEWEST && self.decide(done.end)
    }

    /// Not in line: the hot path of a lone event stays short.
    #[inline(never)]
    fn decide(&mut self, end: Sequence) -> bool {
        Prefetch::ACQUIRES_LINES && (cfg!(loom) || !self.test.is_first_at(end))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::tuning::ab_test::EVENTS_PER_STRETCH;

    /// How many of so many `batches`, each of so many `events`, have their lines acquired.
    fn acquired(batches: u64, events: u64) -> usize {
        let mut lines = LineOwnership { test: AbTest::starting_at(0) };
        (0..batches).filter(|batch| lines.wants(batch * events..(batch + 1) * events)).count()
    }

    #[test]
    fn lines_of_a_stream_are_acquired_for_a_test_at_least() {
        if Prefetch::ACQUIRES_LINES {
            assert!(acquired(3 * EVENTS_PER_STRETCH / 64, 64) > 0);
            assert!(acquired(3, EVENTS_PER_STRETCH + 1) > 0, "of long batches too");
        }
    }

    #[test]
    fn lines_of_lone_events_are_left() {
        assert_eq!(acquired(8 * EVENTS_PER_STRETCH, 1), 0);
        assert_eq!(acquired(8 * EVENTS_PER_STRETCH, FEWEST - 1), 0);
    }
}
