//! The flags of the throughput tables: number and length of runs, CPUs of the threads, and the JSON
//! file.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, value_parser};

use super::values;
use crate::machine::placement::Placement;
use crate::measure::calibration::MAX_EVENTS;
use crate::measure::schedule::Schedule;

/// The length of one run with `--quick`.
const QUICK_RUN: Duration = Duration::from_millis(100);

/// Number and length of runs, CPUs of the threads, and the JSON file.
#[derive(Args, Debug)]
pub(crate) struct ScheduleArguments {
    /// Events of one run. Default: short pilot runs find the number for each row
    #[arg(long, value_name = "N", conflicts_with = "seconds_per_run")]
    #[arg(value_parser = value_parser!(u32).range(1..=i64::from(MAX_EVENTS)))]
    events: Option<u32>,

    /// Length of one run, in seconds
    #[arg(long, value_name = "S", default_value = "0.5", value_parser = values::seconds)]
    seconds_per_run: Duration,

    /// Counted runs of each row
    #[arg(long, value_name = "N", default_value_t = 7)]
    #[arg(value_parser = value_parser!(u32).range(1..=1_000))]
    runs: u32,

    /// Runs a tenth of a second each
    #[arg(long, conflicts_with_all = ["events", "seconds_per_run"])]
    quick: bool,

    #[command(flatten)]
    placement: PlacementArguments,

    /// Writes the machine and every run to this JSON file
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// The CPUs of the threads.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct PlacementArguments {
    /// Binds each thread to its own CPU, in rows with at most as many threads as there are CPUs
    #[arg(long)]
    pin: bool,

    /// Binds the threads of a row to the CPUs in turn, even if there are more threads than CPUs.
    /// The system then does not choose which threads share a CPU
    #[arg(long, conflicts_with = "pin")]
    in_turn: bool,
}

impl ScheduleArguments {
    /// Returns whether `--quick` is set.
    pub(crate) const fn is_quick(&self) -> bool {
        self.quick
    }

    /// Returns the number, length and placement of runs.
    pub(crate) fn schedule(&self) -> Schedule {
        let run_time = if self.quick { QUICK_RUN } else { self.seconds_per_run };
        let placement = self.placement.placement();
        Schedule { runs: self.runs, run_time, events: self.events, placement }
    }
}

impl PlacementArguments {
    /// Returns the placement of the threads.
    pub(crate) fn placement(self) -> Placement {
        match self {
            Self { pin: true, .. } => Placement::Pinned,
            Self { in_turn: true, .. } => Placement::InTurn,
            Self { .. } => Placement::Free,
        }
    }
}
