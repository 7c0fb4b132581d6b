//! The parts of the `order_flow` example. Only [`graph`] knows the Disruptor; everything it wires
//! up is plain single-threaded code, and [`plain`] runs the same parts in a plain loop.
//!
//! `main.rs` beside this file is the program: arguments, input, printing.

pub mod bad_lines; // what could not be read: how many, and the first few with their reasons
pub mod figures; // what a run found out, as rows of a table
pub mod flow; // a seeded flow of messages, when there is no file
pub mod graph; // the parts on a ring, a thread each
pub mod journal; // good lines to a file, flushed at the end of a batch
pub mod lines; // input to numbered lines, one buffer, bounded
pub mod message; // a line to an order message, or the reason why not
pub mod order_book; // orders to price levels
pub mod plain; // the parts in a plain loop
pub mod tape; // trades and traded volume
