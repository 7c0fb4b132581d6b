//! Tests that a ring does what LMAX's ring does, without its defects, for each sequencer and each
//! wait strategy.
//!
//! A scenario is one generic function, named after its number: `c` for a behaviour, `b` for a
//! defect that LMAX has or had. `docs::lmax` lists all of them. `e` is what a call answers in each
//! state of a ring, which `docs::errors` lists. `for_each_setup!` makes one test
//! per setup:
//!
//! ```text
//! full_ring::multi::blocking::c10_full_ring_blocks_the_producer_at_exactly_its_size
//!     |        |       |
//!   module sequencer strategy, of stages and producers alike
//! ```
//!
//! `fused` is the default strategy with all stages of a ring on one thread.
//!
//! Scenarios are short. Not here: long runs and corner cases, which the other tests of this folder
//! cover.
#![cfg(not(any(miri, loom)))]

#[path = "../common/mod.rs"]
mod common;

#[macro_use]
mod setup;

mod batches;
mod bugs;
mod dynamic;
mod errors;
mod failures;
mod full_ring;
mod life;
mod ordering;
mod pause;
mod publication;
mod spy;
mod waiting;
mod workers;
