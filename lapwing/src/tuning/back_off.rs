//! How long a producer backs off after a claim that another producer won.
//!
//! Meanwhile the winner publishes a run of events whose cache lines stay with it. In a stream a long run pays. Where events
//! come one by one nothing is gained by a back-off, so its length is learnt from what other producers claimed meanwhile.
//!
//! Worth (`perf/results/experiments.md`, "Backing off after a claim was lost"): three producers 2.6 times on an EPYC (Zen 5); on a
//! Xeon (Emerald Rapids) bare claims do 55 million a second after short pauses and 84 to 111 after long ones.

use super::stream;
use crate::sync::pause;

/// Shortest, in pause hints: what it takes the line of the counter to come back.
const SHORTEST: u32 = 16;
/// First, in pause hints: about a microsecond.
const FIRST: u32 = 64;
/// Longest, in pause hints: some five microseconds. Twice as long was no better.
const LONGEST: u32 = 512;

/// The back-off of one producer.
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
    /// Backs off. `others` says how many events others have claimed since the claim was tried.
    pub(super) fn wait(&mut self, others: impl FnOnce() -> u64) {
        pause(self.hints);
        self.learn(others());
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
    fn a_stream_lengthens_the_back_off_and_a_lone_event_shortens_it() {
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
