//! One producer, one consumer, events of one number each: published singly, in batches, or by a
//! closure; handled or polled.
//!
//! ```text
//! P1 --> EP1
//! ```

use std::thread;

use lapwing::error::PollError;
use lapwing::producer::{Sequencer, Single};
use lapwing::wait::Yielding;
use lapwing::{Builder, Disruptor, Producer, SingleProducer};

use super::BATCH;
use super::test::{Load, PerfTest, Work, sum_below};
use crate::measure::crew::{Crew, Disconnected, RunError};
use crate::measure::run::Pass;
use crate::rings::crew::{self, Feed};
use crate::rings::tally::Tally;

/// A claim per event, in two steps.
pub(super) const ONE_TO_ONE: PerfTest = PerfTest {
    name: "OneToOneSequencedThroughputTest",
    shape: "1P-1C",
    threads: 2,
    ring: 65_536,
    wait: "yielding",
    event_bytes: 8,
    lmax_events: 100_000_000,
    operations_per_event: 1,
    expected: |events| vec![sum_below(events)],
    work: Work::Throughput(one_to_one),
};

/// A claim per ten events, which all have the same value.
pub(super) const ONE_TO_ONE_BATCH: PerfTest = PerfTest {
    name: "OneToOneSequencedBatchThroughputTest",
    lmax_events: 1_000_000_000,
    expected: |events| vec![sum_of_batches(events)],
    work: Work::Throughput(|load| handled(load, |producer| publish_batches(producer, load.events))),
    ..ONE_TO_ONE
};

/// The consumer polls, and yields the CPU after a failed poll.
pub(super) const ONE_TO_ONE_POLLER: PerfTest = PerfTest {
    name: "OneToOneSequencedPollerThroughputTest",
    work: Work::Throughput(polled),
    ..ONE_TO_ONE
};

/// Published by a closure that receives the value as an argument.
pub(super) const TRANSLATOR: PerfTest = PerfTest {
    name: "OneToOneTranslatorThroughputTest",
    work: Work::Throughput(|load| {
        handled(load, |producer| {
            (0..u64::from(load.events)).try_for_each(|argument| {
                let published = producer.publish(|value| *value = argument);
                published.map(drop).map_err(|_| Disconnected)
            })
        })
    }),
    ..ONE_TO_ONE
};

/// Returns the sum of the events of [`publish_batches`].
pub(super) fn sum_of_batches(events: u32) -> u64 {
    let batch = BATCH as u32;
    let (full, rest) = (events / batch, events % batch);
    u64::from(batch) * sum_below(full) + u64::from(full) * u64::from(rest)
}

/// Claims, writes and publishes one event after the other.
pub(super) fn publish_each<S: Sequencer>(
    producer: &mut Producer<u64, S>,
    events: u32,
) -> Result<(), Disconnected> {
    for value in 0..u64::from(events) {
        let mut claim = producer.claim().map_err(|_| Disconnected)?;
        *claim = value;
        claim.publish().map_err(|_| Disconnected)?;
    }
    Ok(())
}

/// Claims, writes and publishes ten events at a time, fewer at the end. The events of a batch have
/// its number.
pub(super) fn publish_batches<S: Sequencer>(
    producer: &mut Producer<u64, S>,
    events: u32,
) -> Result<(), Disconnected> {
    let mut left = events as usize;
    let mut number = 0;
    while left > 0 {
        let count = left.min(BATCH);
        let mut claim = producer.claim_batch(count).map_err(|_| Disconnected)?;
        claim.slots().iter_mut().for_each(|value| *value = number);
        claim.publish().map_err(|_| Disconnected)?;
        left -= count;
        number += 1;
    }
    Ok(())
}

/// Runs [`ONE_TO_ONE`].
///
/// # Errors
///
/// [`RunError`] if the ring could not be built or a worker did not complete.
pub(super) fn one_to_one(load: Load) -> Result<Pass, RunError> {
    handled(load, |producer| publish_each(producer, load.events))
}

/// Creates a ring of numbers, without stages.
fn ring<'env>(load: Load) -> Builder<'env, u64, Single> {
    Disruptor::single_producer(load.ring, || 0).wait(Yielding::default())
}

/// Runs one thread that publishes by `publish_all` and a handler that adds up.
fn handled(
    load: Load,
    mut publish_all: impl FnMut(&mut SingleProducer<u64>) -> Result<(), Disconnected> + Send,
) -> Result<Pass, RunError> {
    let mut sum = Tally::<u64>::new();
    let (producer, consumers) = ring(load)
        .stage("consumer")
        .read(|value, _, end_of_batch| {
            sum.answer += value;
            sum.count(end_of_batch);
        })
        .build()
        .map_err(Load::refused)?;
    let feed = Feed::new("producer", producer, |producer| publish_all(producer));
    let finish = crew::run(vec![feed], consumers, load.placement)?;
    Ok(Pass::in_batches(finish, vec![sum.answer], load.events, &[sum.batches]))
}

/// Runs one thread that publishes and another that polls.
fn polled(load: Load) -> Result<Pass, RunError> {
    let built = ring(load).stage("consumer").poller().build();
    let (producer, mut consumers) = built.map_err(Load::refused)?;
    let mut poller = consumers.take_poller("consumer").map_err(Load::refused)?;

    let mut batches = 0;
    let mut crew = Crew::new(load.placement);
    let feed = Feed::new("producer", producer, |producer| publish_each(producer, load.events));
    crew::enlist(&mut crew, vec![feed]);
    let counted = &mut batches;
    // If the job fails, the poller is dropped with it, so that the producer does not wait for it.
    crew.enlist("consumer", move || {
        let mut sum = 0;
        loop {
            match poller.poll() {
                Ok(mut batch) => {
                    sum += batch.iter().map(|(_, value)| value).sum::<u64>();
                    *counted += 1;
                }
                Err(PollError::Empty) => thread::yield_now(),
                Err(PollError::Closed) => return Ok(vec![sum]),
                Err(PollError::Halted(_)) => return Err(Disconnected),
            }
        }
    });
    let finish = crew.run()?;
    let answers = finish.answers.clone();
    Ok(Pass::in_batches(finish, answers, load.events, &[batches]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_of_batches_is_that_of_a_plain_loop() {
        for events in [1, 9, 10, 11, 29, 30, 1_234] {
            let plain = (0..u64::from(events)).map(|event| event / BATCH as u64).sum::<u64>();
            assert_eq!(sum_of_batches(events), plain, "events={events}");
        }
    }
}
