//! The parts in a plain loop: the reference for the graph.

use std::io::{self, BufRead, Write};

use super::bad_lines::BadLines;
use super::figures::Figures;
use super::journal::Journal;
use super::order_book::OrderBook;
use super::tape::Tape;
use exchange::flows::lobster::lines::Lines;
use exchange::flows::lobster::message::Message;

/// Runs all of `input` through the parts, a line at a time.
///
/// # Errors
///
/// Returns errors of reading `input`. The journal keeps its own error.
pub(crate) fn run(input: impl BufRead, journal: &mut Journal<impl Write>) -> io::Result<Figures> {
    let mut book = OrderBook::default();
    let mut tape = Tape::default();
    let mut bad_lines = BadLines::default();

    let mut lines = Lines::new(input);
    let mut text = Vec::new();
    let mut count = 0;
    while let Some(number) = lines.read_into(&mut text)? {
        count = number;
        match Message::parse(&text) {
            Ok(message) => {
                journal.record(number, &text);
                book.apply(&message);
                tape.record(&message);
            }
            Err(reason) => bad_lines.record(number, &reason),
        }
    }
    journal.flush();
    Ok(Figures::new(count, bad_lines, journal.records(), &tape, &book))
}
