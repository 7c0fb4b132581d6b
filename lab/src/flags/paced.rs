//! The flags of the delay tables `latency` and `sweep`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, value_parser};

use super::ContenderArguments;
use super::schedule::PlacementArguments;
use super::values;
use crate::contenders::Roster;
use crate::load::paced::{Between, Pace};
use crate::load::topologies::Topology;

/// The help of `--wait`.
const WAIT_HELP: &str = "Wait strategies of Lapwing, separated by commas; each adds a row or a curve. Each rival uses \
                         its own strategy with the shortest median delay";

/// The flags that `latency` and `sweep` share.
#[derive(Args, Debug)]
#[command(mut_arg("wait", |wait| wait.help(WAIT_HELP)))]
pub(crate) struct PacedArguments {
    #[command(flatten)]
    contenders: ContenderArguments,

    /// Counted runs of each row
    #[arg(long, value_name = "N", default_value_t = 7)]
    #[arg(value_parser = value_parser!(u32).range(1..=1_000))]
    pub(crate) runs: u32,

    /// Slots of the ring and of every queue; a power of two
    #[arg(long, value_name = "N", default_value_t = 8_192, value_parser = values::ring)]
    ring: usize,

    #[command(flatten)]
    placement: PlacementArguments,

    /// Writes the machine and every run to this JSON file
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

impl PacedArguments {
    /// Returns the requested contenders, each once.
    pub(crate) fn roster(&self) -> Roster {
        self.contenders.roster().fitting(Topology::Pipeline, self.ring)
    }

    /// Returns a load of `rate` events per second for `time`.
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
