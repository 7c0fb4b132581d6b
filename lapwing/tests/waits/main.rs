//! Waiting: which waits end and when, pacing, stalls, and what a monitor sees meanwhile.
//!
//! Tests are grouped into few programs, since each program is linked on its own.

#[path = "../common/mod.rs"]
mod common;

mod ends_of_waits;
mod handled;
mod monitor;
mod pacing;
mod rig;
mod stalls;
mod steps;
mod throughput;
mod waiting;
