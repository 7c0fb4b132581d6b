//! The delays of the last probes.

use std::collections::VecDeque;
use std::time::Duration;

/// Probes that count: those of 100 seconds, at 10 per second.
const WINDOW: usize = 1_000;

/// The delays of the last 1,000 probes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    last: VecDeque<Duration>,
}

impl Delays {
    /// Adds a delay.
    pub fn add(&mut self, delay: Duration) {
        if self.last.len() == WINDOW {
            self.last.pop_front();
        }
        self.last.push_back(delay);
    }

    /// Returns the number of delays, at most 1,000.
    #[must_use]
    pub fn count(&self) -> usize {
        self.last.len()
    }

    /// Returns the delay that `percent` of the probes do not exceed; `None` without probes.
    #[must_use]
    pub fn at(&self, percent: usize) -> Option<Duration> {
        let mut sorted: Vec<_> = self.last.iter().copied().collect();
        sorted.sort_unstable();
        let place = (sorted.len() * percent).div_ceil(100);
        sorted.get(place.saturating_sub(1)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_last_thousand() {
        let mut delays = Delays::default();
        assert_eq!(delays.at(50), None);
        delays.add(Duration::from_secs(9));
        assert_eq!((delays.at(0), delays.at(50)), (delays.at(100), delays.at(99)));
        for ms in (1..=1_000).rev() {
            delays.add(Duration::from_millis(ms));
        }
        let at = |percent| delays.at(percent).unwrap().as_millis();
        assert_eq!((at(0), at(50), at(99), at(100)), (1, 500, 990, 1_000));
        assert_eq!(delays.count(), 1_000);
    }
}
