//! The records of the other commands, with the keys that a report shows. Keys that only some
//! benchmarks have are optional. Unknown keys are ignored.

mod idle; // of `lapwing idle`
mod rates; // of `lapwing channels` and `lapwing neighbours`

use std::ops::RangeInclusive;

use serde::Deserialize;

pub(crate) use self::idle::{Idle, LoneEvent};
pub(crate) use self::rates::Rates;

/// Rates of any kind, per second: from one per twelve days to a thousand per picosecond.
const SPEEDS: RangeInclusive<f64> = 1e-6..=1e15;
/// The longest time, in nanoseconds: thirty years.
const MAX_NS: f64 = 1e18;

/// One record, by its `benchmark`.
#[derive(Debug, Deserialize)]
#[serde(tag = "benchmark", rename_all = "kebab-case")]
pub(crate) enum Record {
    /// Events per second in the paper's configurations.
    Throughput(Speed),
    /// The cost of an increment.
    Contention(Speed),
    /// Round trips of a number.
    PingPong(Speed),
    /// The limits of the machine.
    Limits(Speed),
    /// LMAX's own tests.
    Perftest(Speed),
    /// More threads than CPUs.
    Oversubscribed(Speed),
    /// Latency at one load.
    Latency(Latency),
    /// Latency at one of several loads.
    Sweep(Latency),
    /// The order-dispatch pipeline.
    Dispatch(Dispatch),
    /// The cost of waiting.
    Idle(Idle),
    /// An event to parked threads.
    LoneEvent(LoneEvent),
    /// Bounded channels under load.
    Channels(Rates),
    /// Graphs beside busy threads.
    Neighbours(Rates),
}

/// A record of a speed.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Speed {
    /// The configuration, or the test.
    pub(crate) topology: Option<String>,
    /// The contender.
    pub(crate) contender: String,
    /// The wait of its threads.
    pub(crate) wait: Option<String>,
    /// The placement of Lapwing's consumers on threads.
    pub(crate) placement: Option<String>,
    /// Threads of a run.
    pub(crate) threads: Option<usize>,
    /// Whether each thread was bound to one CPU.
    pub(crate) pinned: Option<bool>,
    /// Mean pause of a sender before each number; only of ping-pong.
    pub(crate) pause_ns: Option<u64>,
    /// Slots of the ring, and of every queue.
    pub(crate) ring: Option<u64>,
    /// Size of one event.
    pub(crate) event_bytes: Option<u64>,
    /// The batching of producers.
    pub(crate) publish: Option<String>,
    /// Events of one run.
    pub(crate) events: Option<u64>,
    /// What an event counts for in the speed: 2 if the speed of a round trip is that of one
    /// direction.
    pub(crate) operations_per_event: Option<u32>,
    /// Producers and consumers; only of LMAX's tests.
    pub(crate) shape: Option<String>,
    /// Round trips, if the test measures them.
    #[serde(default)]
    pub(crate) segments: Vec<Segment>,
    /// Threads at both ends; only of `oversubscribed`.
    pub(crate) producers: Option<u64>,
    pub(crate) consumers: Option<u64>,
    /// Time of an event relative to the same contender's with one thread at each end.
    pub(crate) times_one_to_one: Option<f64>,
    /// Whether every answer was right.
    verified: bool,
    /// The counted runs.
    pub(crate) runs: Vec<SpeedRun>,
    /// The median of the runs.
    pub(crate) median_events_per_second: f64,
    /// The row that it is compared with.
    pub(crate) baseline: Option<String>,
    /// The median of the per-round ratio to the baseline.
    pub(crate) ratio_to_baseline: Option<f64>,
    /// Its interval of confidence.
    pub(crate) ratio_interval: Option<[f64; 2]>,
    /// The nanoseconds of this case in Table 1 of the paper.
    pub(crate) nanoseconds_in_paper: Option<f64>,
}

/// One timed run.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct SpeedRun {
    /// Its speed.
    pub(crate) events_per_second: f64,
    /// Mean number of events that a consumer received at once.
    pub(crate) events_per_batch: Option<f64>,
    /// Mean number of CPUs in use.
    pub(crate) cpus: Option<f64>,
}

