//! The timed work: one contender in one topology.

use crate::contenders::{Contender, Entry};
use crate::load::topologies::Topology;
use crate::load::workload::Workload;
use crate::measure::crew::Answers;
use crate::measure::error::Error;
use crate::measure::row::Subject;
use crate::measure::run::Pass;

/// One contender in one topology.
pub(super) struct Lane<'a> {
    /// The topology to run.
    pub(super) topology: Topology,
    /// The contender.
    entry: &'a Entry,
    /// The setting that it runs with.
    chosen: usize,
    /// The workload. Calibration sets the number of events.
    pub(super) workload: Workload,
    /// The right answers for this workload.
    expected: Answers,
}

impl<'a> Lane<'a> {
    /// Creates a row that has not run.
    pub(super) fn new(topology: Topology, entry: &'a Entry, workload: Workload) -> Self {
        Self { topology, entry, chosen: 0, workload, expected: Answers::new() }
    }

    /// Returns the contender with its setting.
    pub(super) fn contender(&self) -> &dyn Contender {
        self.entry.candidates[self.chosen].as_ref()
    }
}

impl Subject for Lane<'_> {
    fn label(&self) -> String {
        let contender = self.contender();
        format!("{} {} {}", self.topology.name(), contender.name(), contender.setting())
    }

    fn threads(&self) -> usize {
        self.contender().threads(self.topology.producers(), self.topology.consumers())
    }

    fn candidates(&self) -> usize {
        self.entry.candidates.len()
    }

    fn choose(&mut self, candidate: usize) {
        self.chosen = candidate;
    }

    /// Computes the answers of `events`.
    fn prepare(&mut self, events: u32) {
        if self.workload.events != events || self.expected.is_empty() {
            self.workload.events = events;
            self.expected = self.topology.expected(&self.workload);
        }
    }

    fn run(&self, events: u32) -> Result<Pass, Error> {
        let topology = self.topology.name();
        let contender = self.contender().name();
        let pass = self
            .contender()
            .run(self.topology, &self.workload)
            .map_err(|source| Error::Run { topology, contender, source })?;
        pass.checked(topology, contender, events, &self.expected)
    }
}
