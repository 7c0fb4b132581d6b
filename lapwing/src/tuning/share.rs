//! How many of the available events a worker of a group claims: its fair share, but enough to be
//! worth the cost of the claim. Not here: the claim itself (`group`), and how a worker
//! finds events (`consumer::worker`).
//!
//! If an event takes less time than a contended claim, fair shares of a few events keep all workers
//! busy with claims. A worker therefore measures how long its events take. It adopts a slow
//! measurement at once and a quick one gradually: a claim that is too small only costs time, but
//! one that is too large withholds work from idle workers.
//!
//! Measured gain in throughput (E68 and E29 in `lab/results/experiments.md`): 1.6 times with two workers on an EPYC (Zen 4).

use std::time::Instant;

use crate::sync::now;

/// Least work of a claim in nanoseconds, if enough events are available: several times the cost of
/// a claim.
const LEAST_NS: u64 = 2_000;
/// Most events of a claim that exceeds the fair share. See E29 in `lab/results/experiments.md`.
const MOST_OF_LEAST: u64 = 64;
/// Inverse weight of the last claim in the estimate, if that claim was quicker: it counts one
/// eighth.
const LEARNING: u64 = 8;

/// One worker's estimate of the time that an event takes.
#[derive(Debug)]
pub(crate) struct Share {
    /// The start of the current claim and its number of events.
    claimed: Option<(Instant, u64)>,
    /// Estimated nanoseconds per event, at most [`LEAST_NS`].
    event_ns: u64,
}

impl Share {
    /// Creates an estimate that assumes slow events.
    pub(crate) fn new() -> Self {
        Self { claimed: None, event_ns: LEAST_NS }
    }

    /// Returns how many of `there` available events to claim in a group of `sharers` workers.
    pub(crate) fn of(&self, there: u64, sharers: u64) -> u64 {
        let worth = (LEAST_NS / self.event_ns.max(1)).min(MOST_OF_LEAST);
        let least = if cfg!(lapwing_plain) { 1 } else { worth };
        (there / sharers).max(least.min(there)).max(1)
    }

    /// Records that the worker has claimed `events`.
    pub(crate) fn begin(&mut self, events: u64) {
        self.claimed = Some((now(), events));
    }

    /// Records that the worker has finished its claim.
    pub(crate) fn end(&mut self) {
        if let Some((start, events)) = self.claimed.take() {
            let claim_ns = u64::try_from((now() - start).as_nanos()).unwrap_or(u64::MAX);
            self.learn(claim_ns / events.max(1));
        }
    }

    /// Updates the estimate with a claim whose events took `event_ns` each.
    fn learn(&mut self, event_ns: u64) {
        let quicker = (self.event_ns * (LEARNING - 1) + event_ns.min(LEAST_NS)) / LEARNING;
        self.event_ns = event_ns.min(LEAST_NS).max(quicker);
    }
}

#[cfg(all(test, not(loom), not(lapwing_plain)))]
mod tests {
    use super::*;

    /// An estimate after `claims`, each given as nanoseconds per event.
    fn after(claims: &[u64]) -> Share {
        let mut share = Share::new();
        claims.iter().for_each(|&event_ns| share.learn(event_ns));
        share
    }

    #[test]
    fn shares_are_fair_at_first_and_where_events_take_long() {
        for share in [Share::new(), after(&[5_000_000; 100]), after(&[LEAST_NS; 100])] {
            let shares = [1, 7, 8, 16, 800].map(|there| share.of(there, 8));
            assert_eq!(shares, [1, 1, 1, 2, 100]);
        }
    }

    #[test]
    fn share_of_quick_events_is_worth_its_claim() {
        let share = after(&[5; 100]);
        let shares = [1, 7, 63, 64, 100, 800].map(|there| share.of(there, 8));
        assert_eq!(shares, [1, 7, 63, 64, 64, 100]);
        assert_eq!(after(&[200; 100]).of(800, 800), 10);
    }

    #[test]
    fn one_slow_claim_makes_shares_fair_at_once() {
        let mut share = after(&[5; 100]);
        share.learn(u64::MAX);
        assert_eq!(share.of(64, 8), 8);
        (0..100).for_each(|_| share.learn(5));
        assert_eq!(share.of(64, 8), 64);
    }

    #[test]
    fn claims_are_timed_from_their_begin_to_their_end() {
        let mut share = after(&[5; 100]);
        share.end(); // no claim to end
        assert_eq!(share.of(64, 64), 64);
        share.begin(1);
        std::thread::sleep(std::time::Duration::from_millis(1));
        share.end();
        assert_eq!(share.of(64, 64), 1);
    }
}
