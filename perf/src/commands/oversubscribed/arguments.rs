//! The flags of `lapwing oversubscribed`.

use std::time::Duration;

use clap::{Args, value_parser};

use crate::contenders::{ContenderName, Roster, WaitName};
use crate::flags::{ScheduleArguments, SettingArguments, values};
use crate::load::sharing::Crowd;
use crate::measure::schedule::Schedule;

/// The length of one run with `--quick`. There are many cells.
const QUICK_RUN: Duration = Duration::from_millis(50);

/// The flags of `lapwing oversubscribed`.
#[derive(Args, Debug)]
pub(crate) struct OversubscribedArguments {
    /// Numbers of producers, separated by commas; each is combined with each number of consumers
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "1,2,4,8")]
    #[arg(value_parser = value_parser!(u32).range(1..=64))]
    producers: Vec<u32>,

    /// Numbers of consumers that share the events, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "1,2,4,8")]
    #[arg(value_parser = value_parser!(u32).range(1..=64))]
    consumers: Vec<u32>,

    /// Contenders to run, separated by commas; if absent, all that can share events, or with `--quick` lapwing,
    /// bounded-queue, std-mpsc, crossbeam-channel and crossbeam-arrayqueue
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    contender: Vec<ContenderName>,

    /// Wait strategies of Lapwing, separated by commas; each adds a column. Each rival runs with
    /// the fastest of its own in each cell
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "LIST",
        default_value = "adaptive"
    )]
    wait: Vec<WaitName>,

    #[command(flatten)]
    setting: SettingArguments,

    /// Slots of the ring and of the queue; a power of two
    #[arg(long, value_name = "N", default_value_t = 65_536, value_parser = values::ring)]
    pub(super) ring: usize,

    #[command(flatten)]
    pub(super) schedule: ScheduleArguments,
}

impl OversubscribedArguments {
    /// Returns the cells, each once, ordered by producers, then by consumers.
    pub(super) fn crowds(&self) -> Vec<Crowd> {
        let consumers = values::each_once(&self.consumers, &[]);
        let producers = values::each_once(&self.producers, &[]).into_iter();
        let row =
            |producers| consumers.iter().map(move |&consumers| Crowd { producers, consumers });
        producers.flat_map(row).collect()
    }

    /// Returns the requested contenders, each once.
    pub(super) fn roster(&self) -> Roster {
        let all = if self.schedule.is_quick() { ContenderName::FEW } else { &ContenderName::ALL };
        let names = values::each_once(&self.contender, all);
        Roster::of(&names, &self.setting.with(&values::each_once(&self.wait, &[])))
    }

    /// Returns the number, length and placement of runs.
    pub(super) fn schedule(&self) -> Schedule {
        let schedule = self.schedule.schedule();
        let run_time = if self.schedule.is_quick() { QUICK_RUN } else { schedule.run_time };
        Schedule { run_time, ..schedule }
    }
}
