//! How results are shown: a table for people, JSON for programs. Every
//! benchmark of this laboratory reports in the form of [`Record`].

pub(crate) mod json; // the file of `--json`
pub(crate) mod table; // the tables on standard output
#[cfg(test)]
mod tests; // the form of the JSON, the tables

use std::io::{self, ErrorKind, Write};

use serde::Serialize;

use crate::row::{self, Row};
use crate::run::Run;
use crate::topologies::Topology;
use crate::workload::Publish;

/// One row of a report: one contender in one topology.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Record {
    /// The benchmark: `throughput`.
    pub(crate) benchmark: &'static str,
    /// The topology's name.
    pub(crate) topology: Topology,
    /// The contender's name.
    pub(crate) contender: &'static str,
    /// How the contender's threads waited.
    pub(crate) wait: &'static str,
    /// Producers plus consumers.
    pub(crate) threads: usize,
    /// Slots of the ring, and of every queue.
    pub(crate) ring: usize,
    /// Size of one event.
    pub(crate) event_bytes: usize,
    /// How producers were asked to publish: `one` or `batch:N`. Queues send one by one all the
    /// same.
    pub(crate) publish: Publish,
    /// Events of one run.
    pub(crate) events: u32,
    /// Whether every answer of every run was right. A wrong one has no record.
    pub(crate) verified: bool,
    /// Every run that counts, in the order of the rounds.
    pub(crate) runs: Vec<Run>,
    /// The median of the runs.
    pub(crate) median_events_per_second: f64,
    /// The median of the per-round ratio to the baseline; none if the baseline did not run.
    pub(crate) ratio_to_baseline: Option<f64>,
}

impl Record {
    /// The records of all `rows` of `benchmark`, in their order.
    pub(crate) fn of_rows(benchmark: &'static str, rows: &[Row<'_>]) -> Vec<Self> {
        rows.iter().map(|row| Self::of_row(benchmark, row, rows)).collect()
    }

    /// The record of `row`, with its ratio to the baseline among `rows`.
    fn of_row(benchmark: &'static str, row: &Row<'_>, rows: &[Row<'_>]) -> Self {
        Self {
            benchmark,
            topology: row.topology,
            contender: row.contender.name(),
            wait: row.contender.wait(),
            threads: row.topology.threads(),
            ring: row.workload.ring,
            event_bytes: row.workload.event_bytes.bytes(),
            publish: row.workload.publish,
            events: row.workload.events,
            verified: true, // the harness gives no row with a wrong answer
            runs: row.runs.clone(),
            median_events_per_second: row.median_events_per_second(),
            ratio_to_baseline: row::ratio_to_baseline(row, rows),
        }
    }
}

/// Prints `text` to standard output. A reader that has left, such as `head`, is no error.
///
/// # Errors
///
/// Whatever else the system reports.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match writeln!(output, "{text}").and_then(|()| output.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
