//! The protocol: who may touch which slot, on the words alone.
//!
//! ```text
//! writing    the writer: up to where it may write, what it has published, and when it closes
//! reading    a reader: what is published for it, what it has finished
//! seats      how a reader takes a seat and gives it up, and how that of a dead reader is cleared
//! parking    how both sleep until the other advances
//! ```
//!
//! Not here: the events themselves (`slots`), and what is known of other processes (`evidence`). A
//! model runs these steps as they are (`models`).

pub(crate) mod seats;

pub(crate) mod reading;
pub(crate) mod writing;

pub(crate) mod parking;

use crate::words::{Seat, Words};

/// The words of one segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shared<'a> {
    pub(crate) words: &'a Words,
    pub(crate) seats: &'a [Seat],
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
