//! Compares Lapwing with a sequential model that is written to be read.
//!
//! ```text
//! script ──> driver ──┬──> ring, one call at a time ──┐
//!                     └──> model ─────────────────────┴──> equal after each step?
//! ```
//!
//! A [`Script`](script::Script) is a graph of pollers and a list of steps. The [driver](driver::run) runs it on one thread
//! with the calls that never wait, so each run is repeatable and a failure shrinks to a few steps. What several threads
//! do at once is tested elsewhere: by the models of loom, and by `lapwing/tests/mixed`.

pub mod driver;
pub mod model;
pub mod script;
