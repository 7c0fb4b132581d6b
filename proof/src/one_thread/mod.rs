//! A ring and a model, one call at a time, on one thread.
//!
//! ```text
//! script ──> driver ──┬──> ring, one call at a time ──┐
//!                     └──> model ─────────────────────┴──> equal after each step?
//! ```
//!
//! A [`Script`](script::Script) is a graph of pollers and a list of steps. The
//! [driver](driver::run) uses the calls that never wait, so each run is repeatable and a failure
//! shrinks to a few steps.

#[cfg(feature = "arbitrary")]
mod bytes;
pub mod driver;
pub mod model;
pub mod script;
