//! A ring each: every thread logs to its own ring, and one thread writes the lines of all rings.
//!
//! ```text
//! producer 1 ──> [ring] ──> write-0 ┐
//! producer 2 ──> [ring] ──> write-1 ├─ one thread, in turn
//! producer 3 ──> [ring] ──> write-2 ┘
//! ```
//!
//! The logging threads share no memory word, so together they log several times as much as through
//! one ring (`many_producers`). In return, there is no order between the lines of different
//! threads. The lines of each thread stay in order.

use std::error::Error;
use std::sync::{Arc, Mutex};
use std::thread;

use lapwing::consumer::{Consumer, Outcome};
use lapwing::error::PublishError;
use lapwing::{Disruptor, SingleProducer};

const THREADS: usize = 3;
const LINES_PER_THREAD: u64 = 100_000;

#[derive(Default, Clone, Copy)]
struct Line {
    thread: usize,
    number: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    // The lock is always free: only one thread takes it, once per batch.
    let file = Arc::new(Mutex::new(Vec::new()));
    let (mut producers, mut stages) = (Vec::new(), Vec::new());
    for thread in 0..THREADS {
        let file = Arc::clone(&file);
        let (producer, consumers) = Disruptor::single_producer(4096, Line::default)
            .stage(format!("write-{thread}"))
            .read_batch(move |lines: &[Line], _| {
                file.lock().unwrap().extend_from_slice(lines);
            })
            .build()?;
        producers.push(producer);
        stages.extend(consumers);
    }

    thread::scope(|scope| -> Result<(), Box<dyn Error>> {
        let numbered = producers.into_iter().enumerate();
        let loggers: Vec<_> =
            numbered.map(|(id, producer)| scope.spawn(move || log_all(producer, id))).collect();
        // Runs until each logging thread has dropped its producer and all its lines are written.
        for stage in Consumer::run_together(stages) {
            assert_eq!(*stage.outcome(), Outcome::Drained);
        }
        for logger in loggers {
            logger.join().map_err(|_| "a logging thread panicked")??;
        }
        Ok(())
    })?;

    let mut next = [0; THREADS];
    for line in file.lock().unwrap().iter() {
        assert_eq!(line.number, next[line.thread], "out of order: thread={}", line.thread);
        next[line.thread] += 1;
    }
    println!("{THREADS} threads, {LINES_PER_THREAD} lines each: all written, each in order");
    assert_eq!(next, [LINES_PER_THREAD; THREADS]);
    Ok(())
}

fn log_all(mut producer: SingleProducer<Line>, thread: usize) -> Result<(), PublishError> {
    for number in 0..LINES_PER_THREAD {
        producer.publish(|line| *line = Line { thread, number })?;
    }
    Ok(())
}
