//! The rows of a table: the seven segments of an order's path, their sum, and two values that the
//! original leaves out. The module computes percentiles from the times of orders.

use hdrhistogram::Histogram;
use serde::Serialize;

use super::order::SEGMENTS;
use super::roles::Returns;
use crate::measure::statistics;

/// The rows, in the original's order and with its names, then two more. One is the lateness of
/// strategies, which the original leaves out because it counts from the actual send. The other is
/// the lateness of gateways, which is part of `venue_svc`.
pub(super) const ROWS: [&str; SEGMENTS + 4] = [
    "submit",
    "orch_pre",
    "dispatch",
    "venue_svc",
    "completion",
    "orch_post",
    "return",
    "round_trip",
    "rt-venue",
    "sched_lag",
    "venue_late",
];
/// The row of the round trip.
const ROUND_TRIP: usize = SEGMENTS;
/// The row of the round trip without the venue: the main result.
pub(super) const RT_VENUE: usize = SEGMENTS + 1;
/// The row of the lateness of strategies.
const SCHED_LAG: usize = SEGMENTS + 2;
/// The row of the lateness of gateways.
const VENUE_LATE: usize = SEGMENTS + 3;

/// Times up to an hour, with three significant digits.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Significant decimal digits of a time.
const DIGITS: u8 = 3;

/// Three percentiles of times, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Percentiles {
    /// The median.
    pub(super) p50_ns: f64,
    /// One of a hundred is longer.
    pub(super) p99_ns: f64,
    /// One of a thousand is longer.
    pub(super) p99_9_ns: f64,
}

impl Percentiles {
    /// Returns the percentiles of `times`.
    fn of(times: impl Iterator<Item = u64>) -> Self {
        let mut histogram = Histogram::<u64>::new_with_max(LONGEST_NS, DIGITS)
            .expect("the bounds are constants that it takes");
        times.for_each(|time| histogram.saturating_record(time));
        let at = |quantile| histogram.value_at_quantile(quantile) as f64;
        Self { p50_ns: at(0.5), p99_ns: at(0.99), p99_9_ns: at(0.999) }
    }

    /// Returns, for each percentile, the median over runs, as the original does.
    pub(super) fn median(runs: &[Self]) -> Self {
        let median = |of: fn(&Self) -> f64| statistics::median(runs.iter().map(of)).unwrap_or(0.0);
        Self {
            p50_ns: median(|run| run.p50_ns),
            p99_ns: median(|run| run.p99_ns),
            p99_9_ns: median(|run| run.p99_9_ns),
        }
    }
}

/// A value for each of [`ROWS`].
pub(super) type Rows = [Percentiles; ROWS.len()];

/// Returns the percentiles of one run.
pub(super) fn rows(returns: &[Returns]) -> Rows {
    let samples = || returns.iter().flat_map(|returns| &returns.samples);
    let mut rows = [Percentiles::default(); ROWS.len()];
    for (segment, row) in rows.iter_mut().take(SEGMENTS).enumerate() {
        *row = Percentiles::of(samples().map(|sample| u64::from(sample.times[segment])));
    }
    rows[ROUND_TRIP] = Percentiles::of(samples().map(|sample| sample.round_trip));
    rows[RT_VENUE] = Percentiles::of(samples().map(|sample| sample.without_venue()));
    let lags = returns.iter().flat_map(|returns| &returns.lags);
    rows[SCHED_LAG] = Percentiles::of(lags.map(|lag| u64::from(*lag)));
    rows[VENUE_LATE] = Percentiles::of(samples().map(|sample| u64::from(sample.late)));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_times() {
        let percentiles = Percentiles::of(1..=1_000);
        let expected = Percentiles { p50_ns: 500.0, p99_ns: 990.0, p99_9_ns: 999.0 };
        assert_eq!(percentiles, expected);
    }

    #[test]
    fn median_is_taken_of_each_percentile_alone() {
        let run = |p50_ns, p99_ns| Percentiles { p50_ns, p99_ns, p99_9_ns: 9.0 };
        let median = Percentiles::median(&[run(1.0, 7.0), run(2.0, 5.0), run(3.0, 6.0)]);
        assert_eq!(median, run(2.0, 6.0));
    }
}
