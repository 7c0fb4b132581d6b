//! The flags of tables with many short runs: length of a run, number of rounds, and the JSON file.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, value_parser};

/// The length of one run with `--quick`, in milliseconds.
const QUICK_RUN_MS: u32 = 50;
/// Counted rounds, without and with `--quick`. They are odd, so that the median is a run.
const ROUNDS: [u32; 2] = [9, 3];

/// Length of a run, number of rounds, and the JSON file.
#[derive(Args, Debug)]
pub(crate) struct TimedArguments {
    /// Length of one run, in milliseconds. Default: 100 in `channels`, 150 in `neighbours`, 200 in `async`, 50 with
    /// `--quick`
    #[arg(long, value_name = "MS", value_parser = value_parser!(u32).range(1..=60_000))]
    run_ms: Option<u32>,

    /// Counted rounds. Default: 9, or 3 with `--quick`
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1_000))]
    rounds: Option<u32>,

    /// Runs fewer and shorter rounds
    #[arg(long)]
    quick: bool,

    /// Writes the machine and every run to this JSON file
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

impl TimedArguments {
    /// Returns the length of one run: `--run-ms` if given, else `usual_ms`, or less with `--quick`.
    pub(crate) fn run_time(&self, usual_ms: u32) -> Duration {
        let absent = if self.quick { QUICK_RUN_MS } else { usual_ms };
        Duration::from_millis(self.run_ms.unwrap_or(absent).into())
    }

    /// Returns the number of counted rounds.
    pub(crate) fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(ROUNDS[usize::from(self.quick)])
    }
}
