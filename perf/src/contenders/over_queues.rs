//! A rival queue as a contender: one queue for each arc of a topology.

use std::marker::PhantomData;

use super::contender::Contender;
use crate::crew::RunError;
use crate::queue::Queue;
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
        let finish = topology.over_queues::<Q>(workload)?;
        Ok(Pass { elapsed: finish.elapsed, answers: finish.answers, events_per_batch: 1.0 })
    }
}
