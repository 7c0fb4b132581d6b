//! Channels and taps.
//!
//! `answers` has the table of every call of both ends of a channel in every state, and `ends` the
//! calls of that table. A new call or state is a line there. `channel` and `broadcast` have what
//! more than one call shows: order, batches and iterators; `channel_drops` when values are dropped;
//! `lengths` how many values a channel holds.
//!
//! Tests are grouped into few programs, since each program is linked on its own.

#[path = "../common/mod.rs"]
mod common;

mod ends;

mod answers;
mod broadcast;
mod channel;
mod channel_drops;
mod lengths;
mod tap;
