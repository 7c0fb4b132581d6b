//! One run of a fixed length, and the summary of the runs of a row: rates, their cost, and the
//! share of stalled runs. Runs with a fixed number of events are in `run` and `row`.

use serde::{Deserialize, Serialize};

use crate::machine::switches::SwitchRates;
use crate::measure::statistics::{self, Spread, median};

/// A run below this fraction of the median has stalled.
const STALLED_PART: f64 = 0.1;

/// One run.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Sample {
    /// Values or events per second of the whole run.
    pub(crate) per_second: f64,
    /// Mean number of CPUs in use, or `None` if the system does not report CPU time.
    pub(crate) cpus: Option<f64>,
    /// Voluntary context switches per second, or `None` if the system does not report them.
    pub(crate) voluntary_per_second: Option<f64>,
    /// Involuntary context switches per second: preemptions and yields.
    pub(crate) involuntary_per_second: Option<f64>,
    /// The longest time of one send. Only runs that time each send have it.
    pub(crate) longest_send_ns: Option<f64>,
    /// Values of the sender that sent the fewest divided by those of the sender that sent the most.
    /// `None` with one sender.
    pub(crate) fairness: Option<f64>,
}

/// The summary of the runs of a row.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Summary {
    /// Whether every answer of every run was right. A row with a wrong answer has no record.
    verified: bool,
    /// The median of the runs.
    pub(crate) median_per_second: f64,
    /// The quartiles of the runs.
    pub(crate) quartiles_per_second: (f64, f64),
    /// The fastest row of the cell, by the medians.
    pub(crate) first: &'static str,
    /// The median of the per-round ratios to the fastest row.
    pub(crate) ratio_to_first: Option<f64>,
    /// The share of runs below a tenth of the median.
    pub(crate) stalled_share: f64,
    /// The medians of the figures of [`Sample`]. The longest send is the maximum of all runs.
    pub(crate) cpus: Option<f64>,
    pub(crate) voluntary_per_second: Option<f64>,
    pub(crate) involuntary_per_second: Option<f64>,
    pub(crate) longest_send_ns: Option<f64>,
    pub(crate) fairness: Option<f64>,
    /// Every counted run, in the order of the rounds.
    pub(crate) runs: Vec<Sample>,
}

impl Sample {
    /// Returns this run with its context switches.
    pub(crate) fn with_switches(self, rates: Option<SwitchRates>) -> Self {
        Self {
            voluntary_per_second: rates.map(|rates| rates.voluntary),
            involuntary_per_second: rates.map(|rates| rates.involuntary),
            ..self
        }
    }
}

impl Summary {
    /// Returns the summary of `runs`, compared with the fastest row of the cell, of this name and
    /// with these runs. Returns `None` if there are no runs.
    pub(crate) fn of(
        runs: &[Sample],
        (first, first_runs): (&'static str, &[Sample]),
    ) -> Option<Self> {
        let median_per_second = median_rate(runs)?;
        let Spread { min, max } = statistics::quartiles(rates(runs))?;
        let ratios = rates(runs).zip(rates(first_runs)).map(|(own, first)| own / first);
        let stalled = rates(runs).filter(|rate| *rate < median_per_second * STALLED_PART).count();
        let of = |figure: fn(&Sample) -> Option<f64>| median(runs.iter().filter_map(figure));
        Some(Self {
            verified: true, // a wrong answer ends the measurement
            median_per_second,
            quartiles_per_second: (min, max),
            first,
            ratio_to_first: median(ratios),
            stalled_share: stalled as f64 / runs.len() as f64,
            cpus: of(|run| run.cpus),
            voluntary_per_second: of(|run| run.voluntary_per_second),
            involuntary_per_second: of(|run| run.involuntary_per_second),
            longest_send_ns: runs.iter().filter_map(|run| run.longest_send_ns).reduce(f64::max),
            fairness: of(|run| run.fairness),
            runs: runs.to_vec(),
        })
    }
}

/// Returns the summaries of the rows of one cell, each with its rank. A row without runs has none.
pub(crate) fn summaries(rows: &[(&'static str, &[Sample])]) -> Vec<(usize, Summary)> {
    let rate = |runs: &[Sample]| median_rate(runs).unwrap_or(0.0);
    let first = rows.iter().max_by(|(_, one), (_, other)| rate(one).total_cmp(&rate(other)));
    let Some(first) = first else { return Vec::new() };
    let summary = |(place, (_, runs)): (usize, &(&'static str, &[Sample]))| {
        Summary::of(runs, *first).map(|summary| (place, summary))
    };
    rows.iter().enumerate().filter_map(summary).collect()
}

fn rates(runs: &[Sample]) -> impl Iterator<Item = f64> {
    runs.iter().map(|run| run.per_second)
}

fn median_rate(runs: &[Sample]) -> Option<f64> {
    median(rates(runs))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(rates: &[f64]) -> Vec<Sample> {
        let run = |&per_second| Sample {
            per_second,
            cpus: Some(2.0),
            voluntary_per_second: None,
            involuntary_per_second: Some(per_second),
            longest_send_ns: Some(per_second * 10.0),
            fairness: None,
        };
        rates.iter().map(run).collect()
    }

    #[test]
    fn ratios_are_those_of_each_round() {
        let (one, other) = (runs(&[10.0, 1.0, 30.0]), runs(&[20.0, 20.0, 20.0]));
        let rows = [("one", &one[..]), ("none", &[]), ("other", &other[..])];
        let summaries = summaries(&rows);
        let places = summaries.iter().map(|(place, _)| *place).collect::<Vec<_>>();
        assert_eq!(places, [0, 2]);
        let summary = &summaries[0].1;
        assert_eq!((summary.first, summary.ratio_to_first), ("other", Some(0.5)));
        assert_eq!((summary.median_per_second, summary.cpus), (10.0, Some(2.0)));
        assert_eq!((summary.longest_send_ns, summary.fairness), (Some(300.0), None));
        assert_eq!(summary.stalled_share, 0.0);
        assert_eq!(summaries[1].1.ratio_to_first, Some(1.0));
    }

    #[test]
    fn a_run_below_a_tenth_of_the_median_is_stalled() {
        let runs = runs(&[10.0, 0.9, 10.0, 12.0]);
        let summary = Summary::of(&runs, ("own", &runs)).unwrap();
        assert_eq!(summary.stalled_share, 0.25);
    }
}
