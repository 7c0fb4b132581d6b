//! Threads for the ends of a Lapwing ring: one per producer, and the planned threads of the
//! consumers. They start together. The ring closes after the last event and is freed after the
//! clock has stopped.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::library::consumer::{Consumer, Outcome, StageReport};
use super::library::producer::Sequencer;
use super::library::{Consumers, Producer};
use crate::machine::placement::Placement;
use crate::measure::crew::{Answers, Crew, Disconnected, Finish, RunError};

/// The job of a producer between the start and its end.
type PublishAll<'a, E, S> =
    Box<dyn FnMut(&mut Producer<E, S>) -> Result<(), Disconnected> + Send + 'a>;

/// A producer and its job.
pub(crate) struct Feed<'a, E, S: Sequencer> {
    /// The worker's name.
    name: &'static str,
    /// The end of the ring.
    producer: Producer<E, S>,
    /// Publishes every event. Called once.
    publish_all: PublishAll<'a, E, S>,
}

impl<'a, E, S: Sequencer> Feed<'a, E, S> {
    /// Creates the worker `name`. `publish_all` is called once.
    pub(crate) fn new(
        name: &'static str,
        producer: Producer<E, S>,
        publish_all: impl FnMut(&mut Producer<E, S>) -> Result<(), Disconnected> + Send + 'a,
    ) -> Self {
        Self { name, producer, publish_all: Box::new(publish_all) }
    }
}

/// Runs all feeds and consumers of a ring to the end. The answers are in the tallies of the
/// consumers.
///
/// # Errors
///
/// [`RunError`] if a worker could not start or did not complete.
pub(crate) fn run<'a, E: Send + Sync + 'a, S: Sequencer + Send + 'a>(
    feeds: Vec<Feed<'a, E, S>>,
    consumers: Consumers<'a, E>,
    placement: Placement,
) -> Result<Finish, RunError> {
    let mut crew = Crew::new(placement);
    enlist(&mut crew, feeds);
    for (thread, consumers) in by_thread(consumers) {
        enlist_consumers(&mut crew, thread, consumers);
    }
    crew.run()
}

/// Returns the threads that the ring has planned, each with its consumers in the order of the
/// graph.
fn by_thread<E>(consumers: Consumers<'_, E>) -> Vec<(String, Vec<Consumer<'_>>)> {
    let mut threads: Vec<(String, Vec<Consumer<'_>>)> = Vec::new();
    for consumer in consumers {
        let name = consumer.thread().unwrap_or(consumer.name()).to_owned();
        match threads.iter_mut().find(|(thread, _)| *thread == name) {
            Some((_, mates)) => mates.push(consumer),
            None => threads.push((name, vec![consumer])),
        }
    }
    threads
}

/// Adds one `thread` for `consumers` of one or several rings.
pub(crate) fn enlist_consumers<'a>(
    crew: &mut Crew<'a>,
    thread: impl Into<String>,
    consumers: Vec<Consumer<'a>>,
) {
    let mut unstarted = Some(consumers);
    crew.enlist(thread, move || unstarted.take().map_or(Err(Disconnected), consume));
}

/// Adds the `feeds` of one ring to `crew`. The last feed that ends closes the ring.
pub(crate) fn enlist<'a, E: Send + Sync + 'a, S: Sequencer + Send + 'a>(
    crew: &mut Crew<'a>,
    feeds: Vec<Feed<'a, E, S>>,
) {
    let publishing = Arc::new(AtomicUsize::new(feeds.len()));
    for mut feed in feeds {
        let publishing = Arc::clone(&publishing);
        crew.enlist(feed.name, move || {
            (feed.publish_all)(&mut feed.producer)?;
            // AcqRel: the last producer synchronizes with all publications of the others, so its
            // close refuses none of them. The ring is closed but not dropped, because it is freed
            // after the clock stops.
            if publishing.fetch_sub(1, Ordering::AcqRel) == 1 {
                feed.producer.close();
            }
            Ok(Answers::new())
        });
    }
}

/// Runs the consumers of one thread until their ring is closed and drained. Their answers are in
/// their tallies.
fn consume(mut consumers: Vec<Consumer<'_>>) -> Result<Answers, Disconnected> {
    let is_shared = consumers.len() > 1;
    let finished = match consumers.pop() {
        Some(only) if !is_shared => vec![only.run()],
        last => Consumer::run_together(consumers.into_iter().chain(last)),
    };
    let panic = finished.iter().find_map(|end| match end.outcome() {
        Outcome::Panicked { message, .. } => Some((end.name(), message.clone())),
        _ => None,
    });
    match panic {
        // The worker has the name of the thread. On a shared thread, the message names the
        // consumer.
        Some((name, message)) if is_shared => resume_unwind(Box::new(format!("{name}: {message}"))),
        Some((_, message)) => resume_unwind(Box::new(message)),
        None if finished.iter().all(is_drained) => Ok(Answers::new()),
        None => Err(Disconnected),
    }
}

fn is_drained(end: &StageReport) -> bool {
    *end.outcome() == Outcome::Drained
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::thread;

    use super::super::library::Disruptor;
    use super::super::library::graph::Placement as OfStages;
    use super::*;

    /// Returns the error of a ring with such a placement whose first consumer panics while its
    /// producer waits for a slot.
    fn error_of_a_panic(placement: OfStages) -> RunError {
        let (producer, consumers) = Disruptor::single_producer(2, || 0_u32)
            .placement(placement)
            .stage("culprit")
            .read(|_, sequence, _| assert!(sequence < 5, "on purpose"))
            .stage("neighbour")
            .read(|_, _, _| {})
            .build()
            .unwrap();
        let feed = Feed::new("producer", producer, |producer| {
            (0..u32::MAX).try_for_each(|value| {
                producer.publish(|event| *event = value).map(drop).map_err(|_| Disconnected)
            })
        });

        run(vec![feed], consumers, Placement::Free).unwrap_err()
    }

    #[test]
    fn panic_of_a_consumer_is_reported_while_the_producer_waits_for_a_slot() {
        let error = error_of_a_panic(OfStages::thread_per_stage());
        assert!(
            matches!(&error, RunError::Panicked { worker, message }
                if worker == "culprit" && message == "on purpose"),
            "error={error}"
        );
    }

    #[test]
    fn panic_on_a_thread_that_others_share_says_whose_it_was() {
        let error = error_of_a_panic(OfStages::threads(1));
        assert!(
            matches!(&error, RunError::Panicked { worker, message }
                if worker == "ring-0" && message == "culprit: on purpose"),
            "error={error}"
        );
    }

    #[test]
    fn consumers_run_on_the_threads_that_the_ring_has_planned() {
        let place = || Mutex::new(String::new());
        let places = [place(), place(), place()];
        let note = |place: &Mutex<String>| {
            let thread = thread::current();
            *place.lock().unwrap() = thread.name().unwrap_or_default().to_owned();
        };
        let (producer, consumers) = Disruptor::single_producer(2, || 0_u32)
            .placement(OfStages::threads(2))
            .stage("first")
            .read(|_, _, _| note(&places[0]))
            .stage("second")
            .read(|_, _, _| note(&places[1]))
            .stage("third")
            .read(|_, _, _| note(&places[2]))
            .build()
            .unwrap();
        let feed = Feed::new("producer", producer, |producer| {
            producer.publish(|_| {}).map(drop).map_err(|_| Disconnected)
        });
        run(vec![feed], consumers, Placement::Free).unwrap();
        let names = places.map(|place| place.into_inner().unwrap());
        assert_eq!(names, ["ring-0", "ring-0", "third"]);
    }
}
