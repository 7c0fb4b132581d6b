//! A row of a table of speeds: who is measured, how many events one of its runs has, its runs, and what a
//! report says of them. Not here: what a run does (each benchmark has its [`Subject`]).

use std::time::Duration;

use serde::Serialize;

use crate::measure::calibration;
use crate::measure::error::Error;
use crate::measure::harness::Timed;
use crate::measure::run::{Pass, Run};
use crate::measure::schedule::Schedule;
use crate::measure::settling::Settling;
use crate::measure::statistics::{self, Spread, median};

/// What is timed.
pub(crate) trait Subject {
    /// Its name in a progress line.
    fn label(&self) -> String;

    /// Threads that work.
    fn threads(&self) -> usize;

    /// Its settings, such as wait strategies, of which the fastest is to be measured.
    fn candidates(&self) -> usize {
        1
    }

    /// Runs with the setting of this index from now on.
    fn choose(&mut self, _candidate: usize) {}

    /// What one event counts for in a speed: more than one where an event is an array, or goes there
    /// and back.
    fn operations_per_event(&self) -> u32 {
        1
    }

    /// Makes ready for runs of `events`.
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
    /// Who runs.
    pub(crate) subject: S,
    /// Events of one run.
    events: u32,
    /// The runs that count, one for each round.
    pub(crate) runs: Vec<Run>,
    schedule: Schedule,
}

/// What a report says of the runs of a row. Part of the record of every table of speeds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Speed {
    /// Threads that worked.
    pub(crate) threads: usize,
    /// Whether each thread had a CPU of its own to which it was bound.
    pub(crate) pinned: bool,
    /// Events of one run.
    pub(crate) events: u32,
    /// Whether every answer of every run was right. A wrong one has no record.
    pub(crate) verified: bool,
    /// Every run that counts, in the order of the rounds.
    pub(crate) runs: Vec<Run>,
    /// The median of the runs.
    pub(crate) median_events_per_second: f64,
    /// Who it is compared with; none if nobody of that kind ran.
    pub(crate) baseline: Option<&'static str>,
    /// The median of the per-round ratio to the baseline.
    pub(crate) ratio_to_baseline: Option<f64>,
    /// The 95 % interval of that ratio, by the bootstrap.
    pub(crate) ratio_interval: Option<(f64, f64)>,
}

impl<S: Subject> Row<S> {
    /// A row that has not run yet.
    pub(crate) fn new(subject: S, schedule: Schedule) -> Self {
        Self { subject, events: 1, runs: Vec::new(), schedule }
    }

    /// What a report says of it, compared with `baseline`, of this name.
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

    /// The run that `pass` was.
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

    /// The fastest candidate, and the number of events that it moves in the time of a run.
    fn settle(&mut self) -> Result<(), Error> {
        self.settle_for(self.schedule.run_time)
    }

    /// Takes fewer events from now on if it took longer than asked: pilots are short, and a contender
    /// may slow down when its queue fills or its threads crowd the machine.
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
    /// The range of a figure over all runs.
    pub(crate) fn spread(&self, figure: impl Fn(&Run) -> f64) -> Option<Spread> {
        statistics::spread(self.runs.iter().map(figure))
    }

    /// The median CPUs that its runs kept busy; none if the system does not tell.
    pub(crate) fn cpus(&self) -> Option<f64> {
        median(self.runs.iter().filter_map(|run| run.cpus))
    }

    /// The median number of events that a consumer was handed at once.
    pub(crate) fn events_per_batch(&self) -> Option<f64> {
        median(self.runs.iter().map(|run| run.events_per_batch))
    }
}

/// The speeds of `runs`.
fn speeds(runs: &[Run]) -> impl Iterator<Item = f64> {
    runs.iter().map(|run| run.events_per_second)
}

/// The speed of each of `runs` relative to that of `baseline` in the same round.
fn ratios(runs: &[Run], baseline: &[Run]) -> Vec<f64> {
    speeds(runs).zip(speeds(baseline)).map(|(own, base)| own / base).collect()
}
