//! The parts of the `order_flow` example. Only [`graph`] uses Lapwing. The other parts are plain
//! single-threaded code, and [`plain`] runs them in a plain loop.
//!
//! The program with arguments, input and output is `main.rs` beside this file.

pub mod bad_lines; // the invalid lines: their number, and the first few with reasons
pub mod figures; // the results of a run, as rows of a table
pub mod flow; // a seeded flow of messages, if there is no file
pub mod graph; // the parts on a ring, one thread each
pub mod journal; // writes valid lines to a file, flushed at the end of a batch
pub mod lines; // reads numbered lines into one bounded buffer
pub mod message; // parses a line into an order message
pub mod order_book; // builds price levels from orders
pub mod plain; // the parts in a plain loop
pub mod tape; // counts trades and traded volume
