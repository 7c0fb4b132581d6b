//! What several tests do: publish event after event, and run one producer beside one consumer, which handles or polls.

use lapwing::producer::{Sequencer, Single};
use lapwing::wait::Yielding;
use lapwing::{Builder, Disruptor, Poller, Producer, SingleProducer};

use super::test::Load;
use crate::measure::crew::{Crew, Disconnected, RunError};
use crate::measure::run::Pass;
use crate::rings::crew::{self, Feed};
use crate::rings::tally::Tally;

/// Returns the builder of a ring for one producer, without stages, whose consumers yield.
pub(super) fn ring<'env, E: Send + 'env>(
    load: Load,
    factory: impl FnMut() -> E + 'env,
) -> Builder<'env, E, Single> {
    Disruptor::single_producer(load.ring, factory).wait_strategy(Yielding::default())
}

/// Claims one event after the other, writes it by `write`, which also gets its number, and publishes it.
pub(super) fn publish_each<E, S: Sequencer>(
    producer: &mut Producer<E, S>,
    events: u32,
    mut write: impl FnMut(&mut E, u64),
) -> Result<(), Disconnected> {
    for number in 0..u64::from(events) {
        let mut claim = producer.claim().map_err(|_| Disconnected)?;
        write(&mut claim, number);
        claim.publish().map_err(|_| Disconnected)?;
    }
    Ok(())
}

/// Runs one thread that publishes by `publish_all`, and a handler that adds each event to a sum by `add`.
pub(super) fn handled<E: Send + Sync>(
    load: Load,
    factory: impl FnMut() -> E,
    mut publish_all: impl FnMut(&mut SingleProducer<E>) -> Result<(), Disconnected> + Send,
    add: impl Fn(u64, &E) -> u64 + Send + Sync,
) -> Result<Pass, RunError> {
    let mut sum = Tally::<u64>::new();
    let (producer, consumers) = ring(load, factory)
        .stage("consumer")
        .read(|event, _, end_of_batch| {
            sum.answer = add(sum.answer, event);
            sum.count(end_of_batch);
        })
        .build()
        .map_err(RunError::refused)?;
    let feed = Feed::new("producer", producer, |producer| publish_all(producer));
    let finish = crew::run(vec![feed], consumers, load.placement)?;
    Ok(Pass::in_batches(finish, vec![sum.answer], load.events, &[sum.batches]))
}

/// Runs one thread that publishes by `publish_all`, and one that polls by `receive_all`, which counts the batches and
/// returns the answer.
pub(super) fn polled<E: Send + Sync>(
    load: Load,
    factory: impl FnMut() -> E,
    mut publish_all: impl FnMut(&mut SingleProducer<E>) -> Result<(), Disconnected> + Send,
    mut receive_all: impl FnMut(&mut Poller<E>, &mut u64) -> Result<u64, Disconnected> + Send,
) -> Result<Pass, RunError> {
    let built = ring(load, factory).stage("consumer").poller().build();
    let (producer, mut consumers) = built.map_err(RunError::refused)?;
    let mut poller = consumers.take_poller("consumer").map_err(RunError::refused)?;

    let mut batches = 0;
    let mut crew = Crew::new(load.placement);
    let feed = Feed::new("producer", producer, |producer| publish_all(producer));
    crew::enlist(&mut crew, vec![feed]);
    let counted = &mut batches;
    // If the job fails, the poller is dropped with it, so that the producer does not wait for it.
    crew.enlist("consumer", move || Ok(vec![receive_all(&mut poller, counted)?]));
    let finish = crew.run()?;
    let answers = finish.answers.clone();
    Ok(Pass::in_batches(finish, answers, load.events, &[batches]))
}
