//! One contender: its passes, and what is printed about them.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

/// A pass fails with an error or a panic.
pub(crate) type Pass<T> = Result<T, Box<dyn Error>>;

/// One pass: where the driver is, which channel, which stream.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) dir: &'a Path,
    pub(crate) channel: &'a str,
    pub(crate) stream: i32,
}

/// A way to carry events.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    /// Events of a pass at full speed.
    pub(crate) events: u64,
    /// Carries this number of events at full speed, and returns the time from the first to the
    /// last.
    pub(crate) throughput: fn(Place<'_>, u64) -> Pass<Duration>,
    /// Carries events at a steady rate, and returns the delay of each, from when it was to be sent.
    pub(crate) delay: fn(Place<'_>) -> Pass<Vec<u64>>,
}

/// The results of a contender.
pub(crate) struct Row<'a> {
    contender: &'a Contender,
    rates: Vec<f64>,
    /// Percentiles of each round, in nanoseconds.
    p50: Vec<f64>,
    p99: Vec<f64>,
}

impl<'a> Row<'a> {
    pub(crate) fn new(contender: &'a Contender) -> Self {
        Self { contender, rates: Vec::new(), p50: Vec::new(), p99: Vec::new() }
    }

    /// Runs one pass at full speed and one at a steady rate, each in a stream of its own.
    pub(crate) fn run(&mut self, dir: &Path, channel: &str, round: usize) -> Pass<()> {
        let stream = 10 + 2 * round as i32;
        let events = self.contender.events;
        let took = (self.contender.throughput)(Place { dir, channel, stream }, events)?;
        self.rates.push(events as f64 / took.as_secs_f64() / 1e6);
        let mut delays = (self.contender.delay)(Place { dir, channel, stream: stream + 1 })?;
        delays.sort_unstable();
        let percentile = |percent: usize| delays[(delays.len() - 1) * percent / 100] as f64;
        self.p50.push(percentile(50));
        self.p99.push(percentile(99));
        Ok(())
    }

    pub(crate) fn rates(&self) -> Vec<f64> {
        self.rates.clone()
    }

    /// Prints medians; the ratio is the median of the ratios within a round.
    pub(crate) fn print(&self, reference: &[f64]) {
        let ratios = self.rates.iter().zip(reference).map(|(rate, reference)| rate / reference);
        println!(
            "{:<22}{:>12.2}{:>10.2}{:>11.1} us{:>11.1} us",
            self.contender.name,
            median(self.rates.iter().copied()),
            median(ratios),
            median(self.p50.iter().copied()) / 1e3,
            median(self.p99.iter().copied()) / 1e3,
        );
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    lapwing_lab_stats::median(values).unwrap_or(f64::NAN)
}

/// Events of a pass at a steady rate.
pub(crate) const STEADY_EVENTS: u64 = 20_000;

/// The time between two of them: 20,000 a second.
pub(crate) const INTERVAL_NS: u64 = 50_000;