/// A record of latencies at one load.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Latency {
    /// The contender.
    pub(crate) contender: String,
    /// The wait of its threads.
    pub(crate) wait: Option<String>,
    /// The placement of Lapwing's consumers on threads.
    pub(crate) placement: Option<String>,
    /// Threads of a run.
    pub(crate) threads: Option<usize>,
    /// Whether each thread was bound to one CPU.
    pub(crate) pinned: Option<bool>,
    /// Time from one event to the next.
    pub(crate) interval_ns: Option<f64>,
    /// Whether every answer was right.
    verified: bool,
    /// The counted runs.
    #[serde(default)]
    pub(crate) runs: Vec<LatencyRun>,
    /// The intended load; only of a sweep.
    pub(crate) offered_per_second: Option<f64>,
    /// The achieved load; only of a sweep.
    pub(crate) achieved_per_second: Option<f64>,
    /// Whether the load exceeded what the contender sustains.
    #[serde(default)]
    pub(crate) saturated: bool,
    /// Each hop, and the end-to-end path.
    pub(crate) segments: Vec<Segment>,
}

/// One run of a latency benchmark.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct LatencyRun {
    /// The load that was carried.
    pub(crate) achieved_per_second: Option<f64>,
    /// Mean number of CPUs in use.
    pub(crate) cpus: Option<f64>,
}

/// The latencies of one segment of the path.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Segment {
    /// The segment.
    pub(crate) name: String,
    /// Events observed.
    pub(crate) count: Option<u64>,
    /// The least.
    pub(crate) min_ns: Option<f64>,
    /// The mean.
    pub(crate) mean_ns: Option<f64>,
    /// Half are at most this.
    pub(crate) p50_ns: f64,
    /// 90 % are at most this.
    pub(crate) p90_ns: Option<f64>,
    /// 99 % are at most this.
    pub(crate) p99_ns: f64,
    /// 99.9 % are at most this.
    pub(crate) p99_9_ns: f64,
    /// 99.99 % are at most this.
    pub(crate) p99_99_ns: Option<f64>,
    /// The maximum.
    pub(crate) max_ns: Option<f64>,
    /// Percentile and nanoseconds, in ascending order.
    #[serde(default)]
    pub(crate) curve: Vec<(f64, f64)>,
}

/// A record of the order-dispatch pipeline.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Dispatch {
    /// The technique.
    pub(crate) contender: String,
    /// Extra work of the orchestrator for each order.
    pub(crate) orch_work_ns: f64,
    /// Threads of a run.
    pub(crate) threads: Option<usize>,
    /// Runs.
    pub(crate) repeats: Option<u64>,
    /// The orders of one run.
    pub(crate) orders: Option<u64>,
    /// Whether every order came back.
    verified: bool,
    /// Medians over the repeats, in the order of the pipeline, and their sums.
    pub(crate) segments: Vec<Segment>,
    /// The range of the repeats.
    pub(crate) rt_venue_spread: Option<VenueSpread>,
    /// Orders in flight.
    pub(crate) in_flight: Option<InFlight>,
    /// Threads that did not run for a while.
    pub(crate) stalls: Option<Stalls>,
    /// How often a queue was full.
    pub(crate) full: Option<f64>,
    /// Mean number of CPUs in use.
    pub(crate) cpus: Option<f64>,
}

/// The smallest and the largest value of the repeats.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct VenueSpread {
    /// Of the median.
    pub(crate) p50_ns: [f64; 2],
    /// Of the 99th percentile.
    pub(crate) p99_ns: [f64; 2],
}

/// Orders in flight, and their expected number by Little's law.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct InFlight {
    /// The median of the peaks of the repeats.
    pub(crate) median_peak: f64,
    /// The highest peak.
    pub(crate) max: f64,
    /// The load multiplied by the mean delay.
    pub(crate) expected: f64,
    /// The mean in steady state.
    pub(crate) steady_mean: Option<f64>,
    /// Whether the mean is as expected.
    pub(crate) as_expected: Option<bool>,
}

/// Stalls: times in which a thread did not run.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Stalls {
    /// Repeats with a stall.
    pub(crate) runs: f64,
    /// The longest gap.
    pub(crate) worst_gap_ns: f64,
}

