//! The record of one contender in one topology.

use serde::Serialize;

use super::lane::Lane;
use crate::contenders::BASELINE;
use crate::load::topologies::Topology;
use crate::load::workload::Publish;
use crate::measure::row::{Row, Speed};

/// One row of a report.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Record {
    /// `throughput`.
    benchmark: &'static str,
    /// The topology's name.
    pub(super) topology: Topology,
    /// The contender's name.
    pub(super) contender: &'static str,
    /// The wait of the contender's threads.
    pub(super) wait: &'static str,
    /// The placement of its consumers on threads. Only Lapwing has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) placement: Option<String>,
    /// Slots of the ring, and of every queue.
    ring: usize,
    /// Size of one event.
    event_bytes: usize,
    /// The requested batching: `one` or `batch:N`. Queues send one by one in both cases.
    publish: Publish,
    /// Its speed.
    #[serde(flatten)]
    pub(super) speed: Speed,
}

impl Record {
    /// Returns the records of all of `rows` that have run, in order.
    pub(super) fn of_rows(rows: &[Row<Lane<'_>>]) -> Vec<Self> {
        let run = rows.iter().filter(|row| !row.runs.is_empty());
        run.map(|row| Self::of_row(row, rows)).collect()
    }

    /// Returns the record of `row`, compared with the baseline of its topology among `rows`.
    fn of_row(row: &Row<Lane<'_>>, rows: &[Row<Lane<'_>>]) -> Self {
        let Lane { topology, workload, .. } = row.subject;
        let baseline = baseline(topology, rows);
        Self {
            benchmark: super::BENCHMARK,
            topology,
            contender: row.subject.contender().name(),
            wait: row.subject.contender().wait(),
            placement: row.subject.contender().placement(),
            ring: workload.ring,
            event_bytes: workload.event_bytes.bytes(),
            publish: workload.publish,
            speed: row.speed(baseline),
        }
    }
}

/// Returns the row that rows of `topology` are compared with: the paper's baseline, or the last row
/// if the baseline does not run.
fn baseline<'r, 'a>(
    topology: Topology,
    rows: &'r [Row<Lane<'a>>],
) -> Option<(&'static str, &'r Row<Lane<'a>>)> {
    let mut same = rows.iter().filter(|row| row.subject.topology == topology);
    let named = same.clone().find(|row| row.subject.contender().name() == BASELINE);
    let row = named.or_else(|| same.next_back())?;
    Some((row.subject.contender().name(), row))
}
