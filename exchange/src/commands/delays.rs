//! The delays of answers.

use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;

/// The longest delay that is distinguished from longer ones, in nanoseconds.
const LONGEST_NS: u64 = 60_000_000_000;

/// Delays from the moment when a command should be sent to the arrival of its last answer.
#[derive(Debug, Clone)]
pub(super) struct Delays(Histogram<u64>);

impl Delays {
    pub(super) fn new() -> Self {
        Self(Histogram::new_with_max(LONGEST_NS, 3).expect("the bounds are valid"))
    }

    pub(super) fn add(&mut self, delay: Duration) {
        let ns = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        self.0.saturating_record(ns);
    }

    /// Returns the delay that this part of the commands does not exceed, in nanoseconds.
    pub(super) fn at(&self, quantile: f64) -> u64 {
        self.0.value_at_quantile(quantile)
    }

    /// Returns the longest delay, in nanoseconds.
    pub(super) fn longest(&self) -> u64 {
        self.0.max()
    }

    pub(super) fn count(&self) -> u64 {
        self.0.len()
    }
}

impl fmt::Display for Delays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, quantile) in [("50 %", 0.5), ("99 %", 0.99), ("99.9 %", 0.999)] {
            let us = self.at(quantile) as f64 / 1e3;
            write!(f, "{name} {us:.0} us, ")?;
        }
        write!(f, "longest {:.0} us", self.longest() as f64 / 1e3)
    }
}
