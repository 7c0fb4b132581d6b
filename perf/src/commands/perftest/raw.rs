//! Sequences only: a ring of events without content. It is LMAX's upper bound.
//!
//! ```text
//! P1 --> EP1
//! ```

use lapwing::error::RingError;
use lapwing::wait::Yielding;
use lapwing::{Disruptor, SingleProducer};

use super::BATCH;
use super::test::{Load, PerfTest, Work};
use crate::measure::crew::{Crew, Disconnected, RunError};
use crate::measure::run::Pass;
use crate::rings::crew::{self, Feed};

/// A claim per event.
pub(super) const ONE_TO_ONE: PerfTest = PerfTest {
    name: "OneToOneRawThroughputTest",
    shape: "1P-1C",
    threads: 2,
    ring: 65_536,
    wait: "yielding",
    event_bytes: 0,
    lmax_events: 200_000_000,
    operations_per_event: 1,
    expected: |events| vec![u64::from(events)],
    work: Work::Throughput(|load| {
        run(load, |producer| {
            (0..load.events).try_for_each(|_| {
                let claimed = producer.claim().map_err(|_| Disconnected)?;
                claimed.publish().map(drop).map_err(|_| Disconnected)
            })
        })
    }),
};

/// A claim per ten events.
pub(super) const ONE_TO_ONE_BATCH: PerfTest = PerfTest {
    name: "OneToOneRawBatchThroughputTest",
    lmax_events: 2_000_000_000,
    work: Work::Throughput(|load| {
        run(load, |producer| {
            let mut left = load.events as usize;
            while left > 0 {
                let count = left.min(BATCH);
                let claimed = producer.claim_batch(count).map_err(|_| Disconnected)?;
                claimed.publish().map_err(|_| Disconnected)?;
                left -= count;
            }
            Ok(())
        })
    }),
    ..ONE_TO_ONE
};

/// Runs one thread that publishes by `publish_all` and another that waits and releases the
/// available events.
fn run(
    load: Load,
    mut publish_all: impl FnMut(&mut SingleProducer<()>) -> Result<(), Disconnected> + Send,
) -> Result<Pass, RunError> {
    let builder = Disruptor::single_producer(load.ring, || ()).wait(Yielding::default());
    let built = builder.stage("consumer").poller().build();
    let (producer, mut consumers) = built.map_err(Load::refused)?;
    let mut poller = consumers.take_poller("consumer").map_err(Load::refused)?;

    let mut batches = 0;
    let mut crew = Crew::new(load.placement);
    crew::enlist(
        &mut crew,
        vec![Feed::new("producer", producer, |producer| publish_all(producer))],
    );
    let counted = &mut batches;
    // If the job fails, the poller is dropped with it, so that the producer does not wait for it.
    crew.enlist("consumer", move || {
        let mut seen = 0;
        loop {
            match poller.wait() {
                Ok(mut batch) => {
                    seen += batch.len() as u64;
                    batch.consume_all();
                    *counted += 1;
                }
                Err(RingError::Closed) => return Ok(vec![seen]),
                Err(RingError::Halted(_)) => return Err(Disconnected),
            }
        }
    });
    let finish = crew.run()?;
    let answers = finish.answers.clone();
    Ok(Pass::in_batches(finish, answers, load.events, &[batches]))
}
