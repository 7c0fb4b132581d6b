//! What the measurements of this repository share: medians, intervals and percentiles, the machine, and processes that put
//! load on it.
//!
//! Machines are shared and noisy, so an outlier must not decide a figure. A few runs are therefore described by their
//! median and their range or quartiles, and two contenders by the median of the ratios within a round. The mean and
//! the standard deviation are not offered.

#![forbid(unsafe_code)]

use std::borrow::Borrow;

#[cfg(feature = "children")]
mod busy_threads;
#[cfg(feature = "children")]
mod child;
#[cfg(feature = "delays")]
mod delays;
#[cfg(feature = "machine")]
mod machine;
#[cfg(feature = "machine")]
mod neighbours;
#[cfg(feature = "machine")]
mod quota;

#[cfg(feature = "children")]
pub use self::busy_threads::BusyThreads;
#[cfg(feature = "children")]
pub use self::child::{OwnChild, end_with_parent};
#[cfg(feature = "delays")]
pub use self::delays::{Percentiles, histogram};
#[cfg(feature = "machine")]
pub use self::machine::{Machine, cpu};
#[cfg(feature = "machine")]
pub use self::neighbours::Neighbours;

/// Samples of the bootstrap.
const RESAMPLES: usize = 1000;
/// The seed of the bootstrap. Equal values always have equal intervals.
const BOOTSTRAP_SEED: u64 = 0xB007;

/// Returns the median of `values`, or `None` if there are no values.
///
/// For an even number of values it is the mean of the middle two.
///
/// ```
/// assert_eq!(lapwing_lab_stats::median([10.0, 1_000.0, 11.0]), Some(11.0));
/// assert_eq!(lapwing_lab_stats::median([4.0, 1.0, 3.0, 2.0]), Some(2.5));
/// assert_eq!(lapwing_lab_stats::median(&[] as &[f64]), None);
/// ```
pub fn median(values: impl IntoIterator<Item = impl Borrow<f64>>) -> Option<f64> {
    let sorted = sorted(values);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}

/// Returns the lower and the upper quartile of `values`, or `None` if there are no values.
///
/// Quartiles are values at the nearest rank, not means.
///
/// ```
/// let values = [9.0, 1.0, 3.0, 2.0, 7.0, 8.0, 4.0, 6.0, 5.0];
/// assert_eq!(lapwing_lab_stats::quartiles(values), Some((3.0, 7.0)));
/// ```
pub fn quartiles(values: impl IntoIterator<Item = impl Borrow<f64>>) -> Option<(f64, f64)> {
    let sorted = sorted(values);
    let last = sorted.len().checked_sub(1)?;
    let lower = last / 4;
    Some((sorted[lower], sorted[last - lower]))
}

/// Returns the smallest and the largest of `values`, or `None` if there are no values.
///
/// ```
/// assert_eq!(lapwing_lab_stats::range([2.0, 3.0, 1.0]), Some((1.0, 3.0)));
/// ```
pub fn range(values: impl IntoIterator<Item = impl Borrow<f64>>) -> Option<(f64, f64)> {
    let sorted = sorted(values);
    Some((*sorted.first()?, *sorted.last()?))
}

/// Returns the 95 % confidence interval of the median of `values`, or `None` if there are no values.
///
/// It is the percentile bootstrap (Efron 1979): the interval that holds the middle 95 % of the medians of samples that
/// are drawn from `values` with replacement.
///
/// ```
/// let (low, high) = lapwing_lab_stats::interval_of_median(&[1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 40.0]).unwrap();
/// assert!((0.9..=1.0).contains(&low) && (1.0..=1.1).contains(&high));
/// ```
pub fn interval_of_median(values: &[f64]) -> Option<(f64, f64)> {
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
    Some((medians[tail], medians[RESAMPLES - 1 - tail]))
}

fn sorted(values: impl IntoIterator<Item = impl Borrow<f64>>) -> Vec<f64> {
    let mut sorted = values.into_iter().map(|value| *value.borrow()).collect::<Vec<_>>();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_values_have_no_figures() {
        let none = [0.0; 0];
        assert_eq!((median(none), quartiles(none), range(none)), (None, None, None));
        assert_eq!(interval_of_median(&[]), None);
    }

    #[test]
    fn one_value_is_every_figure() {
        assert_eq!((median([7.0]), quartiles([7.0])), (Some(7.0), Some((7.0, 7.0))));
        assert_eq!(
            (range([7.0]), interval_of_median(&[7.0])),
            (Some((7.0, 7.0)), Some((7.0, 7.0)))
        );
    }

    #[test]
    fn quartiles_of_three_values_are_the_outer_two() {
        assert_eq!(quartiles([2.0, 1.0, 3.0]), Some((1.0, 3.0)));
    }
}
