//! A row of the table of single events after idle periods: the carrier, its number of consumers,
//! and its runs.

use serde::Serialize;

use crate::contenders::{Setting, side_by_side};
use crate::load::lone::{Bare, Heard, Lone};
use crate::measure::crew::RunError;
use crate::measure::error::Error;
use crate::measure::harness::Timed;
use crate::measure::statistics::median;
use crate::report::settings;

/// The carrier of the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carrier {
    /// A word, and a wake-up by the system.
    Bare(Bare),
    /// A ring.
    Lapwing(Setting),
}

/// A carrier, and its runs.
pub(super) struct Row {
    pub(super) carrier: Carrier,
    pub(super) lone: Lone,
    /// The counted runs, one per round.
    pub(super) runs: Vec<Run>,
}

/// One counted run.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Run {
    /// The time at which half of the consumers had the event: the median of the run's events.
    pub(super) half_ns: f64,
    /// The time at which the last consumer had the event: the median of the run's events.
    pub(super) last_ns: f64,
}

impl Carrier {
    /// Returns the name in a report.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Bare(_) => "bare",
            Self::Lapwing(_) => "lapwing",
        }
    }

    /// Returns the wait of its threads.
    pub(super) const fn wait(self) -> &'static str {
        match self {
            Self::Bare(bare) => bare.name(),
            Self::Lapwing(setting) => setting.wait.name(),
        }
    }

    /// Returns the placement of its consumers on threads, or `None` if it has none.
    pub(super) fn placement(self) -> Option<String> {
        match self {
            Self::Bare(_) => None,
            Self::Lapwing(setting) => Some(setting.placement.to_string()),
        }
    }

    /// Returns the number of working threads, with this many `listeners`.
    pub(super) fn threads(self, listeners: usize) -> usize {
        match self {
            Self::Bare(_) => 1 + listeners,
            Self::Lapwing(setting) => setting.threads(1, listeners),
        }
    }

    fn run(self, lone: Lone) -> Result<Heard, RunError> {
        match self {
            Self::Bare(bare) => lone.bare(bare),
            Self::Lapwing(setting) => side_by_side::lone(setting, lone),
        }
    }
}

impl Row {
    /// Creates a row that has not run.
    pub(super) const fn new(carrier: Carrier, lone: Lone) -> Self {
        Self { carrier, lone, runs: Vec::new() }
    }

    /// Returns the median of a `figure` over the runs.
    pub(super) fn median(&self, figure: impl Fn(&Run) -> f64) -> Option<f64> {
        median(self.runs.iter().map(figure))
    }

    /// Returns the median of the per-round ratios of a `figure` to that of `other`.
    pub(super) fn times(&self, other: &Self, figure: impl Fn(&Run) -> f64) -> Option<f64> {
        median(self.runs.iter().zip(&other.runs).map(|(own, other)| figure(own) / figure(other)))
    }

    /// Runs once, and checks that every consumer received every event.
    fn pass(&self) -> Result<Heard, Error> {
        let (topology, contender) = (super::LONE_EVENT, self.carrier.name());
        let failed = |source| Error::Run { topology, contender, source };
        let heard = self.carrier.run(self.lone).map_err(failed)?;
        let (expected, found) = (u64::from(self.lone.events), heard.events() as u64);
        if expected != found {
            let (events, expected, found) = (self.lone.events, vec![expected], vec![found]);
            return Err(Error::WrongAnswer { topology, contender, events, expected, found });
        }
        Ok(heard)
    }
}

impl Timed for Row {
    fn label(&self) -> String {
        let Self { carrier, lone, .. } = self;
        let setting = settings::setting(carrier.wait(), carrier.placement().as_deref());
        format!("single event {} {setting} to {}", carrier.name(), lone.listeners)
    }

    fn settle(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn warm_up(&mut self) -> Result<(), Error> {
        self.pass().map(drop)
    }

    fn measure(&mut self) -> Result<(), Error> {
        let heard = self.pass()?;
        let half_ns = median(heard.halves()).unwrap_or(0.0);
        let last_ns = median(heard.lasts()).unwrap_or(0.0);
        self.runs.push(Run { half_ns, last_ns });
        Ok(())
    }
}
