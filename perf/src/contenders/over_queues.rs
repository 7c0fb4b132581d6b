//! A rival queue as a contender: one queue for each arc of a topology.

use std::marker::PhantomData;

use super::contender::Contender;
use crate::crew::{Crew, RunError};
use crate::queue::{Queue, Receiver, Sender};
use crate::run::Pass;
use crate::topologies::Topology;
use crate::workload::Workload;

/// The contender that puts a queue of kind `Q` at every arc.
pub(super) fn contender<Q: Queue>() -> Box<dyn Contender> {
    Box::new(OverQueues::<Q>(PhantomData))
}

/// Every topology over one kind of queue.
struct OverQueues<Q>(PhantomData<Q>);

impl<Q: Queue> Contender for OverQueues<Q> {
    fn name(&self) -> &'static str {
        Q::NAME
    }

    fn wait(&self) -> &'static str {
        Q::WAIT
    }

    fn run(&self, topology: Topology, workload: &Workload) -> Result<Pass, RunError> {
        topology.over_queues::<Q>(workload).map(Pass::one_by_one)
    }

    fn ping_pong(&self, slots: usize, exchanges: u32) -> Result<Pass, RunError> {
        let (there, numbers) = Q::bounded::<u64>(slots);
        let (back, answers) = Q::bounded::<u64>(slots);
        let mut crew = Crew::new();
        crew.enlist("ping", move || {
            let mut sum = 0;
            for number in 1..=u64::from(exchanges) {
                there.send(number)?;
                sum += answers.receive()?;
            }
            Ok(vec![sum])
        });
        crew.enlist("pong", move || {
            (0..exchanges).try_for_each(|_| back.send(numbers.receive()?))?;
            Ok(Vec::new())
        });
        crew.run().map(Pass::one_by_one)
    }
}
