//! The record of the delays of one segment.

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::load::paced::{Delays, SEGMENTS};

/// Points of a curve for each halving of the remaining distance to 100 %.
const POINTS_PER_HALVING: u32 = 5;

/// The delays of one segment, in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Segment {
    /// The segment of the path.
    pub(crate) name: &'static str,
    /// Events.
    pub(crate) count: u64,
    /// The shortest delay.
    pub(crate) min_ns: u64,
    /// The mean.
    pub(crate) mean_ns: f64,
    /// Half of the delays are at most this long. The other percentiles are alike.
    pub(crate) p50_ns: u64,
    /// 90 %.
    pub(crate) p90_ns: u64,
    /// 99 %.
    pub(crate) p99_ns: u64,
    /// 99.9 %.
    pub(crate) p99_9_ns: u64,
    /// 99.99 %.
    pub(crate) p99_99_ns: u64,
    /// The longest delay.
    pub(crate) max_ns: u64,
    /// Percentiles and their delays, denser towards 100. Left out if many rows are compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    curve: Vec<(f64, u64)>,
}

impl Segment {
    /// Returns each segment of `delays`, in order.
    pub(crate) fn all(delays: &Delays) -> Vec<Self> {
        let segments = SEGMENTS.into_iter().zip(&delays.segments);
        segments.map(|(name, histogram)| Self::new(name, histogram)).collect()
    }

    /// Returns the end-to-end path, without its curve.
    pub(crate) fn end_to_end(delays: &Delays) -> Self {
        let way = Self::new(SEGMENTS[SEGMENTS.len() - 1], delays.end_to_end());
        Self { curve: Vec::new(), ..way }
    }

    /// Returns the delays of `histogram`, under this name.
    pub(crate) fn new(name: &'static str, histogram: &Histogram<u64>) -> Self {
        let points = histogram.iter_quantiles(POINTS_PER_HALVING);
        let curve =
            points.map(|point| (100.0 * point.quantile_iterated_to(), point.value_iterated_to()));
        Self {
            name,
            count: histogram.len(),
            min_ns: histogram.min(),
            mean_ns: histogram.mean(),
            p50_ns: histogram.value_at_quantile(0.5),
            p90_ns: histogram.value_at_quantile(0.9),
            p99_ns: histogram.value_at_quantile(0.99),
            p99_9_ns: histogram.value_at_quantile(0.999),
            p99_99_ns: histogram.value_at_quantile(0.9999),
            max_ns: histogram.max(),
            curve: curve.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_delays() {
        let mut delays = Delays::new();
        (1..=1_000).for_each(|delay| delays.segments[3].saturating_record(delay));
        let way = &Segment::all(&delays)[3];
        assert_eq!((way.min_ns, way.p50_ns, way.p99_ns, way.max_ns), (1, 500, 990, 1_000));
        assert_eq!(way.curve.last(), Some(&(100.0, 1_000)));
        assert!(way.curve.is_sorted_by_key(|point| point.1));
    }
}
