//! Journals in graphs: stages, restarts, replays, errors.

mod replay;
mod stages;

use lapwing::{Disruptor, SingleProducer};
use lapwing_journal::faults::SimulatedDisk;
use lapwing_journal::{Journal, Options, Plain};

const SEGMENT_BYTES: u64 = 64 * 1024;

fn open(disk: &SimulatedDisk) -> Journal<u64> {
    let options = Options::new().segment_bytes(SEGMENT_BYTES).prepare_ahead(false);
    options.open_simulated::<u64, Plain>(disk).unwrap()
}

/// Publishes the events `from..end`, each with its sequence as its value.
fn publish(producer: &mut SingleProducer<u64>, from: u64, end: u64) {
    for event in from..end {
        assert_eq!(producer.publish(|slot| *slot = event).unwrap(), event);
    }
}

/// Asserts that the journal has the events below `end`, each once.
fn assert_has(journal: &Journal<u64>, end: u64) {
    let mut next = 0;
    let check = |sequence, event: &u64| {
        assert_eq!((sequence, *event), (next, next));
        next += 1;
    };
    journal.read(0).unwrap().for_each(0, check).unwrap();
    assert_eq!(next, end);
}

/// A ring whose only stage writes, from the journal's end on, with several events.
fn write_in_ring(journal: &Journal<u64>, events: u64) {
    let from = journal.next_sequence();
    let (mut producer, consumers) = Disruptor::single_producer(64, || 0)
        .first_sequence(from)
        .stage("journal")
        .read_batch_handler(journal.writer())
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    publish(&mut producer, from, from + events);
    running.shutdown().unwrap();
}
