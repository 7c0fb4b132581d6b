//! The record of one contender in one cell.

use serde::Serialize;

use super::row::Row;
use crate::load::topologies::Topology;
use crate::measure::group::Group;
use crate::measure::sample::{self, Summary};

/// One row of a report.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Record {
    /// `neighbours`.
    benchmark: &'static str,
    /// The topology's name.
    pub(crate) topology: Topology,
    /// The contender's name.
    pub(crate) contender: &'static str,
    /// The wait of the contender's threads.
    pub(super) wait: &'static str,
    /// The placement of its consumers on threads. Only Lapwing has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) placement: Option<String>,
    /// Slots of the ring, and of every queue.
    pub(super) ring: usize,
    /// Busy threads of another process during the runs.
    pub(super) busy_threads: u32,
    /// The number of working threads.
    threads: usize,
    /// The figures of the runs.
    #[serde(flatten)]
    pub(crate) summary: Summary,
}

impl Record {
    /// Returns the records of all rows of `cells` that have run, in order.
    pub(super) fn of_cells(cells: &[Group<Row<'_>>]) -> Vec<Self> {
        cells.iter().flat_map(Self::of_cell).collect()
    }

    fn of_cell(cell: &Group<Row<'_>>) -> Vec<Self> {
        let runs = cell.rows.iter().map(|row| (row.contender().name(), &row.runs[..]));
        let summaries = sample::summaries(&runs.collect::<Vec<_>>());
        let record = |(place, summary): (usize, Summary)| Self::new(&cell.rows[place], summary);
        summaries.into_iter().map(record).collect()
    }

    fn new(row: &Row<'_>, summary: Summary) -> Self {
        Self {
            benchmark: super::BENCHMARK,
            topology: row.topology,
            contender: row.contender().name(),
            wait: row.contender().wait(),
            placement: row.contender().placement(),
            ring: row.workload.ring,
            busy_threads: row.busy_threads,
            threads: row.threads(),
            summary,
        }
    }

    /// Returns the cell.
    pub(super) const fn cell(&self) -> (u32, Topology, usize) {
        (self.busy_threads, self.topology, self.ring)
    }
}
