//! This project: one ring for the whole graph, events written and read in place.

pub(super) mod channel; // a channel for each arc
mod feed; // what a producer publishes
mod paced; // timed events through three stages
pub(crate) mod ping_pong; // a number there and back
pub(super) mod rings; // a ring for each stage that sends
mod setting; // how its threads wait, and which consumers share one
mod sharing; // each event to one of several workers
pub(crate) mod side_by_side; // readers of every event: timed events, lone ones
mod together; // a ring for each producer, one thread for the stages of all
mod wiring; // the five topologies over a ring

use std::time::Duration;

use clap::ValueEnum;
use lapwing::Builder;
use lapwing::producer::Sequencer;
use lapwing::wait::{Blocking, BusySpin, PhasedBackoff, Sleeping, Yielding};

pub(crate) use self::setting::{PlacementName, Setting};
use self::wiring::Wiring;
use super::contender::{Contender, Shares};
use crate::load::event::{PAD_8, PAD_32, PAD_64, PAD_256};
use crate::load::exchange::Exchange;
use crate::load::paced::{Pace, Paced};
use crate::load::sharing::Sharing;
use crate::load::topologies::Topology;
use crate::load::workload::{EventBytes, Workload};
use crate::measure::crew::RunError;
use crate::measure::run::Pass;

/// Spins for as long as `Blocking` yields, then yields for as long as `Adaptive` does.
const PHASED_BACKOFF: PhasedBackoff<Blocking> =
    PhasedBackoff::new(Duration::from_micros(5), Duration::from_micros(50), Blocking { yields: 0 });

/// A wait strategy on the command line, for Lapwing's consumers and producers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WaitName {
    /// Spins for a moment, yields for a while, then parks.
    Adaptive,
    /// Spins without end.
    BusySpin,
    /// Spins for a moment, then yields the CPU without end.
    Yielding,
    /// Spins, yields, then sleeps for short times.
    Sleeping,
    /// Parks until woken.
    Blocking,
    /// Spins for 5 µs, yields for 50 µs, then parks.
    PhasedBackoff,
}

impl WaitName {
    /// All of them.
    pub(crate) const ALL: [Self; 6] = [
        Self::Adaptive,
        Self::BusySpin,
        Self::Yielding,
        Self::Sleeping,
        Self::Blocking,
        Self::PhasedBackoff,
    ];

    /// The name on the command line and in every report.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Adaptive => "adaptive",
            Self::BusySpin => "busy-spin",
            Self::Yielding => "yielding",
            Self::Sleeping => "sleeping",
            Self::Blocking => "blocking",
            Self::PhasedBackoff => "phased-backoff",
        }
    }

    /// Lets every consumer and every producer of `builder` wait in this way.
    fn applied_to<'env, E, S>(self, builder: Builder<'env, E, S>) -> Builder<'env, E, S>
    where
        E: Send + 'env,
        S: Sequencer,
    {
        match self {
            Self::Adaptive => builder, // the default, whatever a builder has by itself
            Self::BusySpin => builder.wait(BusySpin).producer_wait(BusySpin),
            Self::Yielding => builder.wait(Yielding::default()).producer_wait(Yielding::default()),
            Self::Sleeping => builder.wait(Sleeping::default()).producer_wait(Sleeping::default()),
            Self::Blocking => builder.wait(Blocking::default()).producer_wait(Blocking::default()),
            Self::PhasedBackoff => builder.wait(PHASED_BACKOFF).producer_wait(PHASED_BACKOFF),
        }
    }
}

/// The contender with this `setting`.
pub(super) fn contender(setting: Setting) -> Box<dyn Contender> {
    Box::new(Lapwing { setting })
}

/// Every topology over one ring.
struct Lapwing {
    setting: Setting,
}

impl Contender for Lapwing {
    fn name(&self) -> &'static str {
        "lapwing"
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

impl Shares for Lapwing {
    fn share(&self, sharing: &Sharing) -> Result<Pass, RunError> {
        sharing::run(self.setting, sharing)
    }
}
