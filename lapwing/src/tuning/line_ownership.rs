//! Whether a consumer acquires ownership of the cache lines of finished events before it releases their
//! slots.
//!
//! ```text
//!                    written      read        acquired        released, and written a lap later
//! producer's cache   the line     a copy      -               fetched ahead of the stores, no copy elsewhere
//! consumer's cache   -            a copy      the line        -
//! ```
//!
//! A line that was read is in both caches, and the next store of the producer must invalidate the copy of the
//! consumer. That takes 30 ns where CPUs share a cache, 135 ns where they do not. Stores keep their order, so
//! only as many overlap as fit into the store buffer. On AMD CPUs, a prefetch to write has no effect on a
//! line that is present as a copy. A consumer that stores a byte unchanged acquires the line, together with
//! many others, while no thread waits for it. The producer then has no copy, and its hardware prefetcher
//! fetches the line.
//!
//! The consumer pays for this. Lines are therefore acquired only in a stream, and an A/B test
//! ([`ab_test`](super::ab_test)) over some laps decides, since the effect shows one lap later. Of consumers
//! side by side, the last one acquires the lines.
//!
//! Worth (`perf/results/experiments.md`, "The lines of what is done"): one producer 1.5 to 2.3, three
//! producers 1.2 to 1.4 on an EPYC (Zen 4) whose CPUs share a cache, 4 to 7 and 1.2 where they do not;
//! multicast 1.9 to 3.8.

use std::ops::Range;

use super::ab_test::AbTest;
use super::prefetch::Prefetch;
use super::stream;
use crate::Sequence;
use crate::ab_tests::{AbTestSubject, EndTests};

/// Fewest events finished together whose lines are acquired: those of a stream. In a model, one.
const FEWEST: u64 = if cfg!(loom) { 1 } else { stream::FEWEST };
/// If events take longer than this, their lines make no difference to the producers.
const SLOW_NS: u64 = 100;

/// The choice of one consumer.
#[derive(Debug)]
pub(super) struct LineOwnership {
    /// First way: leave the lines. Other way: acquire them.
    test: AbTest<SLOW_NS>,
}

impl LineOwnership {
    /// The choice of a consumer of a ring of `slots`, whose first event is `first`.
    pub(super) fn of(slots: u64, first: Sequence, tests: &EndTests<'_>) -> Self {
        let record = tests.add_if(Prefetch::ACQUIRES_LINES, AbTestSubject::AcquireLines);
        Self { test: AbTest::over_laps(slots, first).recorded(record) }
    }

    /// Whether to acquire the lines of `done`.
    #[inline]
    pub(super) fn wants(&mut self, done: Range<Sequence>) -> bool {
        done.end - done.start >= FEWEST && self.decide(done.end)
    }

    /// Not inlined, to keep the hot path of a lone event short.
    #[inline(never)]
    fn decide(&mut self, end: Sequence) -> bool {
        Prefetch::ACQUIRES_LINES && (cfg!(loom) || !self.test.is_first_at(end))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::tuning::ab_test::EVENTS_PER_STRETCH;

    /// How many of the `batches`, each of so many `events`, have their lines acquired.
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
