//! The journal beside other logs and beside bare system calls.
//!
//! ```text
//! main --> appends --> logs, chronicle      batches of 1, 64 and 1,024 events, synced and not
//!     \--> delays --> commits, chronicle     until an event is acknowledged
//! ```
//!
//! Runs of all logs are interleaved in rounds, in a shuffled order; the first round warms up. Each
//! log is then read, and must have each event once. Chronicle Queue runs in a Java process, if Java and
//! Maven are installed.
#![allow(clippy::print_stdout)]

mod appends;
mod chronicle;
mod commits;
mod delays;
mod java;
mod logs;

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use serde_json::json;

use chronicle::Chronicle;
use lapwing_lab_stats::{Machine, Neighbours};

/// An error of any log.
type Failure = Box<dyn Error + Send + Sync>;

/// Measures the journal beside okaywal, open-wal, wal-db, Chronicle Queue, and a loop of pwrite and
/// fdatasync.
#[derive(Debug, Parser)]
struct Arguments {
    /// A folder on the disk that is measured
    #[arg(long, default_value = "target")]
    folder: PathBuf,
    /// Rounds that count
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of each run
    #[arg(long, default_value_t = 0.5)]
    seconds: f64,
    /// Events per second for the delays
    #[arg(long, default_value_t = 100_000)]
    rate: u64,
    /// Length of the journal's segments in the delays. A segment of 16 MiB lasts 1.3 seconds at the
    /// default rate
    #[arg(long, default_value_t = 64)]
    segment_mib: u64,
    /// Measure a part only
    #[arg(long)]
    only: Option<Part>,
    /// Write all figures to this file
    #[arg(long)]
    json: Option<PathBuf>,
    /// A folder for compiled rivals
    #[arg(long, default_value = "target")]
    cache: PathBuf,
}

/// A part of the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Events per second, in batches
    Appends,
    /// Delays at a steady rate
    Delays,
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let mut machine = Machine::detect();
    let neighbours = Neighbours::watch();
    let (mut chronicle, missing) = match Chronicle::start(&arguments.cache) {
        Ok(rival) => (Some(rival), None),
        Err(reason) => (None, Some(format!("Chronicle Queue: skipped: {reason}"))),
    };
    let mut results = Vec::new();
    if arguments.only != Some(Part::Delays) {
        results.extend(appends::run(&arguments, &mut chronicle)?);
    }
    if arguments.only != Some(Part::Appends) {
        results.extend(delays::run(&arguments, &mut chronicle)?);
    }
    // Its CPU time belongs to this measurement, once it has ended.
    drop(chronicle);
    if let Some(reason) = &missing {
        println!("{reason}");
    }
    machine.cpus_used_by_others = neighbours.cpus_used();
    let Some(file) = &arguments.json else { return Ok(()) };
    let Arguments { rounds, seconds, rate, segment_mib, .. } = arguments;
    let report = json!({
        "machine": machine,
        "settings": {
            "rounds": rounds,
            "seconds": seconds,
            "events_per_second": rate,
            "segment_mib": segment_mib,
        },
        "missing": missing.as_slice(),
        "complete": true,
        "results": results,
    });
    Ok(fs::write(file, format!("{report:#}\n"))?)
}
