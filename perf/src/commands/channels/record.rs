//! The record of one contender in one cell.

use serde::Serialize;

use super::case::{Beside, Case, TrafficName};
use super::row::Row;
use crate::contenders::channels::Payload;
use crate::measure::group::Group;
use crate::measure::sample::{self, Summary};

/// One row of a report.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Record {
    /// `channels`.
    benchmark: &'static str,
    /// The counted traffic.
    traffic: TrafficName,
    /// The contender's name.
    pub(super) contender: &'static str,
    /// The wait of both ends.
    pub(super) wait: &'static str,
    /// Slots of each channel.
    capacity: usize,
    /// The number of senders.
    senders: usize,
    /// The payload.
    payload: Payload,
    /// The other load of the machine.
    beside: Beside,
    /// Busy threads of another process during the runs.
    pub(super) busy_threads: u32,
    /// Threads that sent and received.
    pub(super) threads: usize,
    /// The figures of the runs.
    #[serde(flatten)]
    pub(super) summary: Summary,
}

impl Record {
    /// Returns the records of all rows of `cells` that have run, in order.
    pub(super) fn of_cells(cells: &[Group<Row>]) -> Vec<Self> {
        cells.iter().flat_map(Self::of_cell).collect()
    }

    fn of_cell(cell: &Group<Row>) -> Vec<Self> {
        let runs = cell.rows.iter().map(|row| (row.channel.name.name(), &row.runs[..]));
        let summaries = sample::summaries(&runs.collect::<Vec<_>>());
        let record = |(place, summary): (usize, Summary)| Self::new(&cell.rows[place], summary);
        summaries.into_iter().map(record).collect()
    }

    fn new(row: &Row, summary: Summary) -> Self {
        let Case { traffic, senders, capacity, payload, beside, busy_threads } = row.case;
        Self {
            benchmark: super::BENCHMARK,
            traffic,
            contender: row.channel.name.name(),
            wait: row.channel.wait(),
            capacity,
            senders,
            payload,
            beside,
            busy_threads,
            threads: row.case.load(std::time::Duration::ZERO).shape.threads(),
            summary,
        }
    }

    /// Returns the cell.
    pub(super) const fn case(&self) -> Case {
        let Self { traffic, senders, capacity, payload, beside, busy_threads, .. } = *self;
        Case { traffic, senders, capacity, payload, beside, busy_threads }
    }
}
