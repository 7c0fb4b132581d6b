//! How many orders are in flight, counted from time to time: Little's law says how many there
//! should be.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use super::{Role, Signals, Turn};
use crate::commands::dispatch::config::Config;

/// What one strategy has sent and got back. Written by it alone, read by the sampler.
#[derive(Debug, Default)]
pub(in crate::commands::dispatch) struct Flight {
    /// Orders sent.
    sent: AtomicU64,
    /// Orders that came back.
    returned: AtomicU64,
}

impl Flight {
    /// One more was sent.
    #[inline]
    pub(super) fn send(&self) {
        add_one(&self.sent);
    }

    /// One more came back.
    #[inline]
    pub(super) fn come_back(&self) {
        add_one(&self.returned);
    }

    /// Orders in flight. What came back is read first, so that none seems to have come back unsent.
    fn count(&self) -> u64 {
        // Relaxed: a count that is a moment old will do.
        let returned = self.returned.load(Ordering::Relaxed);
        self.sent.load(Ordering::Relaxed).saturating_sub(returned)
    }
}

/// Adds one to a number that no other thread writes.
#[inline]
fn add_one(counter: &AtomicU64) {
    // Relaxed: it carries nothing.
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// Counts the orders in flight.
#[derive(Debug)]
pub(in crate::commands::dispatch) struct Sampler<'a> {
    /// Those of each strategy.
    flights: &'a [CachePadded<Flight>],
    /// Time from one count to the next.
    period: u64,
    /// The next count.
    next_at: u64,
    /// When about as many come back as are sent: after the longest delay, until the window ends.
    steady: Range<u64>,
    /// The most.
    peak: u64,
    /// Sum of the counts in steady state.
    steady_sum: u64,
    /// Number of counts in steady state.
    steady_counts: u64,
    /// When it is over.
    signals: &'a Signals,
}

impl<'a> Sampler<'a> {
    /// Counts `flights` as `config` says.
    pub(in crate::commands::dispatch) const fn new(
        flights: &'a [CachePadded<Flight>],
        config: &Config,
        signals: &'a Signals,
    ) -> Self {
        Self {
            flights,
            period: config.sample_us * 1_000,
            next_at: 0,
            steady: config.d_max_ns()..config.window_ns(),
            peak: 0,
            steady_sum: 0,
            steady_counts: 0,
            signals,
        }
    }

    /// The most orders that were in flight.
    pub(in crate::commands::dispatch) const fn peak(&self) -> u64 {
        self.peak
    }

    /// The mean of orders in flight in steady state; none if the window ended before there was one.
    pub(in crate::commands::dispatch) fn steady_mean(&self) -> Option<f64> {
        let counts = self.steady_counts;
        (counts > 0).then(|| self.steady_sum as f64 / counts as f64)
    }

    /// Counts at `now`.
    fn count(&mut self, now: u64) {
        let in_flight = self.flights.iter().map(|flight| flight.count()).sum::<u64>();
        self.peak = self.peak.max(in_flight);
        if self.steady.contains(&now) {
            self.steady_sum += in_flight;
            self.steady_counts += 1;
        }
    }
}

impl Role for Sampler<'_> {
    fn begin(&mut self, epoch: u64) {
        self.next_at = epoch;
        self.steady = self.steady.start + epoch..self.steady.end + epoch;
    }

    /// A count is no work: it brings nothing to anybody.
    fn turn(&mut self, now: u64) -> Turn {
        if now >= self.next_at {
            self.count(now);
            self.next_at = now + self.period;
        }
        Turn { worked: false, next_at: self.next_at, done: self.signals.is_over() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_is_of_the_steady_state_and_the_peak_of_everything() {
        let (flights, signals) = ([CachePadded::default()], Signals::new(1));
        let config = Config { sample_us: 1, d_max_us: 10, window_ms: 1, ..Config::scaled() };
        let mut sampler = Sampler::new(&flights, &config, &signals);
        sampler.begin(5_000);
        let send = |count: usize| (0..count).for_each(|_| flights[0].send());

        send(9);
        sampler.turn(5_000);
        flights[0].come_back();
        sampler.turn(5_999); // too early to count
        assert_eq!((sampler.peak(), sampler.steady_mean()), (9, None));

        (0..6).for_each(|_| flights[0].come_back());
        sampler.turn(15_000); // 2
        send(2);
        sampler.turn(1_004_999); // 4
        send(1);
        sampler.turn(1_005_999); // after the window
        assert_eq!((sampler.peak(), sampler.steady_mean()), (9, Some(3.0)));
    }
}
