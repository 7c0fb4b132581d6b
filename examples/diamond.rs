//! Diamond: two stages run in parallel, and a third one depends on both.
//!
//! ```text
//!                      ┌──> fizz ──┐
//! producer ──> [ring] ─┤           ├──> fizzbuzz
//!                      └──> buzz ──┘
//! ```
//!
//! Parallel stages share each event as `&Number`, so the fields that they write are atomic.
//! `Relaxed` suffices: `fizzbuzz` waits for the sequences of both stages, and that makes their
//! stores visible.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use lapwing::Disruptor;

const NUMBERS: u64 = 3_000;

#[derive(Default)]
struct Number {
    value: u64,
    fizz: AtomicBool,
    buzz: AtomicBool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut both = 0_u64;

    let (mut producer, consumers) = Disruptor::single_producer(256, Number::default)
        .parallel(|parallel| {
            parallel
                .stage("fizz")
                .read(|number, _, _| number.fizz.store(number.value % 3 == 0, Relaxed))
                .stage("buzz")
                .read(|number, _, _| number.buzz.store(number.value % 5 == 0, Relaxed))
        })
        .stage("fizzbuzz")
        .read(|number, _, _| {
            if number.fizz.load(Relaxed) && number.buzz.load(Relaxed) {
                both += 1;
            }
        })
        .build()?;

    // Scoped threads may borrow, so `fizzbuzz` counts directly in `both`. The closure owns the
    // producer: if it returns early, the producer is dropped, which closes the ring and ends the
    // threads.
    thread::scope(move |scope| -> Result<(), Box<dyn Error>> {
        let running = consumers.start_scoped(scope)?;
        for value in 1..=NUMBERS {
            producer.publish(|number| number.value = value)?;
        }
        running.shutdown()?;
        Ok(())
    })?;

    println!("{both} of the numbers 1 to {NUMBERS} are fizz and buzz");
    assert_eq!(both, NUMBERS / 15);
    Ok(())
}
