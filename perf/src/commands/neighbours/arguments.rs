//! The flags of `lapwing neighbours`.

use clap::{Args, value_parser};

use super::Plan;
use crate::contenders::{ContenderName, PlacementName, Roster, Setting, WaitName};
use crate::flags::{TimedArguments, values};
use crate::load::topologies::Topology;

/// The length of one run without `--quick`, in milliseconds.
const RUN_MS: u32 = 150;
/// The reason why a program in another language does not take part.
const IS_PROCESS: &str = "the cost of its threads cannot be measured";

/// The flags of `lapwing neighbours`.
#[derive(Args, Debug)]
pub(crate) struct NeighboursArguments {
    /// Configurations to run, separated by commas. Default: all five
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    topology: Vec<Topology>,

    /// Slots of the ring, separated by commas; powers of two
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "256,1024,8192")]
    #[arg(value_parser = values::ring)]
    ring: Vec<usize>,

    /// Numbers of busy threads of another process, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "0,1,2,4")]
    #[arg(value_parser = value_parser!(u32).range(0..=64))]
    busy: Vec<u32>,

    /// Contenders to run, separated by commas. Each rival runs with its fastest wait in each cell
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "LIST",
        default_value = "lapwing,disruptor"
    )]
    contender: Vec<ContenderName>,

    /// Wait strategies of Lapwing, separated by commas; each adds a row
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "LIST",
        default_value = "adaptive"
    )]
    wait: Vec<WaitName>,

    /// Threads of Lapwing's consumers, separated by commas; each value adds a row. `own`: one
    /// thread per consumer. `auto`: as many threads as there are CPUs without those of the
    /// producers. N: N threads
    #[arg(long, value_delimiter = ',', value_name = "own|auto|N,..", default_value = "own,auto")]
    placement: Vec<PlacementName>,

    #[command(flatten)]
    pub(super) timed: TimedArguments,
}

impl NeighboursArguments {
    /// Returns the measured cases, and the number of runs.
    pub(super) fn plan(&self) -> Plan {
        Plan {
            topologies: values::each_once(&self.topology, &Topology::ALL),
            rings: values::each_once(&self.ring, &[]),
            busy_threads: values::each_once(&self.busy, &[]),
            run_time: self.timed.run_time(RUN_MS),
            rounds: self.timed.rounds(),
        }
    }

    /// Returns the requested contenders, each once.
    pub(super) fn roster(&self) -> Roster {
        let names = values::each_once(&self.contender, &[]);
        let waits = values::each_once(&self.wait, &[]);
        let settings = Setting::each(&waits, &values::each_once(&self.placement, &[]));
        Roster::admitting(&names, &settings, |name| name.is_process().then_some(IS_PROCESS))
    }
}
