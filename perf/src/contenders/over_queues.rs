//! A rival queue as a contender: one queue for each arc of a topology.

use std::marker::PhantomData;

use super::contender::{Contender, Shares};
use crate::load::exchange::{self, Exchange};
use crate::load::paced::{self, Pace, Paced};
use crate::load::queue::{Receiver, Sender};
use crate::load::sharing::{SharedQueue, Sharing};
use crate::load::topologies::Topology;
use crate::load::workload::Workload;
use crate::measure::crew::RunError;
use crate::measure::run::Pass;

/// Returns the contender that puts a queue of kind `Q` on every arc.
pub(super) fn contender<Q: SharedQueue>() -> Box<dyn Contender> {
    Box::new(OverQueues::<Q>(PhantomData))
}

/// Every topology over one kind of queue.
struct OverQueues<Q>(PhantomData<Q>);

impl<Q: SharedQueue> Contender for OverQueues<Q> {
    fn name(&self) -> &'static str {
        Q::NAME
    }

    fn wait(&self) -> &'static str {
        Q::WAIT
    }

    fn run(&self, topology: Topology, workload: &Workload) -> Result<Pass, RunError> {
        topology.over_queues::<Q>(workload).map(Pass::one_by_one)
    }

    fn ping_pong(&self, slots: usize, exchange: Exchange) -> Result<Pass, RunError> {
        let (there, numbers) = Q::bounded::<u64>(slots);
        let (back, answers) = Q::bounded::<u64>(slots);
        let call = move |number| {
            there.send(number)?;
            answers.receive()
        };
        exchange::run(exchange, call, move |_| back.send(numbers.receive()?))
    }

    fn paced(&self, pace: &Pace) -> Result<Paced, RunError> {
        paced::over_queues::<Q>(pace)
    }

    fn sharing(&self) -> Option<&dyn Shares> {
        Some(self)
    }
}

impl<Q: SharedQueue> Shares for OverQueues<Q> {
    fn share(&self, sharing: &Sharing) -> Result<Pass, RunError> {
        Q::share(sharing).map(Pass::one_by_one)
    }
}
