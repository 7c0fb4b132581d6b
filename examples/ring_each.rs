//! A ring for each: every thread logs into a ring of its own, and one thread writes all of them.
//!
//! ```text
//! P1 --> [ring] <-- write-0 \
//! P2 --> [ring] <-- write-1  > one thread, in turn          arrow: "waits for"
//! P3 --> [ring] <-- write-2 /
//! ```
//!
//! Threads that log share no word with each other, so together they log several times as much as through one ring
//! (`many_producers`). The price is the order: each thread's lines stay in theirs, and between threads there is none.

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
    // Its lock is never waited for: one thread takes it, once a batch.
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
        // Until each logger has dropped its producer, and all that it logged is written.
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
    println!("{THREADS} threads, {LINES_PER_THREAD} lines each: all there, each in order");
    assert_eq!(next, [LINES_PER_THREAD; THREADS]);
    Ok(())
}

fn log_all(mut producer: SingleProducer<Line>, thread: usize) -> Result<(), PublishError> {
    for number in 0..LINES_PER_THREAD {
        producer.publish(|line| *line = Line { thread, number })?;
    }
    Ok(())
}
