//! Outcomes: what happens to an order that is refused, and to one that cannot be sent at once.
//!
//! ```text
//! producer ──> [ring] ──> risk ──> send ──> book
//! ```
//!
//! A handler returns an error, and the policy of its stage decides what happens. `risk` skips the
//! order. `send` retries it a few times and then skips it. Downstream stages do not act on a skipped
//! order unless they ask: `send` does nothing, and `book` notes it. No error in this program stops
//! the ring.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use lapwing::consumer::{Failure, Retries, Shared};
use lapwing::{Action, Disruptor, EventHandler, Sequence};

const ORDERS: u64 = 1_000;
const MOST_PIECES: u64 = 90;

#[derive(Default)]
struct Order {
    pieces: u64,
}

/// Too many pieces in one order.
#[derive(Debug)]
struct OverLimit(u64);

impl fmt::Display for OverLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "over the limit of {MOST_PIECES} pieces: pieces={}", self.0)
    }
}

impl Error for OverLimit {}

/// A link to the market that is sometimes busy, and always refuses 13 pieces.
#[derive(Default)]
struct Sender {
    tries: u64,
    sent: u64,
}

impl EventHandler<Order, Shared, Result<(), &'static str>> for Sender {
    fn on_event(&mut self, order: &Order, _: Sequence, _: bool) -> Result<(), &'static str> {
        self.tries += 1;
        if order.pieces == 13 {
            return Err("no such lot");
        }
        if self.tries.is_multiple_of(10) {
            return Err("the link is busy");
        }
        self.sent += 1;
        Ok(())
    }
}

/// The pieces bought, and the orders refused, and how many of these by `risk`.
#[derive(Default)]
struct Book {
    pieces: u64,
    refused: Vec<Sequence>,
    by_risk: usize,
}

impl EventHandler<Order> for Book {
    fn on_event(&mut self, order: &Order, _: Sequence, _: bool) {
        self.pieces += order.pieces;
    }

    fn on_failed_event(&mut self, _: &Order, sequence: Sequence, _: bool, why: &Failure<'_>) {
        self.refused.push(sequence);
        self.by_risk += usize::from(why.stage() == "risk");
    }
}

/// The number of pieces of the order with this sequence: 1 to 100, repeated.
fn pieces_of(sequence: Sequence) -> u64 {
    sequence % 100 + 1
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut first_refusal = None;
    // A policy may be a closure. It receives the error, the stage, the sequence and the attempt.
    let skip_and_tell = move |failure: &Failure<'_>| {
        first_refusal.get_or_insert_with(|| println!("{failure}"));
        Action::Skip
    };
    let send = Retries::of_event()
        .pause(Duration::from_micros(10)) // doubled with each attempt
        .longest_pause(Duration::from_millis(1))
        .attempts(3)
        .or(Action::Skip);

    let (mut producer, consumers) = Disruptor::single_producer(64, Order::default)
        .stage("risk")
        .on_error(skip_and_tell)
        .read(|order, _, _| match order.pieces {
            ..=MOST_PIECES => Ok(()),
            pieces => Err(OverLimit(pieces)),
        })
        .stage("send")
        .on_error(send)
        .read_handler(Sender::default())
        .stage("book")
        .read_handler(Book::default())
        .build()?;

    let running = consumers.start()?;
    for sequence in 0..ORDERS {
        producer.publish(|order| order.pieces = pieces_of(sequence))?;
    }
    let mut report = running.shutdown()?; // an error if a stage had failed

    for stage in report.stages() {
        println!("{}: {} orders, {} skipped", stage.name(), stage.processed(), stage.skipped());
    }
    let sender: Sender = report.take("send")?;
    let book: Book = report.take("book")?;
    println!(
        "{} orders sent in {} tries; {} pieces bought",
        sender.sent, sender.tries, book.pieces
    );

    let is_refused = |pieces| pieces > MOST_PIECES || pieces == 13;
    let refused: Vec<Sequence> = (0..ORDERS).filter(|at| is_refused(pieces_of(*at))).collect();
    let bought = (0..ORDERS).map(pieces_of).filter(|pieces| !is_refused(*pieces)).sum::<u64>();
    let skipped: Vec<u64> = report.stages().map(|stage| stage.skipped()).collect();
    assert_eq!(skipped, [100, 10, 0], "ten of each hundred by risk, one by send");
    assert_eq!((book.refused, book.pieces), (refused, bought));
    assert_eq!(book.by_risk, 100, "the others by send");
    assert_eq!(sender.sent, ORDERS - 110);
    assert!(sender.tries > sender.sent + 3 * 10, "busy at times, and three tries per refused lot");
    Ok(())
}
