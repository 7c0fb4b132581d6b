//! The records of one waiter under one load, and of one carrier of single events after idle
//! periods.

use serde::Serialize;

use super::lone::{self, Carrier};
use super::row::{Row, Run};
use crate::measure::statistics::median;

/// One row of the report.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Record {
    Idle(Idle),
    LoneEvent(LoneEvent),
}

/// The cost of waiting under a load.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Idle {
    /// `idle`.
    benchmark: &'static str,
    /// The contender's name.
    pub(super) contender: &'static str,
    /// The wait of its threads.
    pub(super) wait: &'static str,
    /// The placement of its consumers on threads. Only Lapwing has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) placement: Option<String>,
    /// `pipeline` or `multicast`.
    pub(super) topology: &'static str,
    /// The number of waiting consumers.
    pub(super) consumers: usize,
    /// All working threads: those of the waiter and the sender's.
    pub(super) threads: usize,
    /// Slots of the ring, and of every queue.
    ring: usize,
    /// Intended events per second.
    pub(super) offered_per_second: u32,
    /// Whether every answer of every run was right. A row with a wrong answer has no record.
    verified: bool,
    /// CPU time of the process without its sender, in percent of one CPU: the median of the runs.
    pub(super) cpu_percent: Option<f64>,
    /// The same of the sender.
    pub(super) sender_cpu_percent: Option<f64>,
    /// Wake-ups per second of threads other than the sender: the median of the runs.
    pub(super) wakes_per_second: Option<f64>,
    /// Preemptions and yields per second: the median of the runs.
    pub(super) involuntary_per_second: Option<f64>,
    /// Delay of the end-to-end path, over all runs, or `None` without a load.
    pub(super) p50_ns: Option<u64>,
    /// 99 %.
    pub(super) p99_ns: Option<u64>,
    /// Every counted run, in the order of the rounds.
    pub(super) runs: Vec<Run>,
}

/// The delay of an event to consumers that are parked.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LoneEvent {
    /// `lone-event`.
    benchmark: &'static str,
    /// `lapwing`, or `bare` for a word and the system's wake-up.
    pub(super) contender: &'static str,
    /// The wait of the consumers.
    pub(super) wait: &'static str,
    /// The placement of its consumers on threads. Only Lapwing has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) placement: Option<String>,
    /// The number of parallel waiting consumers.
    pub(super) consumers: usize,
    /// The number of working threads.
    pub(super) threads: usize,
    /// Events of one run.
    pub(super) events: u32,
    /// The idle period before each event.
    silence_ns: u64,
    /// Whether every consumer received every event.
    verified: bool,
    /// The time at which half of the consumers had the event: the median of the runs.
    pub(super) half_ns: f64,
    /// The time at which the last consumer had the event: the median of the runs.
    pub(super) last_ns: f64,
    /// The median of the per-round ratios of `half_ns` to that of the faster bare wake-up of a
    /// thread per consumer.
    pub(super) half_times_bare: Option<f64>,
    /// The same of `last_ns`.
    pub(super) last_times_bare: Option<f64>,
    /// Every counted run, in the order of the rounds.
    pub(super) runs: Vec<lone::Run>,
}

impl Record {
    /// Returns the placement of its consumers on threads, or `None` if it is not Lapwing.
    pub(super) fn placement(&self) -> Option<&str> {
        match self {
            Self::Idle(idle) => idle.placement.as_deref(),
            Self::LoneEvent(event) => event.placement.as_deref(),
        }
    }
}

impl Idle {
    /// Returns the record of `row`, or `None` if it has not run.
    pub(super) fn of(row: &Row<'_>) -> Option<Self> {
        let Row { waiter, rate, pace, runs, delays, .. } = row;
        if runs.is_empty() {
            return None;
        }
        let figure = |figure: fn(&Run) -> Option<f64>| median(runs.iter().filter_map(figure));
        let quantile = |quantile| (*rate > 0).then(|| delays.value_at_quantile(quantile));
        Some(Self {
            benchmark: super::BENCHMARK,
            contender: waiter.name(),
            wait: waiter.wait(),
            placement: waiter.placement(),
            topology: waiter.topology(),
            consumers: waiter.consumers(),
            threads: waiter.threads(),
            ring: pace.ring,
            offered_per_second: *rate,
            verified: true, // a wrong answer ends the measurement
            cpu_percent: figure(|run| run.cpu_percent),
            sender_cpu_percent: figure(|run| run.sender_cpu_percent),
            wakes_per_second: figure(|run| run.wakes_per_second),
            involuntary_per_second: figure(|run| run.involuntary_per_second),
            p50_ns: quantile(0.5),
            p99_ns: quantile(0.99),
            runs: runs.clone(),
        })
    }
}

impl LoneEvent {
    /// Returns the records of all `rows` that have run, each compared with the faster bare wake-up.
    pub(super) fn of_rows(rows: &[lone::Row]) -> Vec<Self> {
        let record = |row: &lone::Row| Self::of(row, fastest_bare(rows, row.lone.listeners));
        rows.iter().filter_map(record).collect()
    }

    /// Returns the record of `row`, compared with a `bare` wake-up, or `None` if it has not run.
    fn of(row: &lone::Row, bare: Option<&lone::Row>) -> Option<Self> {
        Some(Self {
            benchmark: super::LONE_EVENT,
            contender: row.carrier.name(),
            wait: row.carrier.wait(),
            placement: row.carrier.placement(),
            consumers: row.lone.listeners,
            threads: row.carrier.threads(row.lone.listeners),
            events: row.lone.events,
            silence_ns: row.lone.silence.as_nanos() as u64,
            verified: true, // a wrong answer ends the measurement
            half_ns: row.median(|run| run.half_ns)?,
            last_ns: row.median(|run| run.last_ns)?,
            half_times_bare: bare.and_then(|bare| row.times(bare, |run| run.half_ns)),
            last_times_bare: bare.and_then(|bare| row.times(bare, |run| run.last_ns)),
            runs: row.runs.clone(),
        })
    }
}

/// Returns the bare wake-up of this many threads that has the lowest delay to half of them.
fn fastest_bare(rows: &[lone::Row], listeners: usize) -> Option<&lone::Row> {
    let is_bare = |row: &&lone::Row| {
        matches!(row.carrier, Carrier::Bare(_)) && row.lone.listeners == listeners
    };
    let half = |row: &lone::Row| row.median(|run| run.half_ns).unwrap_or(f64::INFINITY);
    rows.iter().filter(is_bare).min_by(|one, other| half(one).total_cmp(&half(other)))
}
