//! Hello: one producer, one stage on a thread of its own.
//!
//! ```text
//! P1 --> [ring] <-- print          arrow: "waits for"
//! ```
//!
//! The ring's strings are made once, when it is built. A slot still holds the string of a lap ago,
//! so publishing clears it and writes into the room that it already has.

use std::error::Error;

use lapwing::Disruptor;

const NAMES: [&str; 3] = ["plover", "sandpiper", "lapwing"];

fn main() -> Result<(), Box<dyn Error>> {
    // Two slots for three events: the third one laps the ring.
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

    // Closes the ring, lets the stage finish what was published, joins its thread.
    let report = running.shutdown()?;
    for stage in report.stages() {
        println!("stage {:?} processed {} events", stage.name(), stage.processed());
        assert_eq!(stage.processed(), NAMES.len() as u64);
    }
    Ok(())
}
