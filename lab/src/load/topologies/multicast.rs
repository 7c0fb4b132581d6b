//! Multicast, 1P-3C: each of three consumers folds every event.
//!
//! ```text
//!     +--> EP1
//! P1 -+--> EP2
//!     +--> EP3
//! ```

use crate::load::event::Event;
use crate::load::queue::Queue;
use crate::load::topologies::{arcs, unicast};
use crate::load::workload::Workload;
use crate::measure::crew::{Answers, Crew, Finish, RunError};

/// Consumers of every event, by name.
pub(crate) const CONSUMERS: [&str; 3] = ["consumer-1", "consumer-2", "consumer-3"];

/// Returns the answers of the three consumers. Each reads what a unicast consumer reads.
pub(crate) fn expected<const PAD: usize>(events: u32) -> Answers {
    unicast::expected::<PAD>(events).repeat(CONSUMERS.len())
}

/// Runs over three queues. The producer sends every event three times.
pub(super) fn over_queues<Q: Queue, const PAD: usize>(
    queue: Q,
    workload: &Workload,
) -> Result<Finish, RunError> {
    let events = workload.events;
    let mut senders = Vec::with_capacity(CONSUMERS.len());

    let mut crew = Crew::new(workload.placement);
    for consumer in CONSUMERS {
        let (sender, mut receiver) = queue.one_to_one::<Event<PAD>>(workload.ring);
        senders.push(sender);
        crew.enlist(consumer, move || arcs::consume::<Q, PAD>(&mut receiver, events));
    }
    crew.enlist("producer", move || arcs::produce::<Q, PAD>(&mut senders, events, 0));
    crew.run()
}
