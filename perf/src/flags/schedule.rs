//! The flags of every table of speeds: how often a row runs, how long, where its threads are, and where the
//! report is written.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, value_parser};

use super::values;
use crate::machine::placement::Placement;
use crate::measure::calibration::MAX_EVENTS;
use crate::measure::schedule::Schedule;

/// Time of one run of `--quick`.
const QUICK_RUN: Duration = Duration::from_millis(100);

/// How often, how long and where, and where the result is written.
#[derive(Args, Debug)]
pub(crate) struct ScheduleArguments {
    /// Events of one run; by default short pilots find the number for each row
    #[arg(long, value_name = "N", conflicts_with = "seconds_per_run")]
    #[arg(value_parser = value_parser!(u32).range(1..=i64::from(MAX_EVENTS)))]
    events: Option<u32>,

    /// Time that one run should take, in seconds
    #[arg(long, value_name = "S", default_value = "0.5", value_parser = values::seconds)]
    seconds_per_run: Duration,

    /// Runs of each row that count
    #[arg(long, value_name = "N", default_value_t = 7)]
    #[arg(value_parser = value_parser!(u32).range(1..=1_000))]
    runs: u32,

    /// A tenth of a second for each run
    #[arg(long, conflicts_with_all = ["events", "seconds_per_run"])]
    quick: bool,

    #[command(flatten)]
    placement: PlacementArguments,

    /// Writes the machine and every run to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// Where the threads are.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct PlacementArguments {
    /// Binds each thread to a CPU of its own, in rows that have no more threads than there are CPUs
    #[arg(long)]
    pin: bool,

    /// Binds the threads of a row to the CPUs in turn, also where there are more of them: then the system
    /// does not decide who shares one
    #[arg(long, conflicts_with = "pin")]
    in_turn: bool,
}

impl ScheduleArguments {
    /// Whether short runs are asked for.
    pub(crate) const fn is_quick(&self) -> bool {
        self.quick
    }

    /// How many runs, how long and where.
    pub(crate) fn schedule(&self) -> Schedule {
        let run_time = if self.quick { QUICK_RUN } else { self.seconds_per_run };
        let placement = self.placement.placement();
        Schedule { runs: self.runs, run_time, events: self.events, placement }
    }
}

impl PlacementArguments {
    /// Where the threads are.
    pub(crate) fn placement(self) -> Placement {
        match self {
            Self { pin: true, .. } => Placement::Pinned,
            Self { in_turn: true, .. } => Placement::InTurn,
            Self { .. } => Placement::Free,
        }
    }
}
