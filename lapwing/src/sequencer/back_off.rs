//! How long a producer keeps off after a claim that it lost to another one.
//!
//! Meanwhile the winner publishes a run of events whose lines stay in its cache. Where events come as a
//! stream a long run pays: three producers on two cores have two and a half times the throughput. Where
//! they come one by one nothing is gained by keeping off, so it is learnt from what the others claimed
//! meanwhile, as a consumer learns its gaps. See `perf/results/experiments.md`.

use crate::sync::pause;
use crate::wait::stream;

/// Shortest, in pause hints: what it takes the line of the counter to come back.
const SHORTEST: u32 = 16;
/// First, in pause hints: about a microsecond.
const FIRST: u32 = 64;
/// Longest, in pause hints: some five microseconds. Twice as long was no better.
const LONGEST: u32 = 512;

/// What one producer has learnt.
#[derive(Debug)]
pub(super) struct BackOff {
    /// Pause hints after the next claim that is lost.
    hints: u32,
}

impl Default for BackOff {
    fn default() -> Self {
        Self { hints: FIRST }
    }
}

impl BackOff {
    /// Keeps off. `look` says how many events others have claimed since the claim was tried.
    pub(super) fn wait(&mut self, look: impl FnOnce() -> u64) {
        pause(self.hints);
        self.learn(look());
    }

    /// Twice as long next time if others claimed a stream of `events` meanwhile, else half.
    fn learn(&mut self, events: u64) {
        self.hints = stream::learnt(self.hints, events, SHORTEST..=LONGEST).max(SHORTEST);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_kept_off_from_and_a_lone_event_is_not() {
        let mut back_off = BackOff::default();
        let mut learn = |events| {
            back_off.learn(events);
            back_off.hints
        };
        assert_eq!([1_000; 5].map(&mut learn), [128, 256, 512, 512, 512]);
        assert_eq!([1; 7].map(&mut learn), [256, 128, 64, 32, 16, 16, 16]);
        assert_eq!(
            [5, 6, 9, 10].map(&mut learn),
            [16, 32, 16, 32],
            "one for each four hints, and one"
        );
    }
}
