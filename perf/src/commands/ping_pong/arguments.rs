//! The flags of `lapwing ping-pong`.

use clap::{Args, value_parser};

use crate::contenders::{ContenderName, PlacementName, Roster, Setting, WaitName};
use crate::flags::{ScheduleArguments, values};

/// The flags of `lapwing ping-pong`.
#[derive(Args, Debug)]
pub(crate) struct PingPongArguments {
    /// Contenders to run beside the bare exchange, separated by commas. Default: all
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    contender: Vec<ContenderName>,

    /// Wait strategies of Lapwing's ends, separated by commas; each adds a row. Default: all six.
    /// Each rival runs with the fastest of its own
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    wait: Vec<WaitName>,

    /// Mean pause of the sender before each number, in nanoseconds; random from half to one and a
    /// half of it, and not counted. With 0, the two threads run in lockstep
    #[arg(long, value_name = "NS", default_value_t = 0)]
    #[arg(value_parser = value_parser!(u32).range(..=1_000_000))]
    pub(crate) pause: u32,

    #[command(flatten)]
    pub(crate) schedule: ScheduleArguments,
}

impl PingPongArguments {
    /// Returns the requested contenders, each once.
    pub(crate) fn roster(&self) -> Roster {
        let settings = Setting::each(&self.waits(), &[PlacementName::Own]); // pollers have no thread
        roster(&self.contenders(), &settings, self.pause)
    }

    fn contenders(&self) -> Vec<ContenderName> {
        values::each_once(&self.contender, &ContenderName::ALL)
    }

    fn waits(&self) -> Vec<WaitName> {
        values::each_once(&self.wait, &WaitName::ALL)
    }
}

/// Returns the contenders of `names` whose sender can pause for this time.
pub(super) fn roster(names: &[ContenderName], settings: &[Setting], pause_ns: u32) -> Roster {
    Roster::admitting(names, settings, |name| {
        (pause_ns > 0 && name.is_process()).then_some("its program sends without a pause")
    })
}
