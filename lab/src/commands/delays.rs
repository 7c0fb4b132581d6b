//! A carrier of timed events through the three-stage pipeline: what `latency` and `sweep` run, and what both say about
//! their records.

use lapwing_lab_stats::Percentiles;

use crate::contenders::{Contender, Entry};
use crate::load::paced::{END_TO_END, Pace, Paced, SEGMENTS, THREADS, nobody};
use crate::measure::crew::{Answers, RunError};
use crate::measure::error::Error;
use crate::measure::runner::{Measured, Subject, known};
use crate::record::{Key, Record, figure};
use crate::view::{Column, column};

/// The topology of every record.
const TOPOLOGY: &str = "pipeline";
/// Intended events per second, in the cell of a record.
pub(super) const OFFERED: Key = Key::new("offered_per_second");
/// The baseline without a hand-off, and its wait.
const FLOOR: &str = "no-hand-off";
const NO_WAIT: &str = "none";
/// A contender that achieves less than this fraction of a load does not sustain it.
const SUSTAINED: f64 = 0.95;

/// Percentiles of the end-to-end path of one run, and their names among its figures.
const P50: &str = "p50_ns";
const QUANTILES: [(&str, f64); 4] =
    [(P50, 0.5), ("p99_ns", 0.99), ("p99_9_ns", 0.999), ("max_ns", 1.0)];

/// The carrier of the events.
#[derive(Clone, Copy)]
pub(super) enum Carrier<'a> {
    /// The baseline without a hand-off: the sender is also all stages.
    Nobody,
    /// A contender with its best setting.
    Entry(&'a Entry),
}

/// A carrier under a load.
pub(super) struct PacedRun<'a> {
    experiment: &'static str,
    carrier: Carrier<'a>,
    /// The setting that it runs with.
    chosen: usize,
    /// The load.
    pace: Pace,
    /// The right answers for this load.
    expected: Answers,
}

impl<'a> Carrier<'a> {
    /// Returns the baseline without a hand-off, and each of `entries`.
    pub(super) fn all(entries: &'a [Entry]) -> impl Iterator<Item = Self> {
        [Self::Nobody].into_iter().chain(entries.iter().map(Self::Entry))
    }
}

impl<'a> PacedRun<'a> {
    /// Creates the run of `carrier` under the load `pace`.
    pub(super) const fn new(experiment: &'static str, carrier: Carrier<'a>, pace: Pace) -> Self {
        Self { experiment, carrier, chosen: 0, pace, expected: Answers::new() }
    }

    /// Runs once, and returns whether the run sustained the load.
    ///
    /// # Errors
    ///
    /// A wrong answer, or a run that failed.
    pub(super) fn is_sustained(&self) -> Result<bool, Error> {
        let run = self.run(self.pace.events)?;
        Ok(run.figures[figure::PER_SECOND] >= SUSTAINED * self.pace.per_second())
    }

    /// Returns the contender with its setting, or `None` for the baseline without a hand-off.
    fn contender(&self) -> Option<&dyn Contender> {
        match self.carrier {
            Carrier::Nobody => None,
            Carrier::Entry(entry) => Some(entry.candidates[self.chosen].as_ref()),
        }
    }

    /// Runs once, without a check of the answer.
    fn pass(&self) -> Result<Paced, RunError> {
        let pace = &self.pace;
        self.contender().map_or_else(|| nobody::run(pace), |contender| contender.paced(pace))
    }
}

impl Subject for PacedRun<'_> {
    fn record(&self) -> Record {
        let mut record = match self.contender() {
            Some(contender) => contender.record(self.experiment, contender.threads(1, THREADS - 1)),
            None => {
                Record { wait: Some(NO_WAIT.to_owned()), ..Record::new(self.experiment, FLOOR, 1) }
            }
        };
        record.pinned = self.pace.placement.pins(record.threads);
        record
            .in_cell(Key::TOPOLOGY, TOPOLOGY)
            .in_cell(Key::RING, self.pace.ring)
            .in_cell(OFFERED, self.pace.per_second().round() as u64)
    }

    fn settings(&self) -> usize {
        match self.carrier {
            Carrier::Nobody => 1,
            Carrier::Entry(entry) => entry.candidates.len(),
        }
    }

    fn choose(&mut self, setting: usize) {
        self.chosen = setting;
    }

    /// Returns a higher merit for a shorter median delay.
    fn merit(&self, run: &Measured) -> f64 {
        -run.figures[P50]
    }

    /// Computes the answers of `events`.
    fn prepare(&mut self, events: u32) {
        self.pace.events = events;
        self.expected = self.pace.expected();
    }

    fn run(&self, events: u32) -> Result<Measured, Error> {
        let topology = TOPOLOGY;
        let contender = self.contender().map_or(FLOOR, Contender::name);
        let paced = self.pass().map_err(|source| Error::Run { topology, contender, source })?;
        if paced.answers != self.expected {
            let (expected, found) = (self.expected.clone(), paced.answers);
            return Err(Error::WrongAnswer { topology, contender, events, expected, found });
        }
        Ok(measured(events, paced))
    }
}

/// Returns the figures and the delays of a run of `events`.
fn measured(events: u32, paced: Paced) -> Measured {
    let per_second = f64::from(events) / paced.seconds_under_load();
    let cpus = paced.cpu_time.map(|time| time.as_secs_f64() / paced.elapsed.as_secs_f64());
    let way = paced.delays.end_to_end();
    let quantiles =
        QUANTILES.map(|(name, quantile)| (name, Some(way.value_at_quantile(quantile) as f64)));
    let speed = [(figure::PER_SECOND, Some(per_second)), (figure::CPUS, cpus)];
    Measured {
        elapsed: paced.elapsed,
        figures: known(speed.into_iter().chain(quantiles)),
        delays: SEGMENTS.into_iter().zip(paced.delays.segments).collect(),
    }
}

/// Returns whether most runs of `record` could not sustain the load.
pub(super) fn is_saturated(record: &Record) -> bool {
    let load = SUSTAINED * record.number(OFFERED).unwrap_or(0.0);
    let sustained = record.each(figure::PER_SECOND).filter(|rate| *rate >= load).count();
    sustained * 2 < record.runs.len()
}

/// Returns ` (saturated)` for a record that is.
pub(super) fn mark(record: &Record) -> &'static str {
    if is_saturated(record) { " (saturated)" } else { "" }
}

/// Returns the column of a percentile of the end-to-end path, in nanoseconds.
pub(super) fn way<'a>(name: &str, percentile: fn(&Percentiles) -> f64) -> Column<'a> {
    column::delay(name, END_TO_END, percentile)
}

/// Returns the name of a line in a chart: the contender, with its wait if `names_wait`.
pub(super) fn line(record: &Record, names_wait: bool) -> String {
    let setting =
        if names_wait && record.contender != FLOOR { record.setting() } else { String::new() };
    let pinned = if record.pinned { ", pinned" } else { "" };
    format!("{} {setting}", record.contender).trim_end().to_owned() + pinned
}
