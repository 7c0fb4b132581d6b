//! Sequencer, 3P-1C: three producers and one consumer. The consumer folds the events of each
//! producer separately, because only the order within one producer is defined.
//!
//! ```text
//! P1 --+
//! P2 --+--> EP1
//! P3 --+
//! ```

use crate::load::event::Event;
use crate::load::fold::Fold;
use crate::load::queue::Queue;
use crate::load::topologies::arcs;
use crate::load::workload::Workload;
use crate::measure::crew::{Answers, Crew, Finish, RunError};

/// The names of the producers. The index is the origin of their events.
pub(crate) const PRODUCERS: [&str; 3] = ["producer-1", "producer-2", "producer-3"];

/// One fold for each producer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FoldPerProducer([Fold; PRODUCERS.len()]);

impl FoldPerProducer {
    /// Adds an event of the producer numbered `origin`.
    ///
    /// # Panics
    ///
    /// Panics if there is no such producer, because then the event is damaged.
    #[inline]
    pub(crate) fn add(&mut self, origin: u8, digest: u64) {
        self.0[usize::from(origin)].add(digest);
    }

    /// Returns one answer per producer.
    pub(crate) fn answers(&self) -> Answers {
        self.0.iter().map(|fold| fold.answer()).collect()
    }
}

/// Returns the number of `events` that the producer numbered `origin` publishes: an equal share,
/// with the remainder spread over the first producers.
pub(crate) fn share(events: u32, origin: u8) -> u32 {
    let producers = PRODUCERS.len() as u32;
    let takes_one_more = u32::from(origin) < events % producers;
    events / producers + u32::from(takes_one_more)
}

/// Returns the origin and the name of each producer.
pub(crate) fn producers() -> impl Iterator<Item = (u8, &'static str)> {
    (0..).zip(PRODUCERS)
}

/// Returns the consumer's answers, one per producer.
pub(crate) fn expected<const PAD: usize>(events: u32) -> Answers {
    let mut folds = FoldPerProducer::default();
    for (origin, _) in producers() {
        for value in 0..share(events, origin) {
            folds.add(origin, Event::<PAD>::new(value, origin).digest());
        }
    }
    folds.answers()
}

/// Runs over one queue that all producers share.
pub(super) fn over_queues<Q: Queue, const PAD: usize>(
    queue: Q,
    workload: &Workload,
) -> Result<Finish, RunError> {
    let events = workload.events;
    let (senders, mut receiver) = queue.bounded::<Event<PAD>>(workload.ring, PRODUCERS.len());

    let mut crew = Crew::new(workload.placement);
    for ((origin, producer), sender) in producers().zip(senders) {
        let mut senders = [sender];
        let share = share(events, origin);
        crew.enlist(producer, move || arcs::produce::<Q, PAD>(&mut senders, share, origin));
    }
    crew.enlist("consumer", move || {
        let mut folds = FoldPerProducer::default();
        for _ in 0..events {
            let message = Q::receive(&mut receiver)?;
            folds.add(message.left(), message.digest());
        }
        Ok(folds.answers())
    });
    crew.run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_all_events() {
        for events in [1, 2, 3, 4, 1_000, u32::MAX] {
            let sum = producers().map(|(origin, _)| u64::from(share(events, origin))).sum::<u64>();
            assert_eq!(sum, u64::from(events));
        }
    }
}
