//! Median and spread of a few runs. Outliers of a shared machine affect both less than a mean and a
//! deviation.

/// Samples of the bootstrap.
const RESAMPLES: usize = 1000;
/// The seed of the bootstrap. Equal values always have equal intervals.
const BOOTSTRAP_SEED: u64 = 0xB007;

/// The smallest and the largest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    /// The smallest.
    pub(crate) min: f64,
    /// The largest.
    pub(crate) max: f64,
}

/// Returns the median of `values`, or `None` if there are no values. For an even number of values
/// it is the mean of the middle two.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted = values.into_iter().collect::<Vec<_>>();
    sorted.sort_by(f64::total_cmp);

    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}

/// Returns the quartiles of `values`, or `None` if there are no values. Quartiles are values at the
/// nearest rank, not means.
pub(crate) fn quartiles(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
    let mut sorted = values.into_iter().collect::<Vec<_>>();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let lower = last / 4;
    Some(Spread { min: sorted[lower], max: sorted[last - lower] })
}

/// Returns the range of `values`, or `None` if there are no values.
pub(crate) fn spread(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
    values.into_iter().fold(None, |spread, value| {
        let Spread { min, max } = spread.unwrap_or(Spread { min: value, max: value });
        Some(Spread { min: min.min(value), max: max.max(value) })
    })
}

/// Returns the 95 % confidence interval of the median, or `None` if there are no values. It uses
/// the percentile bootstrap (Efron 1979): medians of samples drawn from `values` with replacement.
pub(crate) fn interval_of_median(values: &[f64]) -> Option<Spread> {
    if values.is_empty() {
        return None;
    }
    let mut random = fastrand::Rng::with_seed(BOOTSTRAP_SEED);
    let mut medians = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let drawn = (0..values.len()).filter_map(|_| random.choice(values)).copied();
        medians.extend(median(drawn));
    }
    medians.sort_by(f64::total_cmp);
    let tail = RESAMPLES / 40; // 2.5 % on each side
    Some(Spread { min: medians[tail], max: medians[RESAMPLES - 1 - tail] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_the_middle_whatever_the_order() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median([7.0]), Some(7.0));
        assert_eq!(median([]), None);
    }

    #[test]
    fn median_ignores_one_outlier() {
        assert_eq!(median([10.0, 11.0, 1_000.0]), Some(11.0));
    }

    #[test]
    fn quartiles_leave_out_a_quarter_at_each_end() {
        let values = [9.0, 1.0, 3.0, 2.0, 7.0, 8.0, 4.0, 6.0, 5.0];
        assert_eq!(quartiles(values), Some(Spread { min: 3.0, max: 7.0 }));
        assert_eq!(quartiles([2.0, 1.0, 3.0]), Some(Spread { min: 1.0, max: 3.0 }));
        assert_eq!(quartiles([]), None);
    }

    #[test]
    fn spread_is_the_range() {
        let expected = Spread { min: 1.0, max: 3.0 };
        assert_eq!(spread([2.0, 3.0, 1.0]), Some(expected));
        assert_eq!(spread([]), None);
    }

    #[test]
    fn interval_holds_the_median_and_no_outlier_of_many() {
        let values = [1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 40.0];
        let Spread { min, max } = interval_of_median(&values).unwrap();
        assert!((0.9..=1.0).contains(&min), "min={min}");
        assert!((1.0..=1.1).contains(&max), "max={max}");
        assert_eq!(interval_of_median(&[2.0]), Some(Spread { min: 2.0, max: 2.0 }));
        assert_eq!(interval_of_median(&[]), None);
    }
}
