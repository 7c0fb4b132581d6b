//! The record of one contender under one load.

use serde::Serialize;

use super::{Row, Run, Segment, TOPOLOGY};
use crate::measure::statistics::median;
use crate::report::settings::Settings;

/// One row of the report of `latency` and of `sweep`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Record {
    /// `latency` or `sweep`.
    benchmark: &'static str,
    /// The contender's name.
    pub(crate) contender: &'static str,
    /// The wait of its threads.
    pub(crate) wait: &'static str,
    /// The placement of its consumers on threads. Only Lapwing has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) placement: Option<String>,
    /// `pipeline`.
    topology: &'static str,
    /// The number of working threads.
    pub(crate) threads: usize,
    /// Whether each thread was bound to its own CPU.
    pub(crate) pinned: bool,
    /// Slots of the ring, and of every queue.
    ring: usize,
    /// The time from one event to the next.
    interval_ns: f64,
    /// Intended events per second.
    pub(crate) offered_per_second: f64,
    /// Received events per second at the last stage: the median of the runs.
    pub(crate) achieved_per_second: f64,
    /// Whether most runs could not sustain the load.
    pub(crate) saturated: bool,
    /// Events of one run.
    events: u32,
    /// Whether every answer of every run was right. A row with a wrong answer has no record.
    verified: bool,
    /// Every counted run, in the order of the rounds.
    pub(crate) runs: Vec<Run>,
    /// The delays of all runs together.
    pub(crate) segments: Vec<Segment>,
}

impl Record {
    /// Returns the record of `row`, with these segments, or `None` if it has not run.
    pub(crate) fn new(
        benchmark: &'static str,
        row: &Row<'_>,
        segments: Vec<Segment>,
    ) -> Option<Self> {
        let achieved = median(row.runs.iter().map(|run| run.achieved_per_second))?;
        let sustained = row.runs.iter().filter(|run| run.sustains(&row.pace)).count();
        Some(Self {
            benchmark,
            contender: row.name(),
            wait: row.wait(),
            placement: row.placement(),
            topology: TOPOLOGY,
            threads: row.threads(),
            pinned: row.pace.placement.pins(row.threads()),
            ring: row.pace.ring,
            interval_ns: row.pace.interval_ns,
            offered_per_second: row.pace.per_second(),
            achieved_per_second: achieved,
            saturated: sustained * 2 < row.runs.len(),
            events: row.pace.events,
            verified: true, // a wrong answer ends the measurement
            runs: row.runs.clone(),
            segments,
        })
    }

    /// Returns the settings column of `records`.
    pub(crate) fn settings(records: &[Self]) -> Settings {
        Settings::of(records.iter().map(|record| record.placement.as_deref()))
    }

    /// Returns the median of the CPUs in use, or `None` if the system does not report CPU time.
    pub(crate) fn cpus(&self) -> Option<f64> {
        median(self.runs.iter().filter_map(|run| run.cpus))
    }
}
