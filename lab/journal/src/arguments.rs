//! What a run is asked for: which part, how long, how fast, and where.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Measures the journal beside okaywal, open-wal, wal-db, Chronicle Queue, and a loop of pwrite and
/// fdatasync.
#[derive(Debug, Parser)]
pub(crate) struct Arguments {
    /// A folder on the disk that is measured. It is created if it does not exist
    #[arg(long, default_value = "target")]
    pub(crate) folder: PathBuf,
    /// Rounds that count
    #[arg(long, default_value_t = 5)]
    pub(crate) rounds: usize,
    /// Seconds of each run
    #[arg(long, default_value_t = 0.5)]
    pub(crate) seconds: f64,
    /// Events per second for the delays
    #[arg(long, default_value_t = 100_000)]
    pub(crate) rate: u64,
    /// Length of the journal's segments in the delays. A segment of 16 MiB lasts 1.3 seconds at the
    /// default rate
    #[arg(long, default_value_t = 64)]
    pub(crate) segment_mib: u64,
    /// Measure a part only
    #[arg(long)]
    pub(crate) only: Option<Part>,
    /// Write all figures to this file
    #[arg(long)]
    pub(crate) json: Option<PathBuf>,
    /// A folder for compiled rivals
    #[arg(long, default_value = "target")]
    pub(crate) cache: PathBuf,
}

/// A part of the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Events per second, in batches
    Appends,
    /// Delays at a steady rate
    Delays,
}
