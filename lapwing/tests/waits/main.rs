//! Waiting: which waits end and when, pacing, stalls, and what a monitor sees meanwhile.
//!
//! | a case about | is |
//! |---|---|
//! | what ends a wait | a wait strategy in `phases`, or a place that waits in `Place`, of `ends_of_waits` |
//! | a thread that parks at once, and what it waits for | a test of `waiting` |
//! | how the library calls a strategy; when it paces | a test of `steps`; a row of `ROWS` in `pacing` |
//! | the wait until an event is handled | a row of `ROWS` or `ENDS` in `handled` |
//! | what a monitor shows | a script in `monitor`, or a row of its `ENDED` |
//! | what a stall or a bottleneck is called | a row of `ROWS` in `stalls`; in `throughput` |
//!
//! `rig` moves rings of pollers by a script. Not here: lost wake-ups of a single event
//! (`wake_ups.rs`), and what `WouldDeadlock` means (`ring/self_deadlock.rs`).
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
