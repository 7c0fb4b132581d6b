//! Commands that would lead to a recording of NASDAQ messages in LOBSTER format.
//!
//! A recording has the results of matching: which resting order was executed, not which order came in.
//! So incoming orders are rebuilt. Executions of the same time and side that follow each other were
//! one incoming order, and its limit was at least as good as the last of their prices. If the next
//! message is a new order of the same time on the other side, it is what the incoming order left.
//!
//! | message | command |
//! |---|---|
//! | 1 new | new limit order |
//! | 2 partial cancel | replace by a smaller total |
//! | 3 delete | cancel |
//! | 4 executions of one incoming order | new immediate-or-cancel order, or a limit order that rests |
//! | 5 hidden execution, 6 cross, 7 halt | none: such orders are in no visible book |
//!
//! A file begins in the middle of a day, and it has a limited number of levels. So some orders are
//! older than their first message: a new order with an id below earlier ones has only come into view,
//! and an order that is changed and never added was there from the start. Ids ascend in time, so each
//! is entered where its id belongs. The quantity of one that is never added is what the file takes.
//!
//! A few executions pass over an older order at the same price, or one at a better price. Orders have
//! properties that the file does not show. No book with price-time priority can repeat such an
//! execution, so it reduces the order that it names, and is counted.

mod incoming;
pub mod lines; // reads numbered lines into one bounded buffer
pub mod message; // parses a line into an order message
mod orders;
mod queues;
mod replay;
mod translation;

use std::io::{self, BufRead};

use self::lines::Lines;
use self::message::{Kind, Message};
use crate::types::{Command, OrderRef, Price, Quantity};

pub use replay::{Difference, Outcome};

/// The price of a message has this many units in a tick: it counts dollars x 10,000, a tick is a cent.
const UNITS_PER_TICK: i64 = 100;

/// A recording as commands.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Opens the book and the accounts.
    pub opening: Vec<Command>,
    /// What happens.
    pub steps: Vec<Step>,
    /// What the messages were.
    pub counts: Counts,
}

/// A command, and the trades that it must cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The command.
    pub command: Command,
    /// Its trades in the recording.
    pub trades: Vec<Fill>,
    /// The number of the message in the file, from 0.
    pub message: usize,
}

/// One execution of a resting order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// The resting order.
    pub maker: OrderRef,
    /// The price.
    pub price: Price,
    /// How much.
    pub quantity: Quantity,
}

/// What the messages of a file were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages.
    pub messages: u64,
    /// Lines that are not a message, and orders with a price between two ticks.
    pub unusable: u64,
    /// Orders that are older than their first message.
    pub older: u64,
    /// Incoming orders that were rebuilt from executions.
    pub incoming: u64,
    /// Those of them that pass over an order with priority. Their executions became reductions.
    pub out_of_turn: u64,
    /// Those of the others that rested afterwards.
    pub incoming_rested: u64,
    /// Executions of hidden orders, crosses and halts.
    pub without_command: u64,
}

impl Recording {
    /// Reads a message file and translates it.
    ///
    /// # Errors
    ///
    /// An error of the input. A line that is not a message is counted.
    pub fn read(input: impl BufRead) -> io::Result<Self> {
        let mut lines = Lines::new(input);
        let (mut text, mut messages) = (Vec::new(), Vec::new());
        let mut unusable = 0;
        while lines.read_into(&mut text)?.is_some() {
            match Message::parse(&text) {
                Ok(message) if is_usable(&message) => messages.push(message),
                _ => unusable += 1,
            }
        }
        let mut recording = translation::translate(&messages);
        recording.counts.unusable = unusable;
        Ok(recording)
    }
}

/// Whether the price is a whole number of ticks, or that of no level.
fn is_usable(message: &Message) -> bool {
    !has_level(message) || message.price % UNITS_PER_TICK == 0
}

/// Whether the message names an order of a visible book.
fn has_level(message: &Message) -> bool {
    matches!(message.kind, Kind::Add | Kind::Cancel | Kind::Delete | Kind::Execute)
}
