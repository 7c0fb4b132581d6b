//! The record of one contender in one cell.

use serde::Serialize;

use super::cell::Cell;
use super::lane::Lane;
use crate::load::sharing::Crowd;
use crate::measure::row::{Row, Speed};

/// The cell that others are compared with.
const ONE_TO_ONE: Crowd = Crowd { producers: 1, consumers: 1 };

/// One row of a report.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Record {
    /// `oversubscribed`.
    benchmark: &'static str,
    /// The contender's name.
    pub(super) contender: &'static str,
    /// The wait of the contender's threads.
    pub(super) wait: &'static str,
    /// The placement of its consumers on threads. Only Lapwing has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) placement: Option<String>,
    /// Threads that published.
    pub(super) producers: u32,
    /// Consumers that shared the events.
    pub(super) consumers: u32,
    /// Slots of the ring, and of the queue.
    ring: usize,
    /// Size of one event.
    event_bytes: usize,
    /// Its speed. The baseline is the fastest contender of the cell.
    #[serde(flatten)]
    pub(super) speed: Speed,
    /// Time of an event relative to the same contender's with one producer and one consumer: the
    /// median of the per-round ratios, or `None` if that cell did not run.
    pub(super) times_one_to_one: Option<f64>,
}

impl Record {
    /// Returns the records of all rows of `cells` that have run, in order.
    pub(super) fn of_cells(cells: &[Cell<'_>]) -> Vec<Self> {
        let alone = cells.iter().find(|cell| cell.rows.iter().any(is_one_to_one));
        cells.iter().flat_map(|cell| Self::of_cell(cell, alone)).collect()
    }

    /// Returns the records of `cell`. `alone` is the cell that it is compared with.
    fn of_cell(cell: &Cell<'_>, alone: Option<&Cell<'_>>) -> Vec<Self> {
        let run = || cell.rows.iter().enumerate().filter(|(_, row)| !row.runs.is_empty());
        let speed = |row: &Row<Lane<'_>>| row.speed(None).median_events_per_second;
        let first = run().map(|(_, row)| row).max_by(|a, b| speed(a).total_cmp(&speed(b)));
        let record = |(index, row): (usize, &Row<Lane<'_>>)| {
            let own = alone.and_then(|cell| cell.rows.get(index));
            Self::new(row, first, own.filter(|own| !own.runs.is_empty()))
        };
        run().map(record).collect()
    }

    /// Returns the record of `row`, compared with the `first` of its cell and with its `own` in
    /// 1P-1C.
    fn new(
        row: &Row<Lane<'_>>,
        first: Option<&Row<Lane<'_>>>,
        own: Option<&Row<Lane<'_>>>,
    ) -> Self {
        let contender = row.subject.contender();
        let named = |other: &Row<Lane<'_>>| other.subject.contender().name();
        let relative = own.and_then(|own| row.speed(Some((named(own), own))).ratio_to_baseline);
        let Crowd { producers, consumers } = row.subject.crowd();
        Self {
            benchmark: super::BENCHMARK,
            contender: contender.name(),
            wait: contender.wait(),
            placement: contender.placement(),
            producers,
            consumers,
            ring: row.subject.sharing.ring,
            event_bytes: size_of::<u64>(),
            speed: row.speed(first.map(|first| (named(first), first))),
            times_one_to_one: relative.map(|ratio| 1.0 / ratio),
        }
    }

    /// Returns the cell.
    pub(super) const fn crowd(&self) -> Crowd {
        Crowd { producers: self.producers, consumers: self.consumers }
    }

    /// Returns nanoseconds from one event to the next.
    pub(super) fn nanoseconds(&self) -> f64 {
        1e9 / self.speed.median_events_per_second
    }

    /// Returns the time of an event relative to that of the first of its cell.
    pub(super) fn times_first(&self) -> Option<f64> {
        self.speed.ratio_to_baseline.map(|ratio| 1.0 / ratio)
    }
}

fn is_one_to_one(row: &Row<Lane<'_>>) -> bool {
    row.subject.crowd() == ONE_TO_ONE
}
