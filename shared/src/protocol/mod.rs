//! The protocol: who may touch which slot, on the words alone.
//!
//! ```text
//! granting   up to where writers may write
//! writing    a writer that is alone: what it has published
//! claiming   a writer beside others: which sequences it has
//! stamps     what several writers have published
//! repair     what a writer that died beside others had claimed
//! closing    how a segment ends
//! reading    a reader: what is published for it, what it has finished
//! seats      how a process takes a seat and gives it up, and how that of a dead one is cleared
//! parking    how both sides sleep until the other advances
//! ```
//!
//! Not here: the events themselves (`slots`), and what is known of other processes (`evidence`). A
//! model runs these steps as they are (`models`).

pub(crate) mod seats;

mod granting;

pub(crate) mod writing;

pub(crate) mod stamps;

mod closing;

pub(crate) mod claiming;
mod repair;

pub(crate) mod reading;

pub(crate) mod parking;

use crate::sync::AtomicU64;
use crate::words::{Seat, Words, WriterSeat};

/// The words of one segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shared<'a> {
    pub(crate) words: &'a Words,
    pub(crate) seats: &'a [Seat],
    /// The seats of several writers; empty if there is one.
    pub(crate) writers: &'a [WriterSeat],
    /// One for each slot if there are several writers.
    pub(crate) stamps: &'a [AtomicU64],
    pub(crate) capacity: u64,
}

/// Why no event is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Silence {
    /// None is published.
    Empty,
    /// None is left, and none will come.
    Closed,
}
