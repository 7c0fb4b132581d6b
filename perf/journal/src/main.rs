//! The journal beside other logs and beside bare system calls.
//!
//! ```text
//! main --> appends --> logs     batches of 1, 64 and 1,024 events, synced and not
//!     \--> delays               from the time when an event was due until it is acknowledged
//! ```
//!
//! Runs of all logs are interleaved in rounds, in a shuffled order; the first round warms up. Each
//! log is then read, and must have each event once.
#![allow(clippy::print_stdout)]

mod appends;
mod delays;
mod logs;

use std::error::Error;
use std::path::PathBuf;

use clap::Parser;

/// An error of any log.
type Failure = Box<dyn Error + Send + Sync>;

/// Measures the journal beside okaywal, open-wal, wal-db, and a loop of pwrite and fdatasync.
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
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    appends::run(&arguments)?;
    delays::run(&arguments)
}
