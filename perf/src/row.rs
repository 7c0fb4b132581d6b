//! One contender in one topology: what the harness runs for `lapwing throughput`, and what of it is
//! reported.

use crate::contenders::{BASELINE, Contender};
use crate::crew::Answers;
use crate::error::Error;
use crate::harness::Timed;
use crate::run::{self, Pass, Run};
use crate::topologies::Topology;
use crate::workload::Workload;

/// One contender in one topology.
pub(crate) struct Row<'a> {
    /// The topology to run.
    pub(crate) topology: Topology,
    /// Who runs it.
    pub(crate) contender: &'a dyn Contender,
    /// How much it moves; the number of events is settled by calibration.
    pub(crate) workload: Workload,
    /// The right answers for this workload.
    expected: Answers,
    /// The runs that count, one for each round.
    pub(crate) runs: Vec<Run>,
}

impl<'a> Row<'a> {
    /// A row that has not run yet.
    pub(crate) fn new(
        topology: Topology,
        contender: &'a dyn Contender,
        workload: Workload,
    ) -> Self {
        Self { topology, contender, workload, expected: Answers::new(), runs: Vec::new() }
    }

    /// The median speed of its runs; zero before the first one.
    pub(crate) fn median_events_per_second(&self) -> f64 {
        run::median_speed(&self.runs)
    }
}

impl Timed for Row<'_> {
    fn label(&self) -> String {
        let contender = self.contender.name();
        format!("{} {contender} {}", self.topology.name(), self.contender.wait())
    }

    fn events(&self) -> u32 {
        self.workload.events
    }

    /// Sets the number of events and computes their answers.
    fn set_events(&mut self, events: u32) {
        self.workload.events = events;
        self.expected = self.topology.expected(&self.workload);
    }

    fn run(&self) -> Result<Pass, Error> {
        let topology = self.topology.name();
        let contender = self.contender.name();
        let pass = self
            .contender
            .run(self.topology, &self.workload)
            .map_err(|source| Error::Run { topology, contender, source })?;
        pass.checked(topology, contender, self.workload.events, &self.expected)
    }

    fn record(&mut self, run: Run) {
        self.runs.push(run);
    }
}

/// The median, over rounds, of a row's speed relative to the baseline's in the same round and
/// topology; none if the baseline did not run.
pub(crate) fn ratio_to_baseline(row: &Row<'_>, rows: &[Row<'_>]) -> Option<f64> {
    let baseline = rows
        .iter()
        .find(|other| other.topology == row.topology && other.contender.name() == BASELINE)?;
    run::median_ratio(&row.runs, &baseline.runs)
}
