//! How often something happens.

use std::collections::VecDeque;
use std::time::Duration;

/// Rates are those of the last seconds.
const WINDOW: Duration = Duration::from_secs(3);

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Commands to the exchange, for all symbols.
    pub commands: u64,
    /// Changes of levels of the symbol.
    pub changes: u64,
    /// Trades in the symbol.
    pub trades: u64,
}

/// Rates per second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// The oldest one first.
    ticks: VecDeque<(Duration, Counts)>,
}

impl Rates {
    /// Notes the counts at a time. Before the first record, the number of commands is not known, and
    /// nothing is noted.
    pub fn tick(&mut self, now: Duration, counts: Counts) {
        if counts == Counts::default() {
            return;
        }
        self.ticks.push_back((now, counts));
        // The first one is the last one that is old enough.
        while self.ticks.get(1).is_some_and(|(time, _)| now.saturating_sub(*time) >= WINDOW) {
            self.ticks.pop_front();
        }
    }

    /// Returns a rate per second; `None` as long as too little is known.
    #[must_use]
    pub fn of(&self, count: impl Fn(&Counts) -> u64) -> Option<f64> {
        let ((begin, first), (end, last)) = (self.ticks.front()?, self.ticks.back()?);
        let seconds = end.saturating_sub(*begin).as_secs_f64();
        (seconds > 0.0).then(|| (count(last) - count(first)) as f64 / seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_that_of_the_last_seconds() {
        let mut rates = Rates::default();
        assert_eq!(rates.of(|counts| counts.trades), None);
        let counts = |commands, trades| Counts { commands, changes: 0, trades };
        for (ms, commands, trades) in [(0, 5, 0), (500, 105, 1), (1_000, 205, 2)] {
            rates.tick(Duration::from_millis(ms), counts(commands, trades));
        }
        assert_eq!(rates.of(|counts| counts.commands), Some(200.0));
        assert_eq!(rates.of(|counts| counts.trades), Some(2.0));
        for ms in [4_000, 5_000, 6_000, 7_000] {
            rates.tick(Duration::from_millis(ms), counts(205, 2));
        }
        assert_eq!(rates.of(|counts| counts.commands), Some(0.0));
    }

    #[test]
    fn a_rate_begins_with_the_first_count() {
        let mut rates = Rates::default();
        rates.tick(Duration::ZERO, Counts::default());
        for (seconds, commands) in [(1, 1_000), (2, 1_010)] {
            let counts = Counts { commands, changes: 0, trades: 0 };
            rates.tick(Duration::from_secs(seconds), counts);
        }
        assert_eq!(rates.of(|counts| counts.commands), Some(10.0));
    }
}
