//! Graphs of stages: which stage sees what and when, on which thread, and how stages begin and end.
//!
//! | a case about | is |
//! |---|---|
//! | the order of stages, a graph that is refused, the division into batches | a test of `topologies` |
//! | a setting that a stage cannot follow | a row of `unused_settings` |
//! | the time at which an event is cleared | a test of `clearing` |
//! | which thread runs which stage | a row of `placement` |
//! | stages that share a thread: the order of their events; their waits and ends | a test of `turns`; of `together` |
//! | what must not depend on the threads | a test of `every_placement` |
//! | how stages start and end, and what the report says | a test of `lifecycle` |
//! | what a close accepts, and which threads an end wakes | a test of `stopping` |
//! | a `Running` that is left early: a scope, `?`, a panic of its owner | a test of `leaving` |
//! | a panic in the code of a stage | a row of `panics` |
//! | a consumer that joins or leaves a dynamic stage, and a stage that is stopped | a test of `joining` |
//! | the state of a key that changes its worker | a test of `handing_over` |
//!
//! `shapes` builds the rings of the tests about threads, from a line of text. Not here: a poller
//! that leaves (`ring/pollers.rs`), groups of workers (`workers`), and what a handler's result
//! means (`outcomes`).
//!
//! Tests are grouped into few programs, since each program is linked on its own.

#[path = "../common/mod.rs"]
mod common;

mod shapes;

mod clearing;
mod every_placement;
mod handing_over;
mod joining;
mod leaving;
mod lifecycle;
mod panics;
mod placement;
mod stopping;
mod together;
mod topologies;
mod turns;
mod unused_settings;

use lapwing::producer::Sequencer;
use lapwing::{Builder, Producer, Running};

/// Starts the stages of `ring` on their threads.
fn start<S: Sequencer>(ring: Builder<'static, u64, S>) -> (Producer<u64, S>, Running<'static>) {
    let (producer, consumers) = ring.build().unwrap();
    (producer, consumers.start().unwrap())
}
