//! Threads for the ends of a ring: they start together, the ring closes after the last event, and
//! it is freed after the clock has stopped.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lapwing::{Consumer, Consumers, Outcome, Producer, Sequencer};

use crate::crew::{Answers, Crew, Disconnected, Finish, RunError};
use crate::event::Event;
use crate::workload::{Publish, Workload};

/// A producer and what it publishes.
pub(super) struct Feed<const PAD: usize, S: Sequencer> {
    /// The worker's name.
    pub(super) name: &'static str,
    /// The end of the ring.
    pub(super) producer: Producer<Event<PAD>, S>,
    /// The number of this producer, if it is one of several.
    pub(super) origin: Option<u8>,
    /// It publishes the events numbered `0..events`.
    pub(super) events: u32,
}

/// Runs every feed and every consumer to the end, as `workload` says; the answers stand in the consumers'
/// tallies.
///
/// # Errors
///
/// [`RunError`] if a worker could not start or did not come to its end.
pub(super) fn run<const PAD: usize, S: Sequencer + Send>(
    feeds: Vec<Feed<PAD, S>>,
    consumers: Consumers<'_, Event<PAD>>,
    workload: &Workload,
) -> Result<Finish, RunError> {
    let publish = workload.publish;
    let publishing = Arc::new(AtomicUsize::new(feeds.len()));

    let mut crew = Crew::new(workload.placement);
    for mut feed in feeds {
        let publishing = Arc::clone(&publishing);
        crew.enlist(feed.name, move || {
            feed.publish_all(publish)?;
            // AcqRel: the last producer comes after all that the others published, so its close
            // refuses none of it. Closing, not dropping: the ring is freed after the clock.
            if publishing.fetch_sub(1, Ordering::AcqRel) == 1 {
                feed.producer.close();
            }
            Ok(Answers::new())
        });
    }
    for consumer in consumers {
        let name = consumer.name().to_owned();
        let mut unstarted = Some(consumer);
        crew.enlist(name, move || unstarted.take().map_or(Err(Disconnected), consume));
    }
    crew.run()
}

/// Runs a consumer until its ring is closed and drained. Its answer stands in its tally.
pub(super) fn consume(consumer: Consumer<'_>) -> Result<Answers, Disconnected> {
    match consumer.run().outcome() {
        Outcome::Drained => Ok(Answers::new()),
        Outcome::Panicked { message, .. } => resume_unwind(Box::new(message.clone())),
        _ => Err(Disconnected),
    }
}

impl<const PAD: usize, S: Sequencer> Feed<PAD, S> {
    /// Publishes every event.
    fn publish_all(&mut self, publish: Publish) -> Result<(), Disconnected> {
        match publish {
            Publish::One => self.publish_each(),
            Publish::Batch(size) => self.publish_batches(size.get()),
        }
    }

    /// Publishes one event at a time.
    fn publish_each(&mut self) -> Result<(), Disconnected> {
        let origin = self.origin;
        for value in 0..self.events {
            let published = self.producer.publish(|event| write(event, value, origin));
            published.map_err(|_| Disconnected)?;
        }
        Ok(())
    }

    /// Publishes `size` events at a time, fewer at the end.
    fn publish_batches(&mut self, size: usize) -> Result<(), Disconnected> {
        let origin = self.origin;
        let mut next = 0;
        while next < self.events {
            let left = (self.events - next) as usize;
            let published = self.producer.publish_batch(size.min(left), |slots| {
                slots.iter_mut().for_each(|event| {
                    write(event, next, origin);
                    next += 1;
                });
            });
            published.map_err(|_| Disconnected)?;
        }
        Ok(())
    }
}

/// Writes `event` in place.
#[inline]
fn write<const PAD: usize>(event: &mut Event<PAD>, value: u32, origin: Option<u8>) {
    match origin {
        None => event.write(value),
        Some(origin) => event.write_as(value, origin),
    }
}

#[cfg(test)]
mod tests {
    use lapwing::Disruptor;

    use super::*;
    use crate::event::PAD_8;
    use crate::placement::Placement;
    use crate::workload::EventBytes;

    #[test]
    fn panic_of_a_consumer_is_reported_while_the_producer_waits_for_a_slot() {
        let (producer, consumers) = Disruptor::single_producer(2, Event::<PAD_8>::default)
            .then("culprit", |_, sequence, _| assert!(sequence < 5, "on purpose"))
            .then("neighbour", |_, _, _| {})
            .build()
            .unwrap();
        let feed = Feed { name: "producer", producer, origin: None, events: u32::MAX };
        let workload = Workload {
            events: u32::MAX,
            ring: 2,
            event_bytes: EventBytes::B8,
            publish: Publish::One,
            placement: Placement::Free,
        };

        let error = run(vec![feed], consumers, &workload).unwrap_err();
        assert!(
            matches!(&error, RunError::Panicked { worker, message }
                if worker == "culprit" && message == "on purpose"),
            "error={error}"
        );
    }
}
