//! One ring: claiming, publishing, reading, releasing, and what each call returns.
//!
//! `answers` has the table of every publishing call in every state of a ring, and `calls` the calls
//! of that table; `pollers` has the same for the calls that read. A new call or state is a line
//! there. The other files have what a table of answers cannot say: who sees an event and when, who
//! is told of a release, and what code of the caller's may do. `rings` builds the rings.
//!
//! Tests are grouped into few programs, since each program is linked on its own.

#[path = "../common/mod.rs"]
mod common;

mod calls;
mod rings;

mod acknowledging;
mod answers;
mod building;
mod claims;
mod first_sequence;
mod handled;
mod names_in_errors;
mod panics_of_callers;
mod policies;
mod pollers;
mod preemption;
mod producers;
mod released;
mod self_deadlock;
mod several;
mod traps;
