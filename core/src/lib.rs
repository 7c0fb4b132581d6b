//! The part of `lapwing` that must be believed: everything that makes
//! passing events from producers to consumers correct. It starts no thread, logs nothing and takes
//! no lock, except to park a thread where the system has no futex, and for the wakers of tasks that
//! wait. Only `lapwing` uses this crate, and its interface may change in any version.
//!
//! ```text
//! producer                                          consumer
//!
//! claim   up to the gate: least finished + capacity poll    cursor, upstream, stamps or published mark
//!   │     (claims)                                    │     (reading)
//!   v                                                 v
//! fill    the slots of the claim                    read    all events that the poll found
//!   │     (claims, ring_buffer)                       │     (reading, ring_buffer)
//!   v                                                 v
//! publish cursor, or a stamp for each slot          release its sequence: one store
//!   │     (publication)                               │     (reading, control)
//!   v                                                 v
//! wake    a parked consumer (parking)               wake    a parked producer or later stage
//! ```
//!
//! # Reading order
//!
//! A module imports from layers above its own only, and no two files import each other.
//!
//! ```text
//! sync error             where atomics come from; why a step is refused
//! padded addresses       distances between words; where slots are, without a right to them
//!
//! mapping/               a file in memory, for words that other processes see
//!
//! memory                 one value per slot
//!
//! words                  where the words lie that threads share
//!
//! parking/               sleep until another thread advances a word
//! life                   open, closing, closed, halted; where the events end
//! advice                 the interface to the tuning, and the plain advice
//!
//! publication/           what is claimed and published
//! stages/                what the stages have finished, what gates the producers, the dynamic stages
//!
//! ring_buffer/           slots, and which slot a sequence has
//! control/               the words that threads share; how a stage advances, how a ring ends, joining
//!
//! ring                   the slots and the words, which each end holds
//! view                   what monitors read of a ring, in this process or in another
//!
//! claims/                what a producer may write, and how it publishes
//! reading/               what a stage may read; how it reads, releases and leaves
//! ```
//!
//! The laws that these modules keep, and the field that proves each, are in ARCHITECTURE.md. The
//! tables of orderings (O1, O2 and so on) and of invariants (I1 and so on) are in `lapwing::docs`.
//!
//! # Advice
//!
//! The tuning reaches the protocol through the two traits of [`advice`]. The protocol clamps or
//! checks each answer, so wrong advice costs time, but never an event. [`advice::Plain`] is the
//! advice of the build with `--cfg lapwing_plain`.
//!
//! Four things are here for speed alone, since they touch words or slots: published marks
//! (`ring_buffer::published_marks`), the count of a single producer (`claims::single`), the tight
//! loop of polls ([`Reader::spin`]), and the store that acquires a cache line
//! (`ring_buffer::lines`).

#![deny(unsafe_code)]

#[cfg(not(target_has_atomic = "64"))]
compile_error!("Lapwing needs 64-bit atomics: sequences are 64-bit numbers that threads share");

mod addresses;
pub mod error;
mod padded;
// I1: in a model, reads a word of its own thread in a way that loom does not count as an access.
#[cfg_attr(loom, allow(unsafe_code))]
pub mod sync;

// I19: maps a file.
#[allow(unsafe_code)]
mod mapping;

// I18, I19: gets memory from the allocator or from a mapping.
#[allow(unsafe_code)]
pub mod memory;

// I19: refers to words that it keeps.
#[allow(unsafe_code)]
mod words;

pub mod advice;
mod life;
mod parking;

mod publication;
mod stages;

mod control;
// I1 to I4, I13, I15: the slots themselves.
#[allow(unsafe_code)]
mod ring_buffer;

mod ring;
mod view;

// I1: turns claims into references.
#[allow(unsafe_code)]
mod claims;
// I2, I6, I15: turns what a stage may read into references.
#[allow(unsafe_code)]
mod reading;

#[cfg(all(test, target_os = "linux", not(any(loom, miri))))]
mod litmus;
// I5, I12: makes readers, and moves the words of groups.
#[cfg(all(test, loom))]
#[allow(unsafe_code)]
mod models;
// I5: makes readers.
#[cfg(all(test, not(loom)))]
#[allow(unsafe_code)]
mod tests;

pub use addresses::{Addresses, LINE};
pub use claims::{
    Claim, ClaimBatch, Claims, Granted, MultiClaims, Producer, SingleClaims, Trying, Wish,
};
pub use control::{Control, Joined, Sharing, StartAt, Wait};
pub use life::State;
pub use mapping::{Mapping, Word};
pub use padded::Padded;
pub use parking::{Awaited, EventCount, Places, Sleeper, TaskPlace, Turn, Waits};
pub use publication::Span;
pub use reading::{Batch, Drained, Place, Reader, Spun, UNLIMITED};
pub use ring::{Ring, Room};
pub use ring_buffer::{ACQUIRES_LINES, Factory, HasPublishedMark, PublishedMark};
pub use stages::{DETACHED, Graph, IDLE, ONLY_GENERATION, StageIndex, ancestors};
pub use view::{Offsets, View};
pub use words::{Placed, Words};

/// The number of an event in its ring.
pub type Sequence = u64;

/// Largest number of slots of a ring.
pub const MAX_CAPACITY: usize = 1 << 30;

/// Highest sequence that the first event of a ring may have. At least as many sequences again
/// remain: enough for 146 years at a billion events per second.
pub const MAX_FIRST_SEQUENCE: Sequence = 1 << 62;
