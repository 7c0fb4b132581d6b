//! Graphs of stages: topologies, threads, joining, leaving, failures and the life cycle.
//!
//! Tests are grouped into few programs, since each program is linked on its own.

#[path = "../common/mod.rs"]
mod common;

mod handing_over;
mod joining;
mod leaving;
mod lifecycle;
mod panics;
mod placement;
mod stopping;
mod together;
mod topologies;
mod unused_settings;
