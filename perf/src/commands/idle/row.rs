//! A row of the table of waiting costs: the waiter, its load, and its runs.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::watch::{self, Bill, SETTLING};
use crate::contenders::{Contender, Setting, side_by_side};
use crate::load::paced::{Between, Pace, Paced, histogram};
use crate::machine::placement::Placement;
use crate::measure::crew::RunError;
use crate::measure::error::Error;
use crate::measure::harness::Timed;
use crate::report::settings;

/// The time from the end of the window to that of the run.
const TAIL: Duration = Duration::from_millis(100);
/// Events of a run without a load: one before the window and one after it.
const EVENTS_AROUND: u32 = 2;
/// Stages of a pipeline.
const STAGES: usize = 3;

/// The threads that wait.
#[derive(Clone, Copy)]
pub(super) enum Waiter<'a> {
    /// A contender with three stages in a row.
    Pipeline(&'a dyn Contender),
    /// Lapwing with this many parallel readers.
    SideBySide(Setting, usize),
}

/// A waiter under a load, and its runs.
pub(super) struct Row<'a> {
    pub(super) waiter: Waiter<'a>,
    /// Events per second; 0 for none.
    pub(super) rate: u32,
    /// The measured part of a run.
    window: Duration,
    pub(super) pace: Pace,
    /// The counted runs, one per round.
    pub(super) runs: Vec<Run>,
    /// The end-to-end delays of all counted runs.
    pub(super) delays: Histogram<u64>,
}

/// One counted run. A figure is `None` if the system does not report it.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Run {
    /// CPU time of the process without its sender, in percent of one CPU.
    pub(super) cpu_percent: Option<f64>,
    /// CPU time of the sender, in percent of one CPU.
    pub(super) sender_cpu_percent: Option<f64>,
    /// Wake-ups per second of threads other than the sender.
    pub(super) wakes_per_second: Option<f64>,
    /// Preemptions and yields per second.
    pub(super) involuntary_per_second: Option<f64>,
}

impl Waiter<'_> {
    /// Returns the name in a report.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Pipeline(contender) => contender.name(),
            Self::SideBySide(..) => "lapwing",
        }
    }

    /// Returns the wait of its threads.
    pub(super) fn wait(&self) -> &'static str {
        match self {
            Self::Pipeline(contender) => contender.wait(),
            Self::SideBySide(setting, _) => setting.wait.name(),
        }
    }

    /// Returns the placement of its consumers on threads, or `None` if it is not Lapwing.
    pub(super) fn placement(&self) -> Option<String> {
        match self {
            Self::Pipeline(contender) => contender.placement(),
            Self::SideBySide(setting, _) => Some(setting.placement.to_string()),
        }
    }

    /// Returns the number of working threads: the sender's and those of the consumers.
    pub(super) fn threads(&self) -> usize {
        match self {
            Self::Pipeline(contender) => contender.threads(1, STAGES),
            Self::SideBySide(setting, readers) => setting.threads(1, *readers),
        }
    }

    /// Returns its graph.
    pub(super) const fn topology(&self) -> &'static str {
        match self {
            Self::Pipeline(_) => "pipeline",
            Self::SideBySide(..) => "multicast",
        }
    }

    /// Returns the number of waiting consumers.
    pub(super) const fn consumers(&self) -> usize {
        match self {
            Self::Pipeline(_) => STAGES,
            Self::SideBySide(_, readers) => *readers,
        }
    }

    /// Returns the answers of its last stages.
    fn expected(&self, pace: &Pace) -> Vec<u64> {
        match self {
            Self::Pipeline(_) => pace.expected(),
            Self::SideBySide(_, readers) => pace.expected().repeat(*readers),
        }
    }

    fn run(&self, pace: &Pace) -> Result<Paced, RunError> {
        match self {
            Self::Pipeline(contender) => contender.paced(pace),
            Self::SideBySide(setting, readers) => side_by_side::paced(*setting, *readers, pace),
        }
    }
}

impl<'a> Row<'a> {
    /// Creates a row that has not run.
    pub(super) fn new(waiter: Waiter<'a>, rate: u32, window: Duration, ring: usize) -> Self {
        let time = SETTLING + window + TAIL;
        let events = (f64::from(rate) * time.as_secs_f64()).round();
        let (events, interval) = match rate {
            0 => (EVENTS_AROUND, time.as_secs_f64()),
            _ => (events.clamp(1.0, f64::from(u32::MAX)) as u32, 1.0 / f64::from(rate)),
        };
        let (placement, between) = (Placement::Free, Between::Asleep);
        let pace = Pace { interval_ns: interval * 1e9, events, ring, placement, between };
        Self { waiter, rate, window, pace, runs: Vec::new(), delays: histogram() }
    }

    /// Runs once, measures the cost, and checks the answer.
    fn pass(&self) -> Result<(Paced, Option<Bill>), Error> {
        let (topology, contender) = (self.waiter.topology(), self.waiter.name());
        let (paced, bill) = watch::over(self.window, || self.waiter.run(&self.pace));
        let paced = paced.map_err(|source| Error::Run { topology, contender, source })?;
        let expected = self.waiter.expected(&self.pace);
        if paced.answers != expected {
            let (events, found) = (self.pace.events, paced.answers);
            return Err(Error::WrongAnswer { topology, contender, events, expected, found });
        }
        Ok((paced, bill))
    }
}

impl Timed for Row<'_> {
    fn label(&self) -> String {
        let Self { waiter, rate, .. } = self;
        let setting = settings::setting(waiter.wait(), waiter.placement().as_deref());
        format!("{} {} {setting} at {rate}/s", waiter.topology(), waiter.name())
    }

    fn settle(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn warm_up(&mut self) -> Result<(), Error> {
        self.pass().map(drop)
    }

    fn measure(&mut self) -> Result<(), Error> {
        let (paced, bill) = self.pass()?;
        self.runs.push(Run::of(bill));
        let way = paced.delays.end_to_end();
        self.delays.add(way).expect("all histograms have the same bounds");
        Ok(())
    }
}

impl Run {
    /// Returns the figures of `bill`.
    fn of(bill: Option<Bill>) -> Self {
        let percent = |cpu: Duration, seconds: f64| 100.0 * cpu.as_secs_f64() / seconds;
        let figure = |figure: &dyn Fn(&Bill) -> f64| bill.as_ref().map(figure);
        Self {
            cpu_percent: figure(&|bill| percent(bill.cpu, bill.seconds)),
            sender_cpu_percent: figure(&|bill| percent(bill.sender_cpu, bill.seconds)),
            wakes_per_second: figure(&|bill| bill.sleeps as f64 / bill.seconds),
            involuntary_per_second: figure(&|bill| bill.preemptions as f64 / bill.seconds),
        }
    }
}
