//! Hello: one producer, and one stage on its own thread.
//!
//! ```text
//! producer ──> [ring] ──> print
//! ```
//!
//! The strings are allocated once, when the ring is built. A slot still holds the string of the
//! last lap, so the producer clears it and reuses its memory.

use std::error::Error;

use lapwing::Disruptor;

const NAMES: [&str; 3] = ["plover", "sandpiper", "lapwing"];

fn main() -> Result<(), Box<dyn Error>> {
    // Two slots for three events: the third event reuses the first slot.
    let (mut producer, consumers) = Disruptor::single_producer(2, String::new)
        .stage("print")
        .read(|greeting, sequence, _end_of_batch| {
            println!("event {sequence}: {greeting}");
        })
        .build()?;

    let running = consumers.start()?;
    for name in NAMES {
        producer.publish(|greeting| {
            greeting.clear();
            greeting.push_str("hello, ");
            greeting.push_str(name);
        })?;
    }

    // Closes the ring, lets the stage handle all published events, and joins its thread.
    let report = running.shutdown()?;
    for stage in report.stages() {
        println!("stage {:?} processed {} events", stage.name(), stage.processed());
        assert_eq!(stage.processed(), NAMES.len() as u64);
    }
    Ok(())
}
