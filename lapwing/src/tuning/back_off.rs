//! How long a producer backs off after it loses a claim to another producer.
//!
//! During the back-off the winner keeps ownership of the cache lines and publishes a run of events.
//! In a stream, long runs raise throughput; with single events, a back-off gains nothing. The
//! length of the back-off therefore adapts to the number of events that other producers claim in
//! the meantime.
//!
//! Measured gain (E3 and E18 in `lab/results/experiments.md`): 2.6 times the throughput with three
//! producers on an EPYC (Zen 5). On a Xeon (Emerald Rapids), bare claims reach 55 million per second
//! with short pauses and 84 to 111 million with long ones.

use super::stream;
use crate::sync::pause;

/// Shortest back-off in pause hints: the time that the counter's cache line takes to return.
const SHORTEST: u32 = 16;
/// First back-off in pause hints: about a microsecond.
const FIRST: u32 = 64;
/// Longest back-off in pause hints: about five microseconds. Twice this length has no further gain.
const LONGEST: u32 = 512;

/// The back-off of one producer.
#[derive(Debug)]
pub(super) struct BackOff {
    /// Pause hints of the next back-off.
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

    /// Doubles the next back-off if the other producers claimed a stream of `events` meanwhile;
    /// halves it otherwise.
    pub(super) fn learn(&mut self, events: u64) {
        self.hints = stream::learnt(self.hints, events, SHORTEST..=LONGEST).max(SHORTEST);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_stream_lengthens_the_back_off_and_a_single_event_shortens_it() {
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
