//! What a measurement leaves behind. Every experiment writes one [`Record`] for each of its rows, the terminal and the
//! page show records, and `lapwing-lab report` reads the same type back.
//!
//! A record says which work it did (its `cell`), what carried it, and what each counted run measured. Medians and
//! ranges are not stored: whoever shows a record computes them from its runs. Only the ratio to a baseline is stored,
//! because it compares two records round by round.

mod compare; // ratios within a round
mod file; // the file of `--json`
mod key; // the names of labels and facts
mod label; // words and numbers of a cell

use std::collections::BTreeMap;

use lapwing_lab_stats::{Percentiles, median, quartiles, range};
use serde::{Deserialize, Serialize};

pub(crate) use self::compare::{compare, fastest, in_rounds, named, named_or_last};
pub(crate) use self::file::{File, Missing};
pub(crate) use self::key::Key;
pub(crate) use self::label::Label;

/// The contender that this repository is about.
pub(crate) const OWN: &str = "lapwing";

/// Names of figures that several experiments measure.
pub(crate) mod figure {
    /// Events, values or operations per second.
    pub(crate) const PER_SECOND: &str = "per_second";
    /// Mean number of CPUs in use.
    pub(crate) const CPUS: &str = "cpus";
    /// Mean number of events that a consumer receives at once.
    pub(crate) const BATCH: &str = "events_per_batch";
    /// Voluntary context switches per second: a thread blocked.
    pub(crate) const VOLUNTARY: &str = "voluntary_per_second";
    /// Involuntary context switches per second: a thread was preempted or yielded.
    pub(crate) const INVOLUNTARY: &str = "involuntary_per_second";
}

/// The figures of one run, by their names. A figure that the system does not report is absent.
pub(crate) type Figures = BTreeMap<String, f64>;

/// One row of an experiment.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Record {
    /// The experiment, as on the command line.
    pub(crate) experiment: String,
    /// The work: topology, slots, bytes and whatever else the experiment varies. Records of equal cells did the same
    /// work in the same rounds.
    pub(crate) cell: BTreeMap<String, Label>,
    /// What carried the events.
    pub(crate) contender: String,
    /// The wait of its threads, in one word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wait: Option<String>,
    /// The placement of its consumers on threads. Only Lapwing has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) placement: Option<String>,
    /// Working threads of a run.
    pub(crate) threads: usize,
    /// Whether each thread was bound to its own CPU.
    #[serde(default)]
    pub(crate) pinned: bool,
    /// What else is known about the row, such as the events of a run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) facts: BTreeMap<String, Label>,
    /// Whether every answer of every run was right. A row with a wrong answer has no record.
    pub(crate) verified: bool,
    /// The figures of each counted run, in the order of the rounds.
    pub(crate) runs: Vec<Figures>,
    /// The delays of all runs together, by the parts of the path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) delays: Vec<Percentiles>,
    /// The comparison with the baseline of the cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ratio: Option<Ratio>,
}

/// How many times as fast as the baseline a row is.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Ratio {
    /// The contender of the baseline.
    pub(crate) to: String,
    /// The median of the ratios within a round.
    pub(crate) median: f64,
    /// The 95 % bootstrap interval of that median.
    pub(crate) interval: (f64, f64),
}

impl Record {
    /// Creates the record of `contender` in an experiment, with nothing else known yet.
    pub(crate) fn new(experiment: &str, contender: &str, threads: usize) -> Self {
        Self {
            experiment: experiment.to_owned(),
            cell: BTreeMap::new(),
            contender: contender.to_owned(),
            wait: None,
            placement: None,
            threads,
            pinned: false,
            facts: BTreeMap::new(),
            verified: true, // a wrong answer ends the measurement
            runs: Vec::new(),
            delays: Vec::new(),
            ratio: None,
        }
    }

    /// Adds a label to the cell.
    pub(crate) fn in_cell(mut self, key: Key, label: impl Into<Label>) -> Self {
        self.cell.insert(key.name().to_owned(), label.into());
        self
    }

    /// Adds a fact, if it is known.
    pub(crate) fn with_fact(mut self, key: Key, fact: Option<impl Into<Label>>) -> Self {
        if let Some(fact) = fact {
            self.facts.insert(key.name().to_owned(), fact.into());
        }
        self
    }

    /// Returns the label `key` of the cell, or the fact of this name.
    pub(crate) fn label(&self, key: Key) -> Option<&Label> {
        self.cell.get(key.name()).or_else(|| self.facts.get(key.name()))
    }

    /// Returns [`label`](Self::label) as text, or an empty one.
    pub(crate) fn text(&self, key: Key) -> String {
        self.label(key).map_or_else(String::new, Label::to_string)
    }

    /// Returns [`label`](Self::label) as a number.
    pub(crate) fn number(&self, key: Key) -> Option<f64> {
        self.label(key).and_then(Label::number)
    }

    /// Returns a figure of each run that has it.
    pub(crate) fn each<'a>(&'a self, figure: &'a str) -> impl Iterator<Item = f64> + 'a {
        self.runs.iter().filter_map(move |run| run.get(figure).copied())
    }

    /// Returns the median of a figure over the runs, or `None` if no run has it.
    pub(crate) fn median(&self, figure: &str) -> Option<f64> {
        median(self.each(figure))
    }

