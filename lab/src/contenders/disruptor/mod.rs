//! The crate `disruptor`: one ring for the whole graph, and a thread per consumer. Handlers and
//! `and_then` make the topologies, as in its documentation. In ping-pong both ends are its pollers,
//! because each end sends and receives.
//!
//! Its limits, and what its users do instead:
//! - A handler receives `&E`, so no step can change an event. The number that a pipeline changes is
//!   an atomic in the event, as is the time stamp of a paced run
//!   ([`SharedEvent`](crate::load::event::SharedEvent)).
//! - `publish` spins on a full ring forever, even if the consumer is gone. `try_publish` in a loop
//!   is as fast, can yield the CPU, and gives up after [`PATIENCE`](outlet::PATIENCE).
//! - Its ring for several producers has at least 64 slots. Smaller ones are refused.

mod cpus; // the CPU of each thread
mod drive; // producers and handlers, from the start to the end
mod finish_line; // the results of handlers, and the end of the last one
mod outlet; // a producer that does not wait forever
mod paced; // timed events through three stages
mod ping_pong; // round trips of a number
mod sharing; // each event to one of several handlers
mod wait; // the wait of its threads
mod wiring; // the five topologies

use self::wait::Wait;
use self::wiring::Wiring;
use super::contender::{Contender, Entry, Shares};
use crate::load::event::{PAD_8, PAD_32, PAD_64, PAD_256};
use crate::load::exchange::Exchange;
use crate::load::paced::{Pace, Paced};
use crate::load::sharing::Sharing;
use crate::load::topologies::Topology;
use crate::load::workload::{EventBytes, Workload};
use crate::measure::crew::RunError;
use crate::measure::run::Pass;

/// The minimum number of slots of a ring for several producers.
const FEWEST_SHARED_SLOTS: usize = 64;

/// Returns the contender with each of its waits.
pub(super) fn entry() -> Entry {
    let each = Wait::ALL.map(|wait| Box::new(Disruptor { wait }) as Box<dyn Contender>);
    Entry::fastest_of(each.into())
}

/// Every topology over one ring.
struct Disruptor {
    /// How consumers wait for events and producers for slots.
    wait: Wait,
}

impl Contender for Disruptor {
    fn name(&self) -> &'static str {
        "disruptor"
    }

    fn wait(&self) -> &'static str {
        self.wait.name()
    }

    fn fewest_slots(&self, topology: Topology) -> usize {
        if topology == Topology::Sequencer { FEWEST_SHARED_SLOTS } else { 1 }
    }

    fn run(&self, topology: Topology, workload: &Workload) -> Result<Pass, RunError> {
        let wiring = Wiring { wait: self.wait, topology, workload };
        match workload.event_bytes {
            EventBytes::B8 => wiring.run::<PAD_8>(),
            EventBytes::B32 => wiring.run::<PAD_32>(),
            EventBytes::B64 => wiring.run::<PAD_64>(),
            EventBytes::B256 => wiring.run::<PAD_256>(),
        }
    }

    fn ping_pong(&self, slots: usize, exchange: Exchange) -> Result<Pass, RunError> {
        ping_pong::run(self.wait, slots, exchange)
    }

    fn paced(&self, pace: &Pace) -> Result<Paced, RunError> {
        paced::run(self.wait, pace)
    }

    fn sharing(&self) -> Option<&dyn Shares> {
        Some(self)
    }
}

impl Shares for Disruptor {
    fn fewest_slots(&self) -> usize {
        FEWEST_SHARED_SLOTS
    }

    fn share(&self, sharing: &Sharing) -> Result<Pass, RunError> {
        sharing::run(self.wait, sharing)
    }
}
