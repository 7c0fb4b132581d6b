//! The flags of `lapwing latency`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, value_parser};

use crate::flags::{PacedArguments, values};
use crate::load::paced::Pace;

/// The length of one run with `--quick`.
const QUICK_RUN: Duration = Duration::from_millis(200);

/// The flags of `lapwing latency`.
#[derive(Args, Debug)]
pub(crate) struct LatencyArguments {
    /// Events per second; the paper sends one each microsecond
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    #[arg(value_parser = value_parser!(u32).range(1..=i64::from(values::MAX_RATE)))]
    rate: u32,

    /// Length of one run, in seconds
    #[arg(long, value_name = "S", default_value = "1", value_parser = values::seconds)]
    seconds_per_run: Duration,

    /// Runs a fifth of a second each
    #[arg(long, conflicts_with = "seconds_per_run")]
    quick: bool,

    #[command(flatten)]
    pub(super) paced: PacedArguments,

    /// Writes the percentiles of each row's segments to files in this folder, for HdrHistogram's
    /// plotter
    #[arg(long, value_name = "FOLDER")]
    pub(super) hgrm: Option<PathBuf>,
}

impl LatencyArguments {
    /// Returns the load of each run.
    pub(super) fn pace(&self) -> Pace {
        let time = if self.quick { QUICK_RUN } else { self.seconds_per_run };
        self.paced.pace(self.rate, time)
    }
}
