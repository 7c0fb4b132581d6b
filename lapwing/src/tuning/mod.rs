//! Advice that changes only speed: for claims and readers (`protocol::advice`), for workers that share
//! events, and for batches. Not here: how long a thread waits before it parks (`wait`).
//!
//! ```text
//! claims            advice for producers
//!   claim_window      prefetches the next slots to write
//!   own_count         claims without a load of the cursor, where a consumer waits for each event
//!   expected_counter  claims without a load of the counter, where no other producer claims
//!   back_off          backs off after another producer won a claim
//! reads             advice for consumers
//!   looks             how to poll for a lone event
//!   predicted_branch  makes the CPU predict that a poll succeeds (a feature)
//!   prefetch_batch    prefetches a batch of a small ring
//!   line_ownership    acquires ownership of cache lines before their slots are released
//! read_ahead        prefetches along a batch of large events
//! share             how many events a worker claims
//! ab_test           which of two ways is faster at this moment
//! prefetch          the prefetch hints and stores of the CPU
//! stream            what counts as a stream of events
//! ```
//!
//! Nothing here decides which events there are. The header of a piece says what it is worth and on which
//! machines, or `perf/results/experiments.md` does.

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

/// Largest ring, in bytes, that fits into the smallest first-level cache.
pub(crate) const SMALL_RING: u64 = 32 << 10;

pub(crate) use claims::TunedClaims;
pub(crate) use read_ahead::ReadAhead;
pub(crate) use reads::TunedReads;
