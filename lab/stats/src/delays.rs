//! Delays: a histogram while the clock runs, percentiles afterwards.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The longest distinguishable delay, in nanoseconds: 100 s. A longer one counts as this.
const LONGEST_NS: u64 = 100_000_000_000;
/// Significant decimal digits of a delay.
const DIGITS: u8 = 3;
/// Points of a curve for each halving of the remaining distance to 100 %.
const POINTS_PER_HALVING: u32 = 5;

/// Returns an empty histogram of delays in nanoseconds, with three significant digits up to 100 s.
///
/// Its memory has been touched, so that no page fault occurs while the clock runs.
///
/// # Panics
///
/// Never: its bounds are constants that the histogram accepts.
#[must_use]
pub fn histogram() -> Histogram<u64> {
    let mut histogram =
        Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("the bounds are constants");
    let mut delay = 1;
    while delay < LONGEST_NS {
        histogram.saturating_record(delay);
        delay += histogram.equivalent_range(delay);
    }
    histogram.reset();
    histogram
}

/// The delays of one part of a path, in nanoseconds.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Percentiles {
    /// The part of the path.
    pub name: String,
    /// Events.
    pub count: u64,
    /// The shortest delay.
    pub min_ns: f64,
    /// The mean.
    pub mean_ns: f64,
    /// Half of the delays are at most this long. The other percentiles are alike.
    pub p50_ns: f64,
    /// 90 %.
    pub p90_ns: f64,
    /// 99 %.
    pub p99_ns: f64,
    /// 99.9 %.
    pub p99_9_ns: f64,
    /// 99.99 %.
    pub p99_99_ns: f64,
    /// The longest delay.
    pub max_ns: f64,
    /// Percentiles and their delays, denser towards 100. A record that is one of many has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<(f64, f64)>,
}

impl Percentiles {
    /// Returns the delays of `histogram` under this name, with their curve.
    #[must_use]
    pub fn of(name: &str, histogram: &Histogram<u64>) -> Self {
        let points = histogram.iter_quantiles(POINTS_PER_HALVING);
        let curve = points
            .map(|point| (100.0 * point.quantile_iterated_to(), point.value_iterated_to() as f64));
        let at = |quantile| histogram.value_at_quantile(quantile) as f64;
        Self {
            name: name.to_owned(),
            count: histogram.len(),
            min_ns: histogram.min() as f64,
            mean_ns: histogram.mean(),
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p99_9_ns: at(0.999),
            p99_99_ns: at(0.9999),
            max_ns: histogram.max() as f64,
            curve: curve.collect(),
        }
    }

    /// Returns the same delays without the curve.
    #[must_use]
    pub fn without_curve(self) -> Self {
        Self { curve: Vec::new(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_histogram_is_empty_and_takes_any_delay() {
        let mut histogram = histogram();
        assert_eq!(histogram.len(), 0);
        for delay in [0, 1, LONGEST_NS, u64::MAX] {
            histogram.saturating_record(delay);
        }
        assert_eq!(histogram.len(), 4);
    }

    #[test]
    fn percentiles_are_those_of_the_delays() {
        let mut histogram = histogram();
        (1..=1_000).for_each(|delay| histogram.saturating_record(delay));
        let way = Percentiles::of("end-to-end", &histogram);
        assert_eq!((way.min_ns, way.p50_ns, way.p99_ns, way.max_ns), (1.0, 500.0, 990.0, 1_000.0));
        assert_eq!(way.curve.last(), Some(&(100.0, 1_000.0)));
        assert!(way.curve.is_sorted_by_key(|point| point.1));
    }
}
