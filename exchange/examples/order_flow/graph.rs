//! The parts on a ring, one thread each.
//!
//! ```text
//!                                       ┌──> journal
//! producer ──> [ring] ──> parse (&mut) ─┼──> book
//!                                       ├──> tape
//!                                       └──> bad lines
//! ```
//!
//! The producer copies raw lines into the slots. `parse` has exclusive access and turns each line
//! into a message in place. The four downstream stages read the same slot in parallel. The slowest
//! of the four holds back the producer.

use std::error::Error;
use std::io::{BufRead, Write};
use std::thread;

use lapwing::{Disruptor, SingleProducer};

use super::bad_lines::BadLines;
use super::figures::Figures;
use super::journal::Journal;
use super::order_book::OrderBook;
use super::tape::Tape;
use exchange::flows::lobster::lines::Lines;
use exchange::flows::lobster::message::{Message, MessageError};

/// Slots of the ring.
const CAPACITY: usize = 1024;

/// An event: a line, and its message after `parse`. Slots are reused, and so is the memory of
/// `text`.
struct Line {
    /// Counted from 1.
    number: u64,
    /// Without the line end.
    text: Vec<u8>,
    /// Set by `parse`. Before that, the message of the slot's last lap.
    message: Result<Message, MessageError>,
}

impl Default for Line {
    fn default() -> Self {
        Self { number: 0, text: Vec::new(), message: Err(MessageError::Blank) }
    }
}

/// Runs all of `input` through the graph.
///
/// # Errors
///
/// Returns errors of reading `input`, of a stage that panicked, and of a thread that could not be
/// started. The journal keeps its own error.
pub(crate) fn run(
    input: impl BufRead,
    journal: &mut Journal<impl Write + Send>,
) -> Result<Figures, Box<dyn Error>> {
    let mut book = OrderBook::default();
    let mut tape = Tape::default();
    let mut bad_lines = BadLines::default();

    let (producer, consumers) = Disruptor::single_producer(CAPACITY, Line::default)
        .stage("parse")
        .write(|line, _, _| line.message = Message::parse(&line.text))
        .parallel(|parallel| {
            parallel
                .stage("journal")
                .read(|line, _, end_of_batch| {
                    if line.message.is_ok() {
                        journal.record(line.number, &line.text);
                    }
                    if end_of_batch {
                        journal.flush();
                    }
                })
                .stage("book")
                .read(|line, _, _| {
                    if let Ok(message) = &line.message {
                        book.apply(message);
                    }
                })
                .stage("tape")
                .read(|line, _, _| {
                    if let Ok(message) = &line.message {
                        tape.record(message);
                    }
                })
                .stage("bad lines")
                .read(|line, _, _| {
                    if let Err(reason) = &line.message {
                        bad_lines.record(line.number, reason);
                    }
                })
        })
        .build()?;

    let count = thread::scope(move |scope| {
        let running = consumers.start_scoped(scope)?;
        let fed = feed(input, producer);
        running.shutdown()?; // first: a stage that panicked explains why feeding stopped
        fed
    })?;
    Ok(Figures::new(count, bad_lines, journal.records(), &tape, &book))
}

/// Publishes every line of `input` and returns their number. This function owns the producer, so
/// the ring is closed even if `input` panics, and no stage waits for ever.
fn feed(input: impl BufRead, mut producer: SingleProducer<Line>) -> Result<u64, Box<dyn Error>> {
    let mut lines = Lines::new(input);
    let mut text = Vec::new();
    let mut count = 0;
    while let Some(number) = lines.read_into(&mut text)? {
        count = number;
        producer.publish(|line| {
            line.number = number;
            line.text.clear();
            line.text.extend_from_slice(&text);
        })?;
    }
    Ok(count)
}
