//! The flags of tables whose runs are short and many: how long a run takes, how many rounds there are, and where the
//! report is written.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, value_parser};

/// Milliseconds of one run with `--quick`.
const QUICK_RUN_MS: u32 = 50;
/// Rounds that count, without and with `--quick`. Odd, so that a median is a run.
const ROUNDS: [u32; 2] = [9, 3];

/// How long, how often, and where the result is written.
#[derive(Args, Debug)]
pub(crate) struct TimedArguments {
    /// Time of one run, in milliseconds; if absent 100 in `channels`, 150 in `neighbours`, 50 with `--quick`
    #[arg(long, value_name = "MS", value_parser = value_parser!(u32).range(1..=60_000))]
    run_ms: Option<u32>,

    /// Rounds that count; 9 if absent, 3 with `--quick`
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1_000))]
    rounds: Option<u32>,

    /// Shorter runs, and fewer of them
    #[arg(long)]
    quick: bool,

    /// Writes the machine and every run to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

impl TimedArguments {
    /// Time of one run: as asked, else `usual_ms` milliseconds, or fewer with `--quick`.
    pub(crate) fn run_time(&self, usual_ms: u32) -> Duration {
        let absent = if self.quick { QUICK_RUN_MS } else { usual_ms };
        Duration::from_millis(self.run_ms.unwrap_or(absent).into())
    }

    /// Rounds that count.
    pub(crate) fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(ROUNDS[usize::from(self.quick)])
    }
}
