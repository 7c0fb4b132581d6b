//! Advice that changes only speed, for claims and reads ([`lapwing_core::advice`]), for workers that
//! share events, and for batches.
//! Without it, the library is correct but slower. Not here: how long a thread waits before it parks
//! (`wait`).
//!
//! ```text
//! claims            advice for producers
//!   prefetch_window      prefetches the next slots to write in a small ring
//!   own_count         claims without a load of the cursor, while a consumer waits for each event
//!   expected_counter  claims without a load of the counter, while no other producer claims
//!   back_off          backs off after another producer won a claim
//! reads             advice for consumers
//!   line_ownership    acquires ownership of cache lines before their slots are released
//! read_ahead        prefetches along a batch of large events
//! share             how many events a worker claims
//! ab_test           times a stream with acquired cache lines and without
//! prefetch          the prefetch instructions of the CPU
//! stream            what counts as a stream of events
//! ```
//!
//! A *single event* is one that a consumer waits for; a *stream* is many events that are available
//! together. Nothing here decides which events there are. The header of each file, or
//! `lab/results/experiments.md`, gives the measured gain and the machines. A gain of 1.5 is 1.5
//! times the speed.

// The plain build takes no advice from this module.
#![cfg_attr(lapwing_plain, allow(dead_code, unused_imports))]

mod ab_test;
pub(crate) mod own_count;
// I4: prefetches by address.
#[allow(unsafe_code)]
mod prefetch;
pub(crate) mod share;
pub(crate) mod stream;

mod back_off;
mod expected_counter;
mod line_ownership;
mod prefetch_window;
mod read_ahead;

mod claims;
mod reads;

pub(crate) use claims::TunedClaims;
pub(crate) use read_ahead::ReadAhead;
pub(crate) use reads::TunedReads;
