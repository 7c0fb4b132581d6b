//! One producer, one consumer, events of one number each: published singly, in batches, or by a
//! closure; handled or polled.
//!
//! ```text
//! P1 --> EP1
//! ```

use std::thread;

use lapwing::error::PollError;
use lapwing::producer::Sequencer;
use lapwing::{Producer, SingleProducer};

use super::parts::{handled, polled, publish_each};
use super::test::{Load, PerfTest, Work, sum_below};
use crate::measure::crew::{Disconnected, RunError};
use crate::measure::run::Pass;

/// Events per claim in the tests of batches.
pub(super) const BATCH: usize = 10;

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
    work: Work::Throughput(|load| summed(load, |producer| publish_batches(producer, load.events))),
    ..ONE_TO_ONE
};

/// The consumer polls, and yields the CPU after a failed poll.
pub(super) const ONE_TO_ONE_POLLER: PerfTest = PerfTest {
    name: "OneToOneSequencedPollerThroughputTest",
    work: Work::Throughput(summed_by_poller),
    ..ONE_TO_ONE
};

/// Published by a closure that receives the value as an argument.
pub(super) const TRANSLATOR: PerfTest = PerfTest {
    name: "OneToOneTranslatorThroughputTest",
    work: Work::Throughput(|load| {
        summed(load, |producer| {
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

/// Publishes one event after the other. The value of each is its number.
pub(super) fn publish_numbers<S: Sequencer>(
    producer: &mut Producer<u64, S>,
    events: u32,
) -> Result<(), Disconnected> {
    publish_each(producer, events, |value, number| *value = number)
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
    summed(load, |producer| publish_numbers(producer, load.events))
}

/// Runs one thread that publishes by `publish_all` and a handler that adds up.
fn summed(
    load: Load,
    publish_all: impl FnMut(&mut SingleProducer<u64>) -> Result<(), Disconnected> + Send,
) -> Result<Pass, RunError> {
    handled(load, || 0, publish_all, |sum, value| sum + value)
}

/// Runs one thread that publishes and another that polls.
fn summed_by_poller(load: Load) -> Result<Pass, RunError> {
    polled(
        load,
        || 0,
        |producer| publish_numbers(producer, load.events),
        |poller, batches| {
            let mut sum = 0;
            loop {
                match poller.poll() {
                    Ok(mut batch) => {
                        sum += batch.iter().map(|(_, value)| value).sum::<u64>();
                        *batches += 1;
                    }
                    Err(PollError::Empty) => thread::yield_now(),
                    Err(PollError::Closed) => return Ok(sum),
                    Err(PollError::Halted(_)) => return Err(Disconnected),
                }
            }
        },
    )
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
