//! Unicast, 1P-1C: the consumer folds every event.
//!
//! ```text
//! P1 --> EP1
//! ```

use crate::load::event::Event;
use crate::load::fold::Fold;
use crate::load::queue::Queue;
use crate::load::topologies::arcs;
use crate::load::workload::Workload;
use crate::measure::crew::{Answers, Crew, Finish, RunError};

/// Returns the consumer's answer.
pub(crate) fn expected<const PAD: usize>(events: u32) -> Answers {
    let mut fold = Fold::new();
    for value in 0..events {
        fold.add(Event::<PAD>::new(value, 0).digest());
    }
    vec![fold.answer()]
}

/// Runs over one queue.
pub(super) fn over_queues<Q: Queue, const PAD: usize>(
    queue: Q,
    workload: &Workload,
) -> Result<Finish, RunError> {
    let events = workload.events;
    let (sender, mut receiver) = queue.one_to_one::<Event<PAD>>(workload.ring);
    let mut senders = [sender];

    let mut crew = Crew::new(workload.placement);
    crew.enlist("producer", move || arcs::produce::<Q, PAD>(&mut senders, events, 0));
    crew.enlist("consumer", move || arcs::consume::<Q, PAD>(&mut receiver, events));
    crew.run()
}
