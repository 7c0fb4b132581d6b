//! Whole programs with threads.
//!
//! ```text
//! program ──> producers, stages, workers, pollers, guests ──> notes of each ──┐
//!    └──────> model ──────────────────────────────────────> what it must be ──┴──> equal?
//! ```
//!
//! `proptest` [draws](programs) a [`Program`]: a ring, its graph, its threads, what each handler
//! does at which event, which consumers join and leave, and how the run ends. [`check`] runs it on
//! threads. Each thread notes what it sees and does; none of them judges. Then the model replays
//! the notes of each consumer, and a judge compares the whole run.

mod actor;
mod build;
mod consumers;
mod draw;
mod event;
mod history;
mod hub;
mod judge;
mod model;
mod producers;
mod program;
mod rules;
mod run;
mod show;
#[cfg(test)]
mod tests;
mod waits;
mod world;

use std::panic;
use std::sync::{Arc, Once};
use std::time::Duration;

pub use draw::programs;
pub use program::Program;

/// Runs `program` and compares the run with the model. A run without progress for `patience` is a
/// hang: if a halt of the ring does not end it, the process aborts after it has printed the
/// program.
///
/// # Errors
///
/// Says what is not as the model says.
pub fn check(program: &Program, patience: Duration) -> Result<(), String> {
    keep_quiet();
    let program = Arc::new(program.clone());
    judge::judge(&program, &run::run(&program, patience)?)
}

/// Keeps intended panics out of the output.
fn keep_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let default = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let text = info.payload().downcast_ref::<String>();
            if !text.is_some_and(|text| text.starts_with(program::ON_PURPOSE)) {
                default(info);
            }
        }));
    });
}
