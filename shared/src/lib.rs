//! Hands events from one process to others, through a ring in shared memory.
//!
//! The processes that take part are trusted not to write to the memory but through this crate.

#![deny(unsafe_code)]
#![cfg(target_os = "linux")]

mod sync;

pub mod error;
mod event;
mod event_count;
mod fences;
// M7: what a forked child does first.
#[allow(unsafe_code)]
mod fork;
mod words;

mod protocol;

mod directory;
// M4: maps a file.
#[allow(unsafe_code)]
mod memory;

mod evidence;
mod header;
mod layout;
// M1, M2: turns slots into references.
#[allow(unsafe_code)]
mod slots;

// M7: blocks signals.
#[allow(unsafe_code)]
mod watch;

mod attached;

// M2: reads slots.
#[allow(unsafe_code)]
mod batch;
// M1: writes slots.
#[allow(unsafe_code)]
mod writer;

mod reader;

// M4: opens what it maps.
#[allow(unsafe_code)]
mod segment;

// M1, M2: watches the slots.
#[cfg(all(test, loom))]
#[allow(unsafe_code)]
mod models;

pub use batch::{Batch, Iter};

pub use event::Event;
pub use reader::Reader;
pub use segment::Segment;
pub use writer::Writer;

/// The number of an event in its segment. The first one is 0.
pub type Sequence = u64;

/// A reader, as the writer sees it: a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Peer {
    /// Its process, as it is numbered in its own namespace.
    pub pid: u32,
    /// Its seat.
    pub seat: usize,
    /// The sequence of the first event that it has not released.
    pub sequence: Sequence,
    /// Number of published events that it has not released.
    pub lag: u64,
}

#[doc(hidden)]
pub mod __private {
    pub use bytemuck::Zeroable;

    pub use crate::event::Fields;
}
