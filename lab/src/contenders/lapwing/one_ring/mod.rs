//! One ring for the whole graph, with events written and read in place. The parent module selects
//! the build of the library (`library`), with the threads for its ends (`crew`), and the name of
//! the contender.

pub(in crate::contenders) mod feed; // the publications of a producer
mod paced; // timed events through three stages
pub(crate) mod ping_pong; // round trips of a number
pub(in crate::contenders) mod setting; // a builder with a setting
mod sharing; // each event to one of several workers
pub(in crate::contenders) mod wiring; // the five topologies over a ring

use self::wiring::Wiring;
use super::{NAME, crew, library};
use crate::contenders::Setting;
use crate::contenders::contender::{Contender, Shares};
use crate::load::event::{PAD_8, PAD_32, PAD_64, PAD_256};
use crate::load::exchange::Exchange;
use crate::load::paced::{Pace, Paced};
use crate::load::sharing::Sharing;
use crate::load::topologies::Topology;
use crate::load::workload::{EventBytes, Workload};
use crate::measure::crew::RunError;
use crate::measure::run::Pass;

/// The name of the contender at which another process can look.
const OBSERVABLE: &str = "lapwing-observable";

/// Returns the contender with this `setting`.
pub(in crate::contenders) fn contender(setting: Setting) -> Box<dyn Contender> {
    Box::new(OneRing { setting })
}

/// Returns the contender with this `setting` at which another process can look.
#[allow(dead_code)] // only the library with its tuning is compared so
pub(in crate::contenders) fn observable(setting: Setting) -> Box<dyn Contender> {
    Box::new(OneRing { setting: Setting { is_observable: true, ..setting } })
}

/// Every topology over one ring.
struct OneRing {
    setting: Setting,
}

impl Contender for OneRing {
    fn name(&self) -> &'static str {
        if self.setting.is_observable { OBSERVABLE } else { NAME }
    }

    fn wait(&self) -> &'static str {
        self.setting.wait.name()
    }

    fn placement(&self) -> Option<String> {
        Some(self.setting.placement.to_string())
    }

    fn threads(&self, producers: usize, consumers: usize) -> usize {
        self.setting.threads(producers, consumers)
    }

    fn run(&self, topology: Topology, workload: &Workload) -> Result<Pass, RunError> {
        let wiring = Wiring { setting: self.setting, workload };
        match workload.event_bytes {
            EventBytes::B8 => wiring.run::<PAD_8>(topology),
            EventBytes::B32 => wiring.run::<PAD_32>(topology),
            EventBytes::B64 => wiring.run::<PAD_64>(topology),
            EventBytes::B256 => wiring.run::<PAD_256>(topology),
        }
    }

    fn ping_pong(&self, slots: usize, exchange: Exchange) -> Result<Pass, RunError> {
        ping_pong::run(self.setting.wait, slots, exchange)
    }

    fn paced(&self, pace: &Pace) -> Result<Paced, RunError> {
        paced::run(self.setting, pace)
    }

    fn sharing(&self) -> Option<&dyn Shares> {
        Some(self)
    }
}

impl Shares for OneRing {
    fn share(&self, sharing: &Sharing) -> Result<Pass, RunError> {
        sharing::run(self.setting, sharing)
    }
}
