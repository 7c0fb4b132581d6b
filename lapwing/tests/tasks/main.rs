//! Tasks at the ends of channels and rings: futures that are dropped at any poll, polls without a future,
//! tasks and threads at one ring, and how a ring ends for a task. `LAPWING_TASKS` is the number of values of a probe.
#![cfg(not(loom))]

#[path = "../common/mod.rs"]
mod common;

mod ends;
mod polls;
mod probe;
mod selects;
mod wakers;
