//! One ring: claiming, publishing, reading, releasing, and what each call returns.
//!
//! Tests are grouped into few programs, since each program is linked on its own.

#[path = "../common/mod.rs"]
mod common;

mod acknowledging;
mod first_sequence;
mod full_ring;
mod handled;
mod names_in_errors;
mod panics_of_callers;
mod pollers;
mod preemption;
mod producers;
mod publishing;
mod refusals;
mod released;
mod self_deadlock;
mod several;
mod traps;
mod traps_12_to_16;
mod up_to;
