//! Periodic samples of the orders in flight. Little's law gives their expected number.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use super::{Role, Turn};
use crate::commands::dispatch::config::Config;

/// Sent and returned orders of one strategy. The strategy writes them, and the sampler reads them.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    /// Orders sent.
    sent: AtomicU64,
    /// Orders that came back.
    returned: AtomicU64,
}

impl Flight {
    /// Counts a sent order.
    #[inline]
    pub(super) fn send(&self) {
        add_one(&self.sent);
    }

    /// Counts a returned order.
    #[inline]
    pub(super) fn come_back(&self) {
        add_one(&self.returned);
    }

    /// Returns the orders in flight. The returned ones are read first, so that no order seems to
    /// return before it was sent.
    fn count(&self) -> u64 {
        // Relaxed: a slightly old count suffices.
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
pub(crate) struct Sampler<'a> {
    /// The flights of each strategy.
    flights: &'a [CachePadded<Flight>],
    /// The interval between two samples.
    period: u64,
    /// The next count.
    next_at: u64,
    /// The time in which about as many orders return as are sent: from the longest delay to the end
    /// of the window.
    steady: Range<u64>,
    /// The maximum.
    peak: u64,
    /// The sum of the samples in steady state.
    steady_sum: u64,
    /// Number of counts in steady state.
    steady_counts: u64,
}

impl<'a> Sampler<'a> {
    /// Creates a sampler of `flights` as `config` says.
    pub(crate) const fn new(flights: &'a [CachePadded<Flight>], config: &Config) -> Self {
        Self {
            flights,
            period: config.sample_us * 1_000,
            next_at: 0,
            steady: config.d_max_ns()..config.window_ns(),
            peak: 0,
            steady_sum: 0,
            steady_counts: 0,
        }
    }

    /// Returns the maximum number of orders in flight.
    pub(crate) const fn peak(&self) -> u64 {
        self.peak
    }

    /// Returns the mean of orders in flight in steady state, or `None` if the window ended before
    /// it.
    pub(crate) fn steady_mean(&self) -> Option<f64> {
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

    /// Takes a sample if one is due. A sample is not work, because it sends no message.
    fn turn(&mut self, now: u64) -> Turn {
        if now >= self.next_at {
            self.count(now);
            self.next_at = now + self.period;
        }
        Turn { worked: false, next_at: self.next_at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_is_of_the_steady_state_and_the_peak_of_everything() {
        let flights = [CachePadded::default()];
        let config = Config { sample_us: 1, d_max_us: 10, window_ms: 1, ..Config::scaled() };
        let mut sampler = Sampler::new(&flights, &config);
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
