//! The format of runs with a fixed length in tables: rates with their quartiles, ratios to rivals,
//! and the number of cells in which a contender is first.

use super::{distinct, table};
use crate::measure::sample::Summary;
use crate::measure::statistics::median;

/// The note below every table of such rates.
pub(crate) const NOTE: &str = "rates are medians of the runs; ratios are medians of the per-round \
    ratios; switches: voluntary + involuntary context switches of all threads";

/// A cell whose ratio to the best rival is at least this counts as close.
const CLOSE: f64 = 0.9;

/// Returns the quartiles of the rates.
pub(crate) fn quartiles(summary: &Summary) -> String {
    let (low, high) = summary.quartiles_per_second;
    format!("{} .. {}", table::rate(low), table::rate(high))
}

/// Formats voluntary and involuntary switches per second.
pub(crate) fn switches(summary: &Summary) -> String {
    let count = |rate: Option<f64>| table::or_none(rate, |rate| format!("{rate:.0}"));
    format!("{} + {}", count(summary.voluntary_per_second), count(summary.involuntary_per_second))
}

/// Returns the median of the per-round ratios.
pub(crate) fn ratio(own: &Summary, rival: &Summary) -> Option<f64> {
    let rounds = own.runs.iter().zip(&rival.runs);
    median(rounds.map(|(own, rival)| own.per_second / rival.per_second))
}

/// Returns the fastest of `rows`, each with its summary.
pub(crate) fn fastest<'a, R>(
    rows: impl Iterator<Item = &'a R>,
    summary: impl Fn(&R) -> &Summary,
) -> Option<&'a R> {
    let rate = |row: &R| summary(row).median_per_second;
    rows.max_by(|one, other| rate(one).total_cmp(&rate(other)))
}

/// Returns the number of cells in which `own` is first, by its `ratios` to the best rival of each.
pub(crate) fn standing(own: &str, ratios: &[f64]) -> String {
    let from = |least: f64| ratios.iter().filter(|ratio| **ratio >= least).count();
    let (first, cells, close) = (from(1.0), ratios.len(), from(CLOSE));
    format!(
        "{own}: first in {first} of {cells} cells, within 10 % of the first in {close} (including \
         those in which it is first)"
    )
}

/// Formats the share of the runs below a tenth of the median, in percent.
pub(crate) fn stalled(summary: &Summary) -> String {
    format!("{:.0}", 100.0 * summary.stalled_share)
}

/// Returns the number of stalled runs of each contender over all of its `rows`, or `None` if there
/// are none.
pub(crate) fn all_stalled<'a>(
    rows: impl Iterator<Item = (&'a str, &'a Summary)> + Clone,
) -> Option<String> {
    let of_contender = |contender: &str| {
        let own = rows.clone().filter(|(name, _)| *name == contender);
        let counts = own.map(|(_, summary)| {
            let runs = summary.runs.len();
            ((summary.stalled_share * runs as f64).round() as usize, runs)
        });
        let (stalled, runs) =
            counts.fold((0, 0), |(stalled, runs), own| (stalled + own.0, runs + own.1));
        (stalled > 0).then(|| format!("{contender} {stalled} of {runs}"))
    };
    let contenders = distinct(rows.clone().map(|(contender, _)| contender));
    let stalled = contenders.into_iter().filter_map(of_contender).collect::<Vec<_>>();
    (!stalled.is_empty())
        .then(|| format!("runs below a tenth of the median of their row: {}", stalled.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tie_is_first_and_a_tenth_is_close() {
        let text = standing("lapwing", &[1.0, 2.0, 0.95, 0.5]);
        assert!(
            text.starts_with("lapwing: first in 2 of 4 cells, within 10 % of the first in 3"),
            "{text}"
        );
    }
}
