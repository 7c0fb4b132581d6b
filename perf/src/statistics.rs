//! Median and spread of a few runs. Both stand up to the outliers of a shared machine better than a
//! mean and a deviation do.

/// The smallest and the largest of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    /// The smallest.
    pub(crate) min: f64,
    /// The largest.
    pub(crate) max: f64,
}

/// The middle of `values`, or the mean of the middle two; none of no values.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted = values.into_iter().collect::<Vec<_>>();
    sorted.sort_by(f64::total_cmp);

    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}

/// The range of `values`; none of no values.
pub(crate) fn spread(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
    values.into_iter().fold(None, |spread, value| {
        let Spread { min, max } = spread.unwrap_or(Spread { min: value, max: value });
        Some(Spread { min: min.min(value), max: max.max(value) })
    })
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
    fn spread_is_the_range() {
        let expected = Spread { min: 1.0, max: 3.0 };
        assert_eq!(spread([2.0, 3.0, 1.0]), Some(expected));
        assert_eq!(spread([]), None);
    }
}