impl Record {
    /// Returns the benchmark, as on the command line.
    pub(crate) const fn benchmark(&self) -> &'static str {
        match self {
            Self::Throughput(_) => "throughput",
            Self::Contention(_) => "contention",
            Self::PingPong(_) => "ping-pong",
            Self::Limits(_) => "limits",
            Self::Perftest(_) => "perftest",
            Self::Latency(_) => "latency",
            Self::Sweep(_) => "sweep",
            Self::Dispatch(_) => "dispatch",
            Self::Oversubscribed(_) => "oversubscribed",
            Self::Idle(_) => "idle",
            Self::LoneEvent(_) => "lone-event",
            Self::Channels(_) => "channels",
            Self::Neighbours(_) => "neighbours",
        }
    }

    /// Returns the part that needs CPUs, and its number of threads.
    pub(crate) fn crew(&self) -> (String, Option<usize>) {
        let benchmark = self.benchmark();
        match self {
            Self::Throughput(speed) => {
                let topology = speed.topology.as_deref().unwrap_or_default();
                (format!("{benchmark} {topology}"), speed.threads)
            }
            Self::Contention(speed)
            | Self::PingPong(speed)
            | Self::Limits(speed)
            | Self::Perftest(speed) => (benchmark.to_owned(), speed.threads),
            Self::Latency(latency) | Self::Sweep(latency) => {
                (benchmark.to_owned(), latency.threads)
            }
            Self::Dispatch(dispatch) => (benchmark.to_owned(), dispatch.threads),
            // This benchmark measures more threads than CPUs, so they are no reason for a warning.
            Self::Oversubscribed(_)
            | Self::Idle(_)
            | Self::LoneEvent(_)
            | Self::Channels(_)
            | Self::Neighbours(_) => (benchmark.to_owned(), None),
        }
    }

    /// Checks more than the format: that the answer was right, and that the figures can be drawn.
    ///
    /// # Errors
    ///
    /// The wrong value, and the allowed values.
    pub(crate) fn check(&self) -> Result<(), String> {
        let verified = match self {
            Self::Throughput(speed)
            | Self::Contention(speed)
            | Self::PingPong(speed)
            | Self::Limits(speed)
            | Self::Perftest(speed)
            | Self::Oversubscribed(speed) => {
                speed.check()?;
                speed.verified
            }
            Self::Latency(latency) => {
                check_segments(&latency.segments)?;
                latency.verified
            }
            Self::Sweep(latency) => {
                let offered =
                    latency.offered_per_second.ok_or("`offered_per_second` is missing")?;
                speed("offered_per_second", offered)?;
                check_segments(&latency.segments)?;
                latency.verified
            }
            Self::Dispatch(dispatch) => {
                time("orch_work_ns", dispatch.orch_work_ns)?;
                check_segments(&dispatch.segments)?;
                dispatch.verified
            }
            Self::Idle(idle) => idle.check()?,
            Self::LoneEvent(event) => event.check()?,
            Self::Channels(rates) | Self::Neighbours(rates) => rates.check()?,
        };
        if verified { Ok(()) } else { Err("its answer was not verified: verified=false".into()) }
    }
}

impl Speed {
    /// Returns events per second, whatever each of them counts for in the speed.
    pub(crate) fn whole_events_per_second(&self) -> f64 {
        self.median_events_per_second / f64::from(self.operations_per_event.unwrap_or(1).max(1))
    }

    /// Checks that there are runs, and that each speed is valid.
    fn check(&self) -> Result<(), String> {
        if self.runs.is_empty() {
            return Err("`runs` is empty".into());
        }
        let runs = self.runs.iter().map(|run| run.events_per_second);
        for value in runs.chain([self.median_events_per_second]) {
            speed("events_per_second", value)?;
        }
        if !self.segments.is_empty() {
            check_segments(&self.segments)?;
        }
        time("nanoseconds_in_paper", self.nanoseconds_in_paper.unwrap_or(0.0))
    }
}

/// Checks that there are segments, and that their percentiles ascend.
fn check_segments(segments: &[Segment]) -> Result<(), String> {
    if segments.is_empty() {
        return Err("`segments` is empty".into());
    }
    for segment in segments {
        let curve = segment.curve.iter().map(|(_, ns)| *ns);
        for ns in curve.chain([segment.p50_ns, segment.p99_ns, segment.p99_9_ns]) {
            time("nanoseconds", ns)?;
        }
        for (percentile, _) in &segment.curve {
            if !(0.0..=100.0).contains(percentile) {
                return Err(format!("a percentile lies in 0..=100: percentile={percentile}"));
            }
        }
    }
    Ok(())
}

/// Checks that `value` is a valid speed.
fn speed(name: &str, value: f64) -> Result<(), String> {
    if SPEEDS.contains(&value) {
        return Ok(());
    }
    let (least, most) = (SPEEDS.start(), SPEEDS.end());
    Err(format!("must be in {least:e}..={most:e}: {name}={value}"))
}

/// Checks that `value` is a valid time.
fn time(name: &str, value: f64) -> Result<(), String> {
    if (0.0..=MAX_NS).contains(&value) {
        return Ok(());
    }
    Err(format!("must be in 0..={MAX_NS:e}: {name}={value}"))
}
