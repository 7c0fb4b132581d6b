//! A row of a throughput table: its subject, the number of events of a run, its runs, and their
//! summary. Each benchmark defines the run itself (its [`Subject`]).

use std::time::Duration;

use serde::Serialize;

use crate::measure::calibration;
use crate::measure::error::Error;
use crate::measure::harness::Timed;
use crate::measure::run::{Pass, Run};
use crate::measure::schedule::Schedule;
use crate::measure::settling::Settling;
use crate::measure::statistics::{self, Spread, median};

/// The timed work.
pub(crate) trait Subject {
    /// Returns its name in a progress line.
    fn label(&self) -> String;

    /// Returns the number of working threads.
    fn threads(&self) -> usize;

    /// Returns the number of settings, such as wait strategies. The fastest of them is measured.
    fn candidates(&self) -> usize {
        1
    }

    /// Selects the setting of this index for all later runs.
    fn choose(&mut self, _candidate: usize) {}

    /// Returns the operations that one event counts for. It exceeds one if an event is an array or
    /// makes a round trip.
    fn operations_per_event(&self) -> u32 {
        1
    }

    /// Prepares for runs of `events`.
    fn prepare(&mut self, _events: u32) {}

    /// Runs once and checks the answer.
    ///
    /// # Errors
    ///
    /// A wrong answer, or a run that failed.
    fn run(&self, events: u32) -> Result<Pass, Error>;
}

/// A subject and its runs.
pub(crate) struct Row<S> {
    /// The subject that runs.
    pub(crate) subject: S,
    /// Events of one run.
    events: u32,
    /// The counted runs, one per round.
    pub(crate) runs: Vec<Run>,
    schedule: Schedule,
}

/// The summary of the runs of a row. It is part of the record of every throughput table.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Speed {
    /// The number of working threads.
    pub(crate) threads: usize,
    /// Whether each thread was bound to its own CPU.
    pub(crate) pinned: bool,
    /// Events of one run.
    pub(crate) events: u32,
    /// Whether every answer of every run was right. A row with a wrong answer has no record.
    pub(crate) verified: bool,
    /// Every counted run, in the order of the rounds.
    pub(crate) runs: Vec<Run>,
    /// The median of the runs.
    pub(crate) median_events_per_second: f64,
    /// The row that this one is compared with, or `None` if no such row ran.
    pub(crate) baseline: Option<&'static str>,
    /// The median of the per-round ratio to the baseline.
    pub(crate) ratio_to_baseline: Option<f64>,
    /// The 95 % bootstrap interval of that ratio.
    pub(crate) ratio_interval: Option<(f64, f64)>,
}

impl<S: Subject> Row<S> {
    /// Creates a row that has not run.
    pub(crate) fn new(subject: S, schedule: Schedule) -> Self {
        Self { subject, events: 1, runs: Vec::new(), schedule }
    }

    /// Returns the summary of the row, compared with the row `baseline` of this name.
    pub(crate) fn speed(&self, baseline: Option<(&'static str, &Self)>) -> Speed {
        let ratios = baseline.map(|(_, baseline)| ratios(&self.runs, &baseline.runs));
        let interval = ratios.as_deref().and_then(statistics::interval_of_median);
        let threads = self.subject.threads();
        Speed {
            threads,
            pinned: self.schedule.placement.pins(threads),
            events: self.events,
            verified: true, // a wrong answer ends the measurement
            runs: self.runs.clone(),
            median_events_per_second: median(speeds(&self.runs)).unwrap_or(0.0),
            baseline: baseline.map(|(name, _)| name),
            ratio_to_baseline: ratios.and_then(median),
            ratio_interval: interval.map(|Spread { min, max }| (min, max)),
        }
    }

    /// Runs once.
    fn pass(&self) -> Result<Pass, Error> {
        self.subject.run(self.events)
    }

    /// Returns the figures of `pass`.
    fn counted(&self, pass: &Pass) -> Run {
        Run::new(self.events, self.subject.operations_per_event(), pass)
    }
}

impl<S: Subject> Settling for Row<S> {
    fn candidates(&self) -> usize {
        self.subject.candidates()
    }

    fn choose(&mut self, candidate: usize) {
        self.subject.choose(candidate);
    }

    fn pilot_events(&self) -> u32 {
        calibration::PILOT_EVENTS
    }

    fn events(&self) -> u32 {
        self.events
    }

    fn set_events(&mut self, events: u32) {
        self.events = events;
        self.subject.prepare(events);
    }

    fn given_events(&self) -> Option<u32> {
        self.schedule.events
    }

    fn pilot(&self) -> Result<(Duration, f64), Error> {
        let pass = self.pass()?;
        Ok((pass.elapsed, self.counted(&pass).events_per_second))
    }
}

impl<S: Subject> Timed for Row<S> {
    fn label(&self) -> String {
        self.subject.label()
    }

    /// Selects the fastest candidate, and the number of events that fill the length of a run.
    fn settle(&mut self) -> Result<(), Error> {
        self.settle_for(self.schedule.run_time)
    }

    /// Reduces the number of events if the run took longer than requested. Pilots are short, and a
    /// contender can slow down when its queue fills or its threads outnumber the CPUs.
    fn warm_up(&mut self) -> Result<(), Error> {
        let elapsed = self.pass()?.elapsed;
        if self.schedule.events.is_none() && elapsed > self.schedule.run_time {
            self.set_events(calibration::fitted(self.events, elapsed, self.schedule.run_time));
        }
        Ok(())
    }

    fn measure(&mut self) -> Result<(), Error> {
        let pass = self.pass()?;
        self.runs.push(self.counted(&pass));
        Ok(())
    }
}

impl Speed {
    /// Returns the range of a figure over all runs.
    pub(crate) fn spread(&self, figure: impl Fn(&Run) -> f64) -> Option<Spread> {
        statistics::spread(self.runs.iter().map(figure))
    }

    /// Returns the median of the CPUs in use, or `None` if the system does not report CPU time.
    pub(crate) fn cpus(&self) -> Option<f64> {
        median(self.runs.iter().filter_map(|run| run.cpus))
    }

    /// Returns the median number of events that a consumer receives at once.
    pub(crate) fn events_per_batch(&self) -> Option<f64> {
        median(self.runs.iter().map(|run| run.events_per_batch))
    }
}

/// Returns the speeds of `runs`.
fn speeds(runs: &[Run]) -> impl Iterator<Item = f64> {
    runs.iter().map(|run| run.events_per_second)
}

/// Returns the speed of each of `runs` relative to `baseline` in the same round.
fn ratios(runs: &[Run], baseline: &[Run]) -> Vec<f64> {
    speeds(runs).zip(speeds(baseline)).map(|(own, base)| own / base).collect()
}
