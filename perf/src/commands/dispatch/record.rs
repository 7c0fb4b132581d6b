//! One block of the report: a technique with one amount of work, over all its runs.

use serde::Serialize;

use super::config::Config;
use super::layout::{Layout, Mode};
use super::order::Payload;
use super::run::Run;
use super::segments::{Percentiles, ROWS, RT_VENUE};
use super::techniques::TechniqueName;
use crate::measure::statistics::{self, Spread};

/// A longer gap counts as a stall.
const STALL_NS: u64 = 10_000_000;
/// The relative deviation of orders in flight from Little's law that is accepted.
const TOLERANCE: f64 = 0.1;

/// The name of this benchmark in a report.
const BENCHMARK: &str = "dispatch";

/// A technique with one amount of work.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Record {
    /// `dispatch`.
    benchmark: &'static str,
    /// The technique.
    pub(super) contender: TechniqueName,
    /// The orchestrator's work for each order, in nanoseconds.
    pub(super) orch_work_ns: u64,
    /// Threads of a run.
    threads: usize,
    /// The assignment of roles to threads.
    mode: Mode,
    /// Whether each thread has its own CPU.
    pinned: bool,
    /// Size of an order.
    event_bytes: usize,
    /// The settings.
    config: Config,
    /// Counted runs.
    pub(super) repeats: usize,
    /// The orders of one run.
    orders: u64,
    /// Whether every order of every run came back once, undamaged. Otherwise there is no record.
    verified: bool,
    /// Percentiles of each run, then the median over runs.
    pub(super) segments: Vec<SegmentRecord>,
    /// The range of the runs.
    pub(super) rt_venue_spread: RtVenueSpread,
    /// Orders in flight.
    pub(super) in_flight: InFlight,
    /// Threads that could not run for a while.
    pub(super) stalls: Stalls,
    /// Orders that found a hand-off full, over all runs.
    pub(super) full: u64,
    /// The longest time that such an order waited for a free slot.
    pub(super) longest_wait_for_room_ns: u64,
    /// CPUs in use: the median over runs, or `None` if the system does not report CPU time.
    pub(super) cpus: Option<f64>,
}

/// A row of the table.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SegmentRecord {
    /// The row's name.
    pub(super) name: &'static str,
    /// Medians over runs.
    #[serde(flatten)]
    pub(super) percentiles: Percentiles,
}

/// The range of a percentile of `rt-venue` over runs.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RtVenueSpread {
    /// Of the median.
    pub(super) p50_ns: [f64; 2],
    /// Of the 99th percentile.
    pub(super) p99_ns: [f64; 2],
}

/// Orders in flight.
#[derive(Clone, Debug, Serialize)]
pub(super) struct InFlight {
    /// The maximum of each run, then the median over runs.
    pub(super) median_peak: f64,
    /// The most of all runs.
    pub(super) max: u64,
    /// The mean in steady state: the median over runs, or `None` if the window is shorter than a
    /// delay.
    pub(super) steady_mean: Option<f64>,
    /// The value of Little's law: rate times mean delay.
    pub(super) expected: f64,
    /// Whether the mean is within a tenth of the expected value, or `None` without a mean.
    pub(super) as_expected: Option<bool>,
}

/// Threads that could not run for a while.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Stalls {
    /// Runs in which a thread could not run for more than 10 ms.
    pub(super) runs: usize,
    /// The longest time.
    pub(super) worst_gap_ns: u64,
}

impl Record {
    /// Returns the record of `runs`, at least one, of `technique` with `orch_work_ns`.
    pub(super) fn new(
        (technique, orch_work_ns): (TechniqueName, u64),
        (config, layout): (&Config, &Layout),
        payload: Payload,
        runs: &[Run],
    ) -> Self {
        let cpus = runs.iter().map(|run| run.cpus).collect::<Option<Vec<_>>>();
        let waits = runs.iter().map(|run| run.pressure.longest_wait_ns);
        Self {
            benchmark: BENCHMARK,
            contender: technique,
            orch_work_ns,
            threads: layout.threads,
            mode: layout.mode,
            pinned: layout.pinned,
            event_bytes: payload.bytes(),
            config: config.clone(),
            repeats: runs.len(),
            orders: config.orders(),
            verified: true, // a wrong answer ends the measurement
            segments: segments(runs),
            rt_venue_spread: RtVenueSpread {
                p50_ns: range(runs, |run| run.rows[RT_VENUE].p50_ns),
                p99_ns: range(runs, |run| run.rows[RT_VENUE].p99_ns),
            },
            in_flight: InFlight::new(config, runs),
            stalls: Stalls {
                runs: runs.iter().filter(|run| run.longest_gap_ns > STALL_NS).count(),
                worst_gap_ns: runs.iter().map(|run| run.longest_gap_ns).max().unwrap_or(0),
            },
            full: runs.iter().map(|run| run.pressure.full).sum(),
            longest_wait_for_room_ns: waits.max().unwrap_or(0),
            cpus: cpus.and_then(statistics::median),
        }
    }

    /// Returns the main result.
    pub(super) fn rt_venue(&self) -> Percentiles {
        self.segments[RT_VENUE].percentiles
    }
}

impl InFlight {
    fn new(config: &Config, runs: &[Run]) -> Self {
        let means = runs.iter().map(|run| run.steady_mean).collect::<Option<Vec<_>>>();
        let steady_mean = means.and_then(statistics::median);
        let expected = config.expected_in_flight();
        Self {
            median_peak: statistics::median(runs.iter().map(|run| run.peak as f64)).unwrap_or(0.0),
            max: runs.iter().map(|run| run.peak).max().unwrap_or(0),
            steady_mean,
            expected,
            as_expected: steady_mean.map(|mean| (mean - expected).abs() <= TOLERANCE * expected),
        }
    }
}

/// Returns the rows of `runs`.
fn segments(runs: &[Run]) -> Vec<SegmentRecord> {
    let row = |(index, name): (usize, &&'static str)| {
        let of_runs = runs.iter().map(|run| run.rows[index]).collect::<Vec<_>>();
        SegmentRecord { name, percentiles: Percentiles::median(&of_runs) }
    };
    ROWS.iter().enumerate().map(row).collect()
}

/// Returns the range of a value of `runs`.
fn range(runs: &[Run], value: impl Fn(&Run) -> f64) -> [f64; 2] {
    let spread = statistics::spread(runs.iter().map(value));
    spread.map_or([0.0; 2], |Spread { min, max }| [min, max])
}
