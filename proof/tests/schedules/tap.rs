//! A tap of two slots, its writer as a stage, and two readers that may miss events. Five threads.
//!
//! An entry is copied in one step here. What a copy overlaps with is the subject of the models.

use lapwing::tap::{TapReader, tap};
use lapwing::{Disruptor, Sequence};
use shuttle::thread;

use crate::explore::{PARK, explore};

/// The value of the event with `sequence`.
fn value(sequence: Sequence) -> u64 {
    sequence * 7 + 1
}

/// Reads until the tap is closed. Returns the number of received and of missed events.
fn read(mut reader: TapReader<u64>) -> u64 {
    let mut next = 0;
    for reading in reader.by_ref() {
        assert_eq!(reading.event, value(reading.sequence));
        assert_eq!(reading.sequence, next + reading.missed);
        next = reading.sequence + 1;
    }
    reader.received() + reader.missed()
}

#[test]
fn tap_with_two_readers() {
    explore("tap", || {
        let (writer, reader) = tap::<u64>(2).unwrap();
        let (mut producer, consumers) = Disruptor::single_producer(2, || 0_u64)
            .wait_strategy(PARK)
            .producer_wait_strategy(PARK)
            .stage("tap")
            .read_handler(writer)
            .build()
            .unwrap();
        let readers = [reader.clone(), reader].map(|reader| thread::spawn(move || read(reader)));
        let running = consumers.start().unwrap();
        let feed = thread::spawn(move || {
            for sequence in 0..6 {
                assert_eq!(producer.publish(|event| *event = value(sequence)), Ok(sequence));
            }
        });
        feed.join().unwrap();
        running.join().unwrap();
        for reader in readers {
            assert_eq!(reader.join().unwrap(), 6, "each event is received or missed");
        }
    });
}
