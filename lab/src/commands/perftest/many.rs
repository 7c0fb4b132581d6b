//! Three producers and one consumer: through one ring that they share, or through a ring each.
//!
//! ```text
//! P1 --+                  P1 --> [ring] --+
//! P2 --+--> EP1           P2 --> [ring] --+--> EP1
//! P3 --+                  P3 --> [ring] --+
//! ```

use std::thread;

use lapwing::error::PollError;
use lapwing::wait::BusySpin;
use lapwing::{Disruptor, MultiProducer, Poller};

use super::parts::{self, publish_each};
use super::test::{Load, PerfTest, Work, sum_below};
use super::value::{publish_batches, publish_numbers, sum_of_batches};
use crate::load::topologies::sequencer::{producers, share};
use crate::measure::crew::{Answers, Crew, Disconnected, RunError};
use crate::measure::run::Pass;
use crate::rings::crew::{self, Feed};
use crate::rings::tally::Tally;

/// Numbers of the arrays of [`THREE_TO_THREE`].
const LONGS: usize = 3;

/// One ring, a claim per event.
pub(super) const THREE_TO_ONE: PerfTest = PerfTest {
    name: "ThreeToOneSequencedThroughputTest",
    shape: "3P-1C",
    threads: 4,
    ring: 65_536,
    wait: "busy-spin",
    event_bytes: 8,
    lmax_events: 20_000_000,
    operations_per_event: 1,
    expected: |events| of_shares(events, sum_below),
    work: Work::Throughput(|load| one_ring(load, publish_numbers)),
};

/// One ring, a claim per ten events.
pub(super) const THREE_TO_ONE_BATCH: PerfTest = PerfTest {
    name: "ThreeToOneSequencedBatchThroughputTest",
    lmax_events: 100_000_000,
    expected: |events| of_shares(events, sum_of_batches),
    work: Work::Throughput(|load| one_ring(load, publish_batches)),
    ..THREE_TO_ONE
};

/// A ring per producer, all polled by one thread. LMAX counts the numbers of each array.
pub(super) const THREE_TO_THREE: PerfTest = PerfTest {
    name: "ThreeToThreeSequencedThroughputTest",
    wait: "yielding",
    event_bytes: LONGS * size_of::<u64>(),
    lmax_events: 180_000_000,
    operations_per_event: LONGS as u32,
    expected: |events| {
        let offsets = (0..LONGS as u64).sum::<u64>();
        of_shares(events, |share| LONGS as u64 * sum_below(share) + offsets * u64::from(share))
    },
    work: Work::Throughput(a_ring_each),
    ..THREE_TO_ONE
};

/// Returns the sum over the shares of all producers.
fn of_shares(events: u32, sum_of_share: impl Fn(u32) -> u64) -> Answers {
    vec![producers().map(|(origin, _)| sum_of_share(share(events, origin))).sum()]
}

fn one_ring(
    load: Load,
    publish_all: fn(&mut MultiProducer<u64>, u32) -> Result<(), Disconnected>,
) -> Result<Pass, RunError> {
    let mut sum = Tally::<u64>::new();
    let (producer, consumers) = Disruptor::multi_producer(load.ring, || 0)
        .wait_strategy(BusySpin)
        .stage("consumer")
        .read(|value, _, end_of_batch| {
            sum.answer += value;
            sum.count(end_of_batch);
        })
        .build()
        .map_err(RunError::refused)?;
    let feeds = producers().map(|(origin, name)| {
        let events = share(load.events, origin);
        Feed::new(name, producer.clone(), move |producer| publish_all(producer, events))
    });
    let feeds = feeds.collect();
    drop(producer); // only the feeds keep the ring open
    let finish = crew::run(feeds, consumers, load.placement)?;
    Ok(Pass::in_batches(finish, vec![sum.answer], load.events, &[sum.batches]))
}

fn a_ring_each(load: Load) -> Result<Pass, RunError> {
    let mut batches = 0;
    let mut crew = Crew::new(load.placement);
    let mut pollers = Vec::new();
    for (origin, name) in producers() {
        let built = parts::ring(load, || [0; LONGS]).stage("consumer").poller().build();
        let (producer, mut consumers) = built.map_err(RunError::refused)?;
        pollers.push(consumers.take_poller("consumer").map_err(RunError::refused)?);
        let events = share(load.events, origin);
        let write = |longs: &mut [u64; LONGS], number| {
            (number..).zip(longs).for_each(|(value, long)| *long = value);
        };
        let feed = Feed::new(name, producer, move |producer| publish_each(producer, events, write));
        crew::enlist(&mut crew, vec![feed]);
    }
    let counted = &mut batches;
    // If the job fails, the pollers are dropped with it, so that no producer waits for them.
    crew.enlist("consumer", move || poll_all(&mut pollers, counted));
    let finish = crew.run()?;
    let answers = finish.answers.clone();
    Ok(Pass::in_batches(finish, answers, load.events, &[batches]))
}

/// Receives the available events of each ring in turn, and yields the CPU after each turn, until
/// all are closed.
fn poll_all(
    pollers: &mut [Poller<[u64; LONGS]>],
    batches: &mut u64,
) -> Result<Answers, Disconnected> {
    let mut sum = 0;
    loop {
        let mut closed = 0;
        for poller in &mut *pollers {
            match poller.poll() {
                Ok(mut batch) => {
                    sum += batch.iter().flat_map(|(_, longs)| longs).sum::<u64>();
                    *batches += 1;
                }
                Err(PollError::Empty) => {}
                Err(PollError::Closed) => closed += 1,
                Err(PollError::Halted(_)) => return Err(Disconnected),
            }
        }
        if closed == pollers.len() {
            return Ok(vec![sum]);
        }
        thread::yield_now();
    }
}
