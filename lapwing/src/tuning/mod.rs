//! What is only fast: advice for claims and for readers (`protocol::advice`), how to spin, and what workers share.
//!
//! ```text
//! claims            advice for producers
//!   claim_window      prefetches slots to write, a part of the ring ahead
//!   own_count         claims without a load of the cursor, where a consumer waits for each event
//!   expected_counter  claims without a load of the counter, where no other producer claims
//!   back_off          pauses after a claim that another producer won
//! reads             advice for consumers
//!   looks             how to poll for a lone event
//!   prefetch_batch    prefetches a batch of a small ring
//!   line_ownership    acquires ownership of cache lines before their slots are released
//! read_ahead        prefetches along a batch of large events
//! ab_test           which of two ways is faster here and now
//! prefetch          the CPU's hints and stores
//! stream            what counts as a stream of events
//! ```
//!
//! Nothing here decides which events there are. Each file says at its head what it is worth, and where that was measured.

// The plain build takes no advice from here.
#![cfg_attr(lapwing_plain, allow(dead_code, unused_imports))]

mod ab_test;
mod back_off;
mod claim_window;
mod claims;
mod expected_counter;
mod line_ownership;
mod looks;
pub(crate) mod own_count;
#[cfg(feature = "predicted-branch")]
#[allow(unsafe_code)]
mod predicted_branch;
// I4, I15: hints and stores by address.
#[allow(unsafe_code)]
mod prefetch;
mod prefetch_batch;
mod read_ahead;
// I15: acquires lines.
#[allow(unsafe_code)]
mod reads;
pub(crate) mod share;
pub(crate) mod stream;

/// Bytes of a ring that a first-level cache can hold whole, where that is smallest.
pub(crate) const SMALL_RING: u64 = 32 << 10;

pub(crate) use claims::TunedClaims;
pub(crate) use read_ahead::ReadAhead;
pub(crate) use reads::TunedReads;
