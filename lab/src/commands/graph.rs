//! A contender in one of the paper's configurations: the runs of `throughput` and of `neighbours`.

use crate::contenders::{Contender, Entry};
use crate::load::topologies::Topology;
use crate::load::workload::Workload;
use crate::measure::crew::Answers;
use crate::measure::error::Error;
use crate::measure::runner::{Measured, Subject, switches};
use crate::record::{Key, Missing, Record};
use crate::view::Column;

/// The label of how many events a publication has.
const PUBLISH: Key = Key::new("publish");

/// One contender in one configuration.
pub(super) struct GraphRun<'a> {
    experiment: &'static str,
    topology: Topology,
    entry: &'a Entry,
    /// The setting that it runs with.
    chosen: usize,
    /// The workload. The runner sets the number of events.
    workload: Workload,
    /// The right answers for this workload.
    expected: Answers,
    /// Busy threads of another process during the runs, if the experiment has them.
    busy_threads: Option<u32>,
}

impl<'a> GraphRun<'a> {
    /// Creates the run of `entry` in `topology`.
    pub(super) const fn new(
        experiment: &'static str,
        topology: Topology,
        entry: &'a Entry,
        workload: Workload,
    ) -> Self {
        let expected = Answers::new();
        Self { experiment, topology, entry, chosen: 0, workload, expected, busy_threads: None }
    }

    /// Adds busy threads of another process.
    pub(super) const fn beside(mut self, busy_threads: u32) -> Self {
        self.busy_threads = Some(busy_threads);
        self
    }

    fn contender(&self) -> &dyn Contender {
        self.entry.candidates[self.chosen].as_ref()
    }
}

impl Subject for GraphRun<'_> {
    fn record(&self) -> Record {
        let (topology, workload) = (self.topology, &self.workload);
        let threads = self.contender().threads(topology.producers(), topology.consumers());
        let mut record = self
            .contender()
            .record(self.experiment, threads)
            .in_cell(Key::TOPOLOGY, topology.name())
            .in_cell(Key::RING, workload.ring)
            .in_cell(Key::EVENT_BYTES, workload.event_bytes.bytes())
            .in_cell(PUBLISH, workload.publish.to_string());
        if let Some(busy_threads) = self.busy_threads {
            record = record.in_cell(Key::BUSY_THREADS, busy_threads);
        }
        record.pinned = workload.placement.pins(threads);
        record
    }

    fn settings(&self) -> usize {
        self.entry.candidates.len()
    }

    fn choose(&mut self, setting: usize) {
        self.chosen = setting;
    }

    fn busy_threads(&self) -> u32 {
        self.busy_threads.unwrap_or(0)
    }

    /// Computes the answers of `events`.
    fn prepare(&mut self, events: u32) {
        self.workload.events = events;
        self.expected = self.topology.expected(&self.workload);
    }

    fn run(&self, events: u32) -> Result<Measured, Error> {
        let (topology, contender) = (self.topology.name(), self.contender().name());
        let before = self.contender().switches();
        let pass = self
            .contender()
            .run(self.topology, &self.workload)
            .map_err(|source| Error::Run { topology, contender, source })?
            .checked(topology, contender, events, &self.expected)?;
        let mut measured = Measured::speed(&pass, events, 1);
        measured.figures.extend(switches(before, pass.elapsed));
        Ok(measured)
    }
}

/// Returns those of `entries` that do not take part in one of `topologies` with a ring of one of these sizes.
pub(super) fn refusals(
    topologies: &[Topology],
    rings: &[usize],
    entries: &[Entry],
) -> Vec<Missing> {
    let mut refusals = Vec::new();
    for topology in topologies {
        for ring in rings {
            refusals.extend(entries.iter().filter_map(|entry| entry.refusal(*topology, *ring)));
        }
    }
    refusals
}

/// Returns the column of the configuration, with its numbers of producers and consumers.
pub(super) fn topology_column<'a>() -> Column<'a> {
    Column::words("topology", |record| heading(&record.text(Key::TOPOLOGY)))
}

/// Returns a configuration with its numbers of producers and consumers.
pub(super) fn heading(topology: &str) -> String {
    let known = Topology::ALL.into_iter().find(|known| known.name() == topology);
    known.map_or_else(|| topology.to_owned(), |known| format!("{topology} {}", known.shape()))
}
