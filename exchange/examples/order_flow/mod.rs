//! The parts of the `order_flow` example. Only [`graph`] uses Lapwing. The other parts are plain
//! single-threaded code, and [`plain`] runs them in a plain loop.
//!
//! The parser of the messages is `exchange::flows::lobster::message`. The program with arguments, input and output is
//! `main.rs` beside this file; `tests/order_flow.rs` has the same parts.

pub(crate) mod bad_lines; // the invalid lines: their number, and the first few with reasons
pub(crate) mod figures; // the results of a run, as rows of a table
pub(crate) mod flow; // a seeded flow of messages, if there is no file
pub(crate) mod graph; // the parts on a ring, one thread each
pub(crate) mod journal; // writes valid lines to a file, flushed at the end of a batch
pub(crate) mod order_book; // builds price levels from orders
pub(crate) mod plain; // the parts in a plain loop
pub(crate) mod tape; // counts trades and traded volume
