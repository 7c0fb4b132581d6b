//! How a consumer polls for its next event between two checks of its time limit and of a stop: for a
//! microsecond or two.
//!
//! An A/B test ([`ab_test`](super::ab_test)) decides between two ways:
//!
//! - One pause hint after each poll. A lone event is seen as early as possible. With the feature
//!   `predicted-branch`, a few nanoseconds of work replace the hint.
//! - Three pause hints after each of the first polls, none after the others. The hints leave the cache lines
//!   to the producer until it has several events, which may suit a stream. Where a line takes long, this also
//!   suits two threads that answer each other. A consumer that has waited half a microsecond waits for a lone
//!   event, which it sees sooner without hints.
//!
//! Each way has a loop of its own, since each nanosecond between two polls counts.
//!
//! One hint after each poll, relative to none or to a few nanoseconds of work: a lone event 1.1 to 1.9 on an
//! EPYC (Zen 4).
//!
//! Worth (`perf/results/experiments.md`, "How long to look away"): a lone event back to back 67 ns instead of
//! 89 on an EPYC (Zen 4) with the first way; 134 instead of 163, and through a channel 111 instead of 153, on
//! a Xeon (Emerald Rapids) with the second.

use super::ab_test::AbTest;
use crate::Sequence;
use crate::ab_tests::{AbTestSubject, EndTests};
use crate::protocol::advice::POLLS;
use crate::sync::{dawdle, pause};

/// If events take longer than this, no thread waits for the consumer.
const SLOW_NS: u64 = 10_000;
/// Polls of the second way that are followed by pause hints.
const PAUSED: u32 = if cfg!(loom) { 1 } else { 11 };
/// Pause hints after each of those, 10 to 45 ns each.
const HINTS: u32 = 3;

/// How one consumer polls.
#[derive(Debug)]
pub(super) struct Looks {
    /// First way: one pause hint after each poll. Other way: several after the first polls.
    test: AbTest<SLOW_NS>,
}

impl Looks {
    /// The polling of a consumer whose first event is `first`.
    pub(super) fn new(first: Sequence, tests: &EndTests<'_>) -> Self {
        let record = tests.add(AbTestSubject::PauseLonger);
        Self { test: AbTest::starting_at(first).recorded(record) }
    }

    /// Polls with `look` for the event of `next` until it `is_there`; calls `missed` after each poll that
    /// finds nothing.
    #[inline(always)]
    pub(super) fn poll<T>(
        &mut self,
        next: Sequence,
        look: impl Fn() -> T,
        is_there: impl Fn(&T) -> bool,
        missed: impl Fn(),
    ) -> Option<T> {
        if self.test.is_first_at(next) {
            let is_there = predicted(is_there);
            return repeat(POLLS, &look, is_there, || {
                missed();
                after_a_poll();
            });
        }
        let seen = repeat(PAUSED, &look, &is_there, || {
            missed();
            pause(HINTS);
        });
        seen.or_else(|| repeat(POLLS - PAUSED, &look, &is_there, &missed))
    }
}

/// Runs after each poll of the first way. A mispredicted poll takes some nanoseconds by itself.
#[inline]
fn after_a_poll() {
    if cfg!(feature = "predicted-branch") { dawdle() } else { pause(1) }
}

/// `is_there`, which the CPU predicts to be true.
#[cfg(feature = "predicted-branch")]
#[inline]
fn predicted<T>(is_there: impl Fn(&T) -> bool) -> impl Fn(&T) -> bool {
    let prediction = super::predicted_branch::Prediction::new();
    move |seen| prediction.holds(is_there(seen))
}

/// `is_there`, unchanged.
#[cfg(not(feature = "predicted-branch"))]
#[inline]
fn predicted<T>(is_there: impl Fn(&T) -> bool) -> impl Fn(&T) -> bool {
    is_there
}

/// Polls up to `times` times and calls `between` after each poll that finds nothing. Returns the first value
/// that `is_there`.
#[inline(always)]
fn repeat<T>(
    times: u32,
    look: impl Fn() -> T,
    is_there: impl Fn(&T) -> bool,
    between: impl Fn(),
) -> Option<T> {
    // A loop, since an iterator may become a call that keeps its captures in memory.
    for _ in 0..times {
        let seen = look();
        if is_there(&seen) {
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
        let mut looks = Looks { test: AbTest::starting_at(7) };
        let ways: Vec<_> = (7..7 + 4 * EVENTS_PER_STRETCH)
            .map(|next| {
                assert_eq!(looks.poll(next, || next, |_| true, || {}), Some(next));
                looks.test.is_first()
            })
            .collect();
        assert!(ways[0] && ways.contains(&false));
    }

    #[test]
    fn what_never_comes_is_looked_for_as_often_as_the_protocol_says() {
        for test in [AbTest::default(), AbTest::always_other()] {
            let polls = std::cell::Cell::new(0);
            let look = || polls.set(polls.get() + 1);
            assert_eq!(Looks { test }.poll(0, look, |()| false, || {}), None);
            assert_eq!(polls.get(), POLLS);
        }
    }
}
