//! Many producers: several threads publish to one ring, each through its own clone.
//!
//! ```text
//! producer 1 ──┐
//! producer 2 ──┤
//! producer 3 ──┼──> [ring] ──> ledger
//! producer 4 ──┘
//! ```
//!
//! The order between producers is arbitrary. The events of each producer stay in order, and none is
//! lost or delivered twice.

use std::error::Error;
use std::thread;

use lapwing::error::PublishError;
use lapwing::{Disruptor, MultiProducer};

const PRODUCERS: usize = 4;
const EVENTS_PER_PRODUCER: u64 = 10_000;

#[derive(Default)]
struct Entry {
    producer: usize,
    number: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    // For each producer, the next number that the ledger expects.
    let mut next = [0_u64; PRODUCERS];

    let (producer, consumers) = Disruptor::multi_producer(1024, Entry::default)
        .stage("ledger")
        .read(|entry, _, _| {
            assert_eq!(
                entry.number, next[entry.producer],
                "out of order: producer={}",
                entry.producer
            );
            next[entry.producer] += 1;
        })
        .build()?;

    thread::scope(move |scope| -> Result<(), Box<dyn Error>> {
        let running = consumers.start_scoped(scope)?;
        let publishers: Vec<_> = (0..PRODUCERS)
            .map(|id| {
                let producer = producer.clone();
                scope.spawn(move || publish_all(producer, id))
            })
            .collect();
        for publisher in publishers {
            publisher.join().map_err(|_| "a publishing thread panicked")??;
        }
        running.shutdown()?;
        Ok(())
    })?;

    println!(
        "{PRODUCERS} producers, {EVENTS_PER_PRODUCER} events each: all received, each in order"
    );
    assert_eq!(next, [EVENTS_PER_PRODUCER; PRODUCERS]);
    Ok(())
}

fn publish_all(mut producer: MultiProducer<Entry>, id: usize) -> Result<(), PublishError> {
    for number in 0..EVENTS_PER_PRODUCER {
        producer.publish(|entry| {
            entry.producer = id;
            entry.number = number;
        })?;
    }
    Ok(())
}
