//! A timed test, and the stored results of its runs.

use std::cell::RefCell;

use hdrhistogram::Histogram;
use lapwing_lab_stats::histogram;

use super::test::{Delayed, Load, PerfTest, Work};
use crate::machine::placement::Placement;
use crate::measure::crew::{Answers, RunError};
use crate::measure::error::Error;
use crate::measure::harness::Timed;
use crate::measure::row::{Row, Subject};
use crate::measure::run::Pass;
use crate::measure::schedule::Schedule;

/// The contender of all tests.
pub(super) const CONTENDER: &str = "lapwing";

/// A test.
pub(super) struct Trial {
    pub(super) test: &'static PerfTest,
    placement: Placement,
    /// The right answers for the events of a run.
    expected: Answers,
    /// The delays of the last run, if it had any.
    delays: RefCell<Option<Histogram<u64>>>,
}

/// A test, its runs, and the delays of all counted runs.
pub(super) struct Bench {
    pub(super) row: Row<Trial>,
    pub(super) delays: Histogram<u64>,
}

impl Bench {
    /// Creates a test that has not run.
    pub(super) fn new(test: &'static PerfTest, schedule: Schedule) -> Self {
        let placement = schedule.placement;
        let (expected, delays) = (Answers::new(), RefCell::default());
        let trial = Trial { test, placement, expected, delays };
        Self { row: Row::new(trial, schedule), delays: histogram() }
    }
}

impl Trial {
    fn pass(&self, events: u32) -> Result<Pass, RunError> {
        let load = Load { events, ring: self.test.ring, placement: self.placement };
        match self.test.work {
            Work::Throughput(run) => run(load),
            Work::Latency(run) => {
                let Delayed { pass, delays } = run(load)?;
                self.delays.replace(Some(delays));
                Ok(pass)
            }
        }
    }
}

impl Subject for Trial {
    fn label(&self) -> String {
        self.test.name.to_owned()
    }

    fn threads(&self) -> usize {
        self.test.threads
    }

    fn operations_per_event(&self) -> u32 {
        self.test.operations_per_event
    }

    fn prepare(&mut self, events: u32) {
        self.expected = (self.test.expected)(events);
    }

    fn run(&self, events: u32) -> Result<Pass, Error> {
        let (topology, contender) = (self.test.name, CONTENDER);
        let failed = |source| Error::Run { topology, contender, source };
        let pass = self.pass(events).map_err(failed)?;
        pass.checked(topology, contender, events, &self.expected)
    }
}

impl Timed for Bench {
    fn label(&self) -> String {
        self.row.label()
    }

    fn settle(&mut self) -> Result<(), Error> {
        self.row.settle()
    }

    fn warm_up(&mut self) -> Result<(), Error> {
        self.row.warm_up()
    }

    /// Stores the delays of the run as well.
    fn measure(&mut self) -> Result<(), Error> {
        self.row.measure()?;
        if let Some(delays) = self.row.subject.delays.take() {
            self.delays.add(delays).expect("all histograms have the same bounds");
        }
        Ok(())
    }
}
