//! Threads for the ends of a ring of Lapwing: they start together, the ring closes after the last event,
//! and it is freed after the clock has stopped.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lapwing::{Consumer, Consumers, Outcome, Producer, Sequencer};

use crate::machine::placement::Placement;
use crate::measure::crew::{Answers, Crew, Disconnected, Finish, RunError};

/// What a producer does between the start and its end.
type PublishAll<'a, E, S> =
    Box<dyn FnMut(&mut Producer<E, S>) -> Result<(), Disconnected> + Send + 'a>;

/// A producer and what it publishes.
pub(crate) struct Feed<'a, E, S: Sequencer> {
    /// The worker's name.
    name: &'static str,
    /// The end of the ring.
    producer: Producer<E, S>,
    /// Publishes every event; called once.
    publish_all: PublishAll<'a, E, S>,
}

impl<'a, E, S: Sequencer> Feed<'a, E, S> {
    /// The worker `name`, whose `publish_all` is called once.
    pub(crate) fn new(
        name: &'static str,
        producer: Producer<E, S>,
        publish_all: impl FnMut(&mut Producer<E, S>) -> Result<(), Disconnected> + Send + 'a,
    ) -> Self {
        Self { name, producer, publish_all: Box::new(publish_all) }
    }
}

/// Runs every feed and every consumer of a ring to the end; the answers stand in the consumers' tallies.
///
/// # Errors
///
/// [`RunError`] if a worker could not start or did not come to its end.
pub(crate) fn run<'a, E: Send + Sync + 'a, S: Sequencer + Send + 'a>(
    feeds: Vec<Feed<'a, E, S>>,
    consumers: Consumers<'a, E>,
    placement: Placement,
) -> Result<Finish, RunError> {
    let mut crew = Crew::new(placement);
    enlist(&mut crew, feeds);
    for consumer in consumers {
        let name = consumer.name().to_owned();
        let mut unstarted = Some(consumer);
        crew.enlist(name, move || unstarted.take().map_or(Err(Disconnected), consume));
    }
    crew.run()
}

/// Adds the `feeds` of one ring to `crew`; the last that is done closes the ring.
pub(crate) fn enlist<'a, E: Send + Sync + 'a, S: Sequencer + Send + 'a>(
    crew: &mut Crew<'a>,
    feeds: Vec<Feed<'a, E, S>>,
) {
    let publishing = Arc::new(AtomicUsize::new(feeds.len()));
    for mut feed in feeds {
        let publishing = Arc::clone(&publishing);
        crew.enlist(feed.name, move || {
            (feed.publish_all)(&mut feed.producer)?;
            // AcqRel: the last producer comes after all that the others published, so its close
            // refuses none of it. Closing, not dropping: the ring is freed after the clock.
            if publishing.fetch_sub(1, Ordering::AcqRel) == 1 {
                feed.producer.close();
            }
            Ok(Answers::new())
        });
    }
}

/// Runs a consumer until its ring is closed and drained. Its answer stands in its tally.
fn consume(consumer: Consumer<'_>) -> Result<Answers, Disconnected> {
    match consumer.run().outcome() {
        Outcome::Drained => Ok(Answers::new()),
        Outcome::Panicked { message, .. } => resume_unwind(Box::new(message.clone())),
        _ => Err(Disconnected),
    }
}

#[cfg(test)]
mod tests {
    use lapwing::Disruptor;

    use super::*;

    #[test]
    fn panic_of_a_consumer_is_reported_while_the_producer_waits_for_a_slot() {
        let (producer, consumers) = Disruptor::single_producer(2, || 0_u32)
            .then("culprit", |_, sequence, _| assert!(sequence < 5, "on purpose"))
            .then("neighbour", |_, _, _| {})
            .build()
            .unwrap();
        let feed = Feed::new("producer", producer, |producer| {
            (0..u32::MAX).try_for_each(|value| {
                producer.publish(|event| *event = value).map(drop).map_err(|_| Disconnected)
            })
        });

        let error = run(vec![feed], consumers, Placement::Free).unwrap_err();
        assert!(
            matches!(&error, RunError::Panicked { worker, message }
                if worker == "culprit" && message == "on purpose"),
            "error={error}"
        );
    }
}
