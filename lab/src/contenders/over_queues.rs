//! A rival queue as a contender: one queue for each arc of a topology.

use super::contender::{Contender, Entry, Shares};
use crate::load::exchange::{self, Exchange};
use crate::load::paced::{self, Pace, Paced};
use crate::load::queue::Queue;
use crate::load::sharing::{self, Sharing};
use crate::load::topologies::Topology;
use crate::load::workload::Workload;
use crate::measure::crew::RunError;
use crate::measure::run::Pass;

/// Returns the contender with a queue of kind `Q` for each arc.
pub(super) fn entry<Q: Queue + Default>() -> Entry {
    Entry::only(Box::new(OverQueues(Q::default())))
}

/// Every topology over one kind of queue.
struct OverQueues<Q>(Q);

impl<Q: Queue> Contender for OverQueues<Q> {
    fn name(&self) -> &'static str {
        Q::NAME
    }

    fn wait(&self) -> &'static str {
        Q::WAIT
    }

    fn run(&self, topology: Topology, workload: &Workload) -> Result<Pass, RunError> {
        topology.over_queues(self.0, workload).map(Pass::one_by_one)
    }

    fn ping_pong(&self, slots: usize, exchange: Exchange) -> Result<Pass, RunError> {
        let (mut there, mut numbers) = self.0.one_to_one::<u64>(slots);
        let (mut back, mut answers) = self.0.one_to_one::<u64>(slots);
        let call = move |number| {
            Q::send(&mut there, number)?;
            Q::receive(&mut answers)
        };
        let echo = move |_| Q::send(&mut back, Q::receive(&mut numbers)?);
        exchange::run(exchange, call, echo)
    }

    fn paced(&self, pace: &Pace) -> Result<Paced, RunError> {
        paced::over_queues(self.0, pace)
    }

    fn sharing(&self) -> Option<&dyn Shares> {
        Some(self)
    }
}

impl<Q: Queue> Shares for OverQueues<Q> {
    fn share(&self, sharing: &Sharing) -> Result<Pass, RunError> {
        sharing::over_queues(self.0, sharing).map(Pass::one_by_one)
    }
}
