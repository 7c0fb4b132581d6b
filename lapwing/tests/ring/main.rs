//! One ring: claiming, publishing, reading, releasing, and what each call returns.
//!
//! Two tables say what each call returns in each state of a ring. The other files have what such a
//! table cannot say: who sees an event and when, who is told of a release, and what code of the
//! caller's may do. `rings` builds the rings.
//!
//! | a case about | is |
//! |---|---|
//! | what a publishing call returns | a line of `answers` (a state), or of `calls` (a call or a policy) |
//! | what a reading call shows | a line of `STATES` or of `READS` in `pollers` |
//! | what a batch releases, and a poller that leaves, also beside a stage | a test of `pollers`, below its table |
//! | a claim that is held, dropped or forgotten | a test of `claims`; with several producers, of `producers` |
//! | a full ring over many calls | a test of `policies` |
//! | a thread that would wait for itself | a test of `self_deadlock` |
//! | a call of `on_released`, and acknowledgements | a line of `forms` in `released`; a test of `acknowledging` |
//! | several handlers in one stage, and how many events a stage has handled | a test of `several`; a line of `CASES` in `handled` |
//! | the first sequence of a ring, and a thread that is stopped | a test of `first_sequence`; of `preemption` |
//! | a panic in code of the caller | a test of `panics_of_callers` |
//! | a ring that `build` refuses, and a name in an error | a test of `building`; a line of `names_in_errors` |
//! | a defect of another ring buffer | a row of `traps`, which names the test that shows it |
//!
//! Not here: pollers that join (`graph/joining.rs`), and what a wait does (`waits`).
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