    /// Returns the smallest and the largest value of a figure.
    pub(crate) fn range(&self, figure: &str) -> Option<(f64, f64)> {
        range(self.each(figure))
    }

    /// Returns the quartiles of a figure.
    pub(crate) fn quartiles(&self, figure: &str) -> Option<(f64, f64)> {
        quartiles(self.each(figure))
    }

    /// Returns the median rate, or zero if the experiment measures none.
    pub(crate) fn rate(&self) -> f64 {
        self.median(figure::PER_SECOND).unwrap_or(0.0)
    }

    /// Returns the delays of the part `name` of the path.
    pub(crate) fn delays_of(&self, name: &str) -> Option<&Percentiles> {
        self.delays.iter().find(|part| part.name == name)
    }

    /// Returns whether it is a row of Lapwing.
    pub(crate) fn is_own(&self) -> bool {
        self.contender == OWN
    }

    /// Returns whether each of its consumers has a thread.
    pub(crate) fn has_default_placement(&self) -> bool {
        self.placement.as_deref().is_none_or(|placement| placement == DEFAULT_PLACEMENT)
    }

    /// Returns the wait of its threads, and its placement if it has one that is not the default.
    pub(crate) fn setting(&self) -> String {
        let placement =
            self.placement.as_deref().filter(|placement| *placement != DEFAULT_PLACEMENT);
        [self.wait.as_deref(), placement].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// Returns why the record cannot be shown: a wrong answer, no figures, or a figure that is not finite.
    pub(crate) fn fault(&self) -> Option<String> {
        if !self.verified {
            return Some("its answer was not verified: verified=false".to_owned());
        }
        if self.runs.is_empty() && self.delays.is_empty() {
            return Some("it has neither `runs` nor `delays`".to_owned());
        }
        let figures = self.runs.iter().flatten();
        let bad = figures.into_iter().find(|(_, value)| !value.is_finite() || **value < 0.0);
        bad.map(|(name, value)| format!("a figure is finite and not negative: {name}={value}"))
    }
}

/// Lapwing's default placement: a thread for each consumer.
pub(crate) const DEFAULT_PLACEMENT: &str = "own";

/// Returns the records of one experiment among `all`.
pub(crate) fn of<'a>(all: &[&'a Record], experiment: &str) -> Vec<&'a Record> {
    all.iter().copied().filter(|record| record.experiment == experiment).collect()
}

/// Returns `records` by their cells, in the order in which the cells first occur.
pub(crate) fn by_cell<'a>(records: &[&'a Record]) -> Vec<Vec<&'a Record>> {
    by(records, |record| record.cell.clone()).into_iter().map(|(_, records)| records).collect()
}

/// Returns `records` by what `key` says about them, in the order in which the keys first occur.
pub(crate) fn by<'a, K: PartialEq>(
    records: &[&'a Record],
    key: impl Fn(&Record) -> K,
) -> Vec<(K, Vec<&'a Record>)> {
    let mut groups = Vec::<(K, Vec<&Record>)>::new();
    for record in records {
        let key = key(record);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(record),
            None => groups.push((key, vec![record])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record whose runs had these rates.
    pub(super) fn record(contender: &str, rates: &[f64]) -> Record {
        let mut record = Record::new("throughput", contender, 2).in_cell(Key::TOPOLOGY, "unicast");
        let run = |rate: &f64| Figures::from([(figure::PER_SECOND.to_owned(), *rate)]);
        record.runs = rates.iter().map(run).collect();
        record
    }

    #[test]
    fn figures_are_those_of_the_runs() {
        let record = record("lapwing", &[3.0, 1.0, 2.0]).with_fact(Key::EVENTS, Some(7_u64));
        assert_eq!((record.rate(), record.range(figure::PER_SECOND)), (2.0, Some((1.0, 3.0))));
        assert_eq!((record.median(figure::CPUS), record.number(Key::EVENTS)), (None, Some(7.0)));
        assert_eq!(
            (record.text(Key::TOPOLOGY), record.text(Key::new("absent"))),
            ("unicast".into(), String::new())
        );
    }

    #[test]
    fn records_are_grouped_by_what_they_did() {
        let other = record("lapwing", &[1.0]).in_cell(Key::RING, 64_u64);
        let (one, two) = (record("lapwing", &[1.0]), record("rtrb", &[1.0]));
        let cells = by_cell(&[&one, &other, &two]).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(cells, [2, 1]);
    }

    #[test]
    fn the_default_placement_is_not_named() {
        let mut own = record("lapwing", &[1.0]);
        (own.wait, own.placement) = (Some("adaptive".into()), Some("own".into()));
        assert_eq!(own.setting(), "adaptive");
        own.placement = Some("auto".into());
        assert_eq!(own.setting(), "adaptive auto");
    }

    #[test]
    fn a_record_that_cannot_be_shown_says_why() {
        assert_eq!(record("lapwing", &[1.0]).fault(), None);
        for (record, reason) in [
            (Record { verified: false, ..record("lapwing", &[1.0]) }, "verified=false"),
            (record("lapwing", &[]), "neither `runs` nor `delays`"),
            (record("lapwing", &[1.0, f64::INFINITY]), "per_second=inf"),
            (record("lapwing", &[-1.0]), "per_second=-1"),
        ] {
            assert!(record.fault().unwrap().contains(reason), "{reason}");
        }
    }
}
