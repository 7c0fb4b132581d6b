//! How a consumer polls for its next event, between two looks at its time limit and at a stop: for a microsecond or two.
//!
//! With some pause after a poll: in a stream the next event comes meanwhile, and its producer is to keep its cache lines until it
//! has a few. A consumer that waits for longer than half a microsecond waits for a lone event, which it sees sooner without.
//!
//! An A/B test ([`ab_test`](super::ab_test)) decides between two ways. With hardly any pause a lone event is seen as soon as it is
//! there: one pause hint after each poll. Or with three pause hints after the first polls, which leaves the lines to the thread that writes them: so a stream may do better, and, where
//! a line takes long, a thread that answers as fast as it is answered.
//!
//! Each way has a loop of its own, since what lies between two polls counts by the nanosecond.
//!
//! One hint after each poll: 1.1 to 1.9 of the speed of none, or of a few nanoseconds of work, for a lone event on an EPYC (Zen 4).
//!
//! Worth (`perf/results/experiments.md`, "How long to look away"): a lone event back to back 67 ns and not 89 on an EPYC (Zen 4) with the
//! first way; 134 and not 163, and through a channel 111 and not 153, on a Xeon (Emerald Rapids) with the second.

use super::ab_test::AbTest;
use crate::Sequence;
use crate::protocol::advice::POLLS;
use crate::sync::{dawdle, pause};

/// Where events take longer than this, their consumer is not what is waited for.
const SLOW_NS: u64 = 10_000;
/// Polls of the second way that pause hints come after.
const PAUSED: u32 = if cfg!(loom) { 1 } else { 11 };
/// Pause hints after each of those, 10 to 45 ns each.
const HINTS: u32 = 3;

/// How one consumer polls.
#[derive(Debug)]
pub(super) struct Looks {
    /// Whether to poll with hardly any pause, the first way.
    test: AbTest<SLOW_NS>,
}

impl Looks {
    /// Those of a consumer whose first event is `first`.
    pub(super) fn starting_at(first: Sequence) -> Self {
        Self { test: AbTest::starting_at(first) }
    }

    /// Polls by `look` for the event of `next` until it `is_there`; after a poll in vain comes `missed`.
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

/// What comes after each poll of the first way: a predicted branch takes some nanoseconds by itself after a poll in vain.
#[inline(always)]
fn after_a_poll() {
    if cfg!(feature = "predicted-branch") { dawdle() } else { pause(1) }
}

/// `is_there`, which the CPU predicts to be true.
#[cfg(feature = "predicted-branch")]
#[inline(always)]
fn predicted<T>(is_there: impl Fn(&T) -> bool) -> impl Fn(&T) -> bool {
    let prediction = super::predicted_branch::Prediction::new();
    move |seen| prediction.holds(is_there(seen))
}

/// `is_there`.
#[cfg(not(feature = "predicted-branch"))]
#[inline(always)]
fn predicted<T>(is_there: impl Fn(&T) -> bool) -> impl Fn(&T) -> bool {
    is_there
}

/// Polls `times` times, each in vain followed by what is `between`; the first thing seen that `is_there`.
#[inline(always)]
fn repeat<T>(
    times: u32,
    look: impl Fn() -> T,
    is_there: impl Fn(&T) -> bool,
    between: impl Fn(),
) -> Option<T> {
    // A loop, since an iterator's may become a call, with all that it asks about in memory.
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
        let mut looks = Looks::starting_at(7);
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
