//! How a consumer polls for its next event. One call polls [`POLLS`] times, which takes a
//! microsecond or two. Between two calls, the consumer checks its time limit and whether it is
//! asked to stop.
//!
//! An A/B test ([`ab_test`](super::ab_test)) chooses between two ways at run time:
//!
//! - One pause hint after each poll. This sees a single event as early as possible.
//! - Three pause hints after each of the first polls, none after the others. The hints leave the
//!   cache lines to the producer until it has published several events, which may suit a stream. On
//!   a CPU with slow cache-line transfers, this also suits two threads that answer each other. A
//!   consumer that has waited half a microsecond waits for a single event, and sees it sooner
//!   without hints.
//!
//! Each way has its own loop, since each nanosecond between two polls counts.
//!
//! Measured gain (E39 in `perf/results/experiments.md`). One hint after each
//! poll, relative to none or to a few nanoseconds of work: a single event is 1.1 to 1.9 times as
//! fast on an EPYC (Zen 4). Single events back to back take 67 ns instead of 89 on an EPYC (Zen 4)
//! with the first way. On a Xeon (Emerald Rapids) with the second way, they take 134 ns instead of
//! 163, and 111 instead of 153 through a channel.

use super::ab_test::AbTest;
use crate::Sequence;
use crate::ab_tests::{AbTestSubject, EndTests};
use crate::protocol::advice::POLLS;
use crate::sync::{IS_CHECKED, pause};

/// Time per event in nanoseconds above which no thread waits for the consumer.
const SLOW_NS: u64 = 10_000;
/// Number of polls of the second way that are followed by pause hints.
const PAUSED: u32 = if IS_CHECKED { 1 } else { 11 };
/// Pause hints after each of these polls; a hint takes 10 to 45 ns.
const HINTS: u32 = 3;

/// The polling of one consumer.
#[derive(Debug)]
pub(super) struct PollLoop {
    /// The A/B test. First way: one pause hint after each poll. Other way: several hints after the
    /// first polls.
    test: AbTest<SLOW_NS>,
}

impl PollLoop {
    /// Creates the polling of a consumer whose first event is `first`.
    pub(super) fn new(first: Sequence, tests: &EndTests<'_>) -> Self {
        let record = tests.add(AbTestSubject::PauseLonger);
        Self { test: AbTest::starting_at(first).recorded(record) }
    }

    /// Calls `poll_once` until its result `is_available`, which means that the event of `next` is
    /// available. Calls `missed` after each failed poll. Returns `None` after [`POLLS`] failed
    /// polls.
    #[inline(always)]
    pub(super) fn poll<T>(
        &mut self,
        next: Sequence,
        poll_once: impl Fn() -> T,
        is_available: impl Fn(&T) -> bool,
        missed: impl Fn(),
    ) -> Option<T> {
        if self.test.is_first_at(next) {
            return repeat(POLLS, &poll_once, &is_available, || {
                missed();
                pause(1);
            });
        }
        let seen = repeat(PAUSED, &poll_once, &is_available, || {
            missed();
            pause(HINTS);
        });
        seen.or_else(|| repeat(POLLS - PAUSED, &poll_once, &is_available, &missed))
    }
}

/// Polls up to `times` times and calls `between` after each failed poll. Returns the first result
/// that `is_available`.
#[inline(always)]
fn repeat<T>(
    times: u32,
    poll_once: impl Fn() -> T,
    is_available: impl Fn(&T) -> bool,
    between: impl Fn(),
) -> Option<T> {
    // A loop, since the compiler may turn an iterator into a call that keeps its captures in
    // memory.
    for _ in 0..times {
        let seen = poll_once();
        if is_available(&seen) {
            return Some(seen);
        }
        between();
    }
    None
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::tuning::ab_test::EVENTS_PER_STRETCH;

    #[test]
    fn a_consumer_that_waits_tries_both_ways_and_begins_with_the_first() {
        let mut poll_loop = PollLoop { test: AbTest::starting_at(7) };
        let ways: Vec<_> = (7..7 + 4 * EVENTS_PER_STRETCH)
            .map(|next| {
                assert_eq!(poll_loop.poll(next, || next, |_| true, || {}), Some(next));
                poll_loop.test.is_first()
            })
            .collect();
        assert!(ways[0] && ways.contains(&false));
    }

    #[test]
    fn an_event_that_never_comes_is_polled_for_as_often_as_the_protocol_says() {
        for test in [AbTest::default(), AbTest::always_other()] {
            let polls = std::cell::Cell::new(0);
            let poll_once = || polls.set(polls.get() + 1);
            assert_eq!(PollLoop { test }.poll(0, poll_once, |()| false, || {}), None);
            assert_eq!(polls.get(), POLLS);
        }
    }
}
