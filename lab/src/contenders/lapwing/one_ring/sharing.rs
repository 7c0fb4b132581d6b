//! Each event to one of the workers of a group, over a ring for several producers. A single
//! producer and a single worker use the same ring, so that all cells of a table run the same
//! program.

use crossbeam_utils::CachePadded;

use super::crew::{self, Feed};
use super::library::error::BuildError;
use super::library::producer::Multi;
use super::library::{Disruptor, MultiProducer};
use super::setting;
use crate::contenders::Setting;
use crate::load::sharing::{self, Checksum, Sharing};
use crate::measure::crew::{Answers, Disconnected, Finish, RunError};
use crate::measure::run::Pass;
use crate::rings::tally::Tally;

/// Shares the events of `sharing` once.
///
/// # Errors
///
/// [`RunError`] if the ring could not be built or a worker did not complete.
pub(super) fn run(setting: Setting, sharing: &Sharing) -> Result<Pass, RunError> {
    let consumers = sharing.crowd.consumers as usize;
    let mut tallies = (0..consumers).map(|_| Tally::<Checksum>::new()).collect::<Vec<_>>();
    let mut untaken = tallies.iter_mut();
    let builder = Disruptor::multi_producer(sharing.ring, u64::default);
    let producers = sharing.crowd.producers as usize;
    let (producer, consumers) = setting::applied(setting, builder, producers)
        .stage("consumer")
        .workers(consumers)
        .read(|_| {
            let tally = untaken.next().expect("there is one for each worker");
            move |event: &u64, _, end_of_batch| {
                tally.answer.add(*event);
                tally.count(end_of_batch);
            }
        })
        .build()
        .map_err(|error: BuildError| RunError::Build(error.to_string()))?;

    let feeds = (0..sharing.crowd.producers).map(|origin| feed(producer.clone(), sharing, origin));
    let feeds = feeds.collect();
    drop(producer); // only the feeds keep the ring open
    let finish = crew::run(feeds, consumers, sharing.placement)?;
    Ok(pass(finish, sharing.events, &tallies))
}

/// Creates the producer numbered `origin`, which publishes one event at a time.
fn feed<'a>(producer: MultiProducer<u64>, sharing: &Sharing, origin: u32) -> Feed<'a, u64, Multi> {
    let share = sharing.share(origin);
    Feed::new("producer", producer, move |producer| {
        (0..share).try_for_each(|number| {
            let published = producer.publish(|event| *event = sharing::event(origin, number));
            published.map(drop).map_err(|_| Disconnected)
        })
    })
}

/// Returns the pass of a run with this `finish`, of workers with these `tallies`.
fn pass(finish: Finish, events: u32, tallies: &[CachePadded<Tally<Checksum>>]) -> Pass {
    let answers = tallies.iter().flat_map(|tally| tally.answer.answers()).collect::<Answers>();
    let batches = tallies.iter().map(|tally| tally.batches).sum::<u64>();
    Pass::in_batches(finish, Checksum::total(&answers), events, &[batches])
}
