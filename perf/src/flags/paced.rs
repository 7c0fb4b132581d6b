//! The flags of the tables of delays: who, over which ring, where, and where the report is written.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, value_parser};

use super::SettingArguments;
use super::schedule::PlacementArguments;
use super::values;
use crate::contenders::{ContenderName, Roster, WaitName};
use crate::load::paced::{Between, Pace};
use crate::load::topologies::Topology;

/// What `latency` and `sweep` have in common.
#[derive(Args, Debug)]
pub(crate) struct PacedArguments {
    /// Contenders to run, separated by commas; all if absent
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    contender: Vec<ContenderName>,

    /// Wait strategies of Lapwing, separated by commas: a row or a curve for each. Each rival runs with
    /// the one of its own whose median delay is the shortest
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

    /// Runs of each row that count
    #[arg(long, value_name = "N", default_value_t = 7)]
    #[arg(value_parser = value_parser!(u32).range(1..=1_000))]
    pub(crate) runs: u32,

    /// Slots of the ring, and of every queue: a power of two
    #[arg(long, value_name = "N", default_value_t = 8_192, value_parser = values::ring)]
    ring: usize,

    #[command(flatten)]
    placement: PlacementArguments,

    /// Writes the machine and every run to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

impl PacedArguments {
    /// The contenders asked for, each once.
    pub(crate) fn roster(&self) -> Roster {
        let settings = self.setting.with(&values::each_once(&self.wait, &[]));
        let names = values::each_once(&self.contender, &ContenderName::ALL);
        let roster = Roster::of(&names, &settings);
        roster.fitting(Topology::Pipeline, self.ring)
    }

    /// A load of `rate` events each second for `time`.
    pub(crate) fn pace(&self, rate: u32, time: Duration) -> Pace {
        let events = (f64::from(rate) * time.as_secs_f64()).round().clamp(1.0, f64::from(u32::MAX));
        Pace {
            interval_ns: 1e9 / f64::from(rate),
            events: events as u32,
            ring: self.ring,
            placement: self.placement.placement(),
            between: Between::Awake,
        }
    }
}
