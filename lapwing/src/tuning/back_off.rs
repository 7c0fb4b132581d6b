//! How long a producer backs off after another producer won a claim.
//!
//! During the back-off the winner keeps the cache lines and publishes a run of events. In a stream, long runs
//! pay. If events come one by one, a back-off gains nothing. Its length is therefore learnt from how many
//! events other producers claimed meanwhile.
//!
//! Worth (`perf/results/experiments.md`, "Backing off after a claim was lost"): three producers 2.6 times on
//! an EPYC (Zen 5). On a Xeon (Emerald Rapids), bare claims reach 55 million a second after short pauses and
//! 84 to 111 million after long ones.

use super::stream;
use crate::sync::pause;

/// Shortest, in pause hints: the time for the cache line of the counter to return.
const SHORTEST: u32 = 16;
/// First, in pause hints: about a microsecond.
const FIRST: u32 = 64;
/// Longest, in pause hints: about five microseconds. Twice as long was no better.
const LONGEST: u32 = 512;

/// The back-off of one producer.
#[derive(Debug)]
pub(super) struct BackOff {
    /// Pause hints after the next lost claim.
    hints: u32,
}

impl Default for BackOff {
    fn default() -> Self {
        Self { hints: FIRST }
    }
}

impl BackOff {
    /// Backs off.
    pub(super) fn wait(&self) {
        pause(self.hints);
    }

    /// Doubles the next back-off if others claimed a stream of `events` meanwhile, else halves it.
    pub(super) fn learn(&mut self, events: u64) {
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
