//! Synthetic files in the format of the other commands, in a separate folder.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use serde_json::{Value, json};

/// A folder that is removed when it is dropped.
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Creates an empty folder that no other test uses.
    pub(super) fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("lapwing-report-{}-{name}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file of the folder.
    pub(super) fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    /// Writes the report of one benchmark.
    pub(super) fn add(&self, benchmark: &str) {
        let report = report(&records(benchmark));
        self.write(&format!("{benchmark}.json"), &report.to_string());
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// The benchmarks that a page can show.
pub(super) const BENCHMARKS: [&str; 12] = [
    "throughput",
    "latency",
    "sweep",
    "oversubscribed",
    "channels",
    "neighbours",
    "idle",
    "ping-pong",
    "limits",
    "contention",
    "dispatch",
    "perftest",
];

/// Returns a file with `results`, of an idle machine with four CPUs.
pub(super) fn report(results: &[Value]) -> Value {
    json!({
        "machine": {
            "os": "linux",
            "cpu": "Test CPU",
            "logical_cpus": 4,
            "available_parallelism": 4,
            "cpus_used_by_others": 0.01,
        },
        "missing": [],
        "complete": true,
        "results": results,
    })
}

/// Returns two records of `benchmark`: one of Lapwing and one of a rival.
pub(super) fn records(benchmark: &str) -> Vec<Value> {
    match benchmark {
        "latency" => vec![latency("lapwing", 400.0), latency("bounded-queue", 20_000.0)],
        "sweep" => {
            vec![
                sweep("lapwing", 1e5, false),
                sweep("lapwing", 1e6, false),
                sweep("flume", 1e6, true),
            ]
        }
        "dispatch" => vec![dispatch("lapwing-ring", 0), dispatch("std-mpsc", 500)],
        "oversubscribed" => {
            let cell = |contender, speed, producers| shared(contender, speed, producers, 8);
            vec![cell("lapwing", 5e7, 1), cell("flume", 1e7, 1), cell("lapwing", 4e7, 4)]
        }
        "idle" => vec![idle("adaptive", 0), idle("busy-spin", 1_000_000), lone_event()],
        "channels" => vec![channel("lapwing", 5e6), channel("kanal", 4_000.0)],
        "neighbours" => vec![neighbour("lapwing", 5e6), neighbour("disruptor", 4_000.0)],
        "limits" => vec![speed(benchmark, "stream", 4e8), speed(benchmark, "exchange", 1e7)],
        "contention" => vec![speed(benchmark, "plain", 2e9), speed(benchmark, "cas-two", 3e7)],
        _ => {
            vec![speed(benchmark, "lapwing", 87_650_000.0), speed(benchmark, "flume", 4_320_000.0)]
        }
    }
}

/// Returns a throughput record, whose runs are a tenth below and above it.
pub(super) fn speed(benchmark: &str, contender: &str, speed: f64) -> Value {
    let run =
        |speed: f64| json!({"events_per_second": speed, "events_per_batch": 3.0, "cpus": 1.9});
    json!({
        "benchmark": benchmark,
        "topology": "unicast",
        "contender": contender,
        "wait": "adaptive",
        "threads": 2,
        "pinned": false,
        "ring": 1024,
        "event_bytes": 8,
        "publish": "one",
        "events": 1000,
        "verified": true,
        "runs": [run(speed * 0.9), run(speed), run(speed * 1.1)],
        "median_events_per_second": speed,
        "baseline": "flume",
        "ratio_to_baseline": 2.5,
        "ratio_interval": [2.25, 2.75],
        "nanoseconds_in_paper": 60.0,
    })
}

/// Returns a record of shared events.
fn shared(contender: &str, events: f64, producers: u32, consumers: u32) -> Value {
    let mut record = speed("oversubscribed", contender, events);
    record["producers"] = producers.into();
    record["consumers"] = consumers.into();
    record["times_one_to_one"] = json!(1.25);
    record
}

fn idle(wait: &str, rate: u32) -> Value {
    let delay = (rate > 0).then_some(4_321);
    json!({
        "benchmark": "idle",
        "contender": "lapwing",
        "wait": wait,
        "topology": "pipeline",
        "consumers": 3,
        "threads": 4,
        "ring": 1024,
        "offered_per_second": rate,
        "verified": true,
        "cpu_percent": if rate > 0 { 123.0 } else { 0.0 },
        "sender_cpu_percent": 1.5,
        "wakes_per_second": 7.5,
        "involuntary_per_second": null,
        "p50_ns": delay,
        "p99_ns": delay,
        "runs": [],
    })
}

/// Returns a record of runs with a fixed length.
fn rates(benchmark: &str, contender: &str, rate: f64) -> Value {
    json!({
        "benchmark": benchmark,
        "contender": contender,
        "wait": "adaptive",
        "threads": 4,
        "verified": true,
        "median_per_second": rate,
        "quartiles_per_second": [rate * 0.5, rate * 2.0],
        "first": "lapwing",
        "ratio_to_first": 0.75,
        "stalled_share": 0.25,
        "cpus": 1.9,
        "voluntary_per_second": 1_234.0,
        "involuntary_per_second": null,
        "longest_send_ns": null,
        "fairness": null,
        "runs": [],
    })
}

fn channel(contender: &str, rate: f64) -> Value {
    let mut record = rates("channels", contender, rate);
    record["traffic"] = "one-way".into();
    record["payload"] = "word".into();
    record["beside"] = "busy".into();
    record["busy_threads"] = 2.into();
    record["senders"] = 3.into();
    record["capacity"] = 1_024.into();
    record["longest_send_ns"] = json!(2.5e6);
    record["fairness"] = json!(0.5);
    record
}

fn neighbour(contender: &str, rate: f64) -> Value {
    let mut record = rates("neighbours", contender, rate);
    record["topology"] = "pipeline".into();
    record["placement"] = "auto".into();
    record["ring"] = 1_024.into();
    record["busy_threads"] = 2.into();
    record
}

fn lone_event() -> Value {
    json!({
        "benchmark": "lone-event",
        "contender": "lapwing",
        "wait": "adaptive",
        "consumers": 8,
        "threads": 9,
        "events": 10,
        "silence_ns": 100_000_000,
        "verified": true,
        "half_ns": 34_567.0,
        "last_ns": 45_678.0,
        "half_times_bare": 1.25,
        "last_times_bare": 1.5,
        "runs": [],
    })
}

fn segment(name: &str, p50: f64) -> Value {
    json!({
        "name": name,
        "count": 1234,
        "min_ns": p50 / 2.0,
        "mean_ns": p50 * 1.5,
        "p50_ns": p50,
        "p90_ns": p50 * 2.0,
        "p99_ns": p50 * 3.0,
        "p99_9_ns": p50 * 4.0,
        "p99_99_ns": p50 * 5.0,
        "max_ns": p50 * 6.0,
        "curve": [[0.0, p50 / 2.0], [50.0, p50], [99.0, p50 * 3.0], [99.99, p50 * 5.0], [100.0, p50 * 6.0]],
    })
}

fn latency(contender: &str, p50: f64) -> Value {
    json!({
        "benchmark": "latency",
        "contender": contender,
        "wait": "park",
        "topology": "pipeline",
        "threads": 4,
        "pinned": true,
        "ring": 1024,
        "interval_ns": 1000,
        "events": 1234,
        "verified": true,
        "runs": [{"achieved_per_second": 999_000.0, "cpus": 1.5, "p50_ns": p50, "p99_ns": p50,
            "p99_9_ns": p50, "max_ns": p50}],
        "segments": [segment("hop-1", p50 / 3.0), segment("end-to-end", p50)],
    })
}

fn sweep(contender: &str, offered: f64, saturated: bool) -> Value {
    let mut record = latency(contender, 500.0);
    record["benchmark"] = "sweep".into();
    record["offered_per_second"] = offered.into();
    record["achieved_per_second"] = offered.into();
    record["saturated"] = saturated.into();
    record["segments"] = json!([segment("end-to-end", 500.0)]);
    record
}

fn dispatch(technique: &str, work: u32) -> Value {
    let segment = |name: &str, ns: f64| json!({"name": name, "p50_ns": ns, "p99_ns": ns * 2.0, "p99_9_ns": ns * 3.0});
    json!({
        "benchmark": "dispatch",
        "contender": technique,
        "orch_work_ns": work,
        "threads": 4,
        "repeats": 3,
        "orders": 5000,
        "verified": true,
        "segments": [segment("submit", 200.0), segment("venue_svc", 5e6), segment("return", 150.0),
            segment("round_trip", 5e6), segment("rt-venue", 789.0)],
        "rt_venue_spread": {"p50_ns": [700.0, 800.0], "p99_ns": [1500.0, 1600.0]},
        "in_flight": {"median_peak": 120, "max": 130, "steady_mean": 117.0, "expected": 118.5,
            "as_expected": work == 0},
        "stalls": {"runs": 0, "worst_gap_ns": 40000},
        "full": 0,
        "cpus": 1.8,
    })
}
