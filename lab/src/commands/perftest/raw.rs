//! Sequences only: a ring of events without content. It is LMAX's upper bound.
//!
//! ```text
//! P1 --> EP1
//! ```

use lapwing::SingleProducer;
use lapwing::error::RingError;

use super::parts::{polled, publish_each};
use super::test::{Load, PerfTest, Work};
use super::value::BATCH;
use crate::measure::crew::{Disconnected, RunError};
use crate::measure::run::Pass;

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
        run(load, |producer| publish_each(producer, load.events, |(), _| {}))
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

/// Runs one thread that publishes by `publish_all` and another that waits and releases the available events.
fn run(
    load: Load,
    publish_all: impl FnMut(&mut SingleProducer<()>) -> Result<(), Disconnected> + Send,
) -> Result<Pass, RunError> {
    polled(
        load,
        || (),
        publish_all,
        |poller, batches| {
            let mut seen = 0;
            loop {
                match poller.wait() {
                    Ok(mut batch) => {
                        seen += batch.len() as u64;
                        batch.consume_all();
                        *batches += 1;
                    }
                    Err(RingError::Closed) => return Ok(seen),
                    Err(RingError::Halted(_)) => return Err(Disconnected),
                }
            }
        },
    )
}
