//! Whole programs with threads.
//!
//! ```text
//! program ──> producers, stages, workers, pollers, guests ──┬─(short)─> notes ──> replays ──┬──> judge
//!                                                           └─(long)──> checks in line ─────┘
//! ```
//!
//! `proptest` [draws](programs) a [`Program`]: a ring, its graph and its threads, what each handler
//! does at which event, which consumers join and leave, and how the run ends. Two things can watch
//! it:
//!
//! - [`check`] runs a short program. Each thread notes what it sees and does; none of them judges.
//!   Then the model replays the notes of each consumer.
//! - An [`Episode`] is a program that runs for a time, with any number of events, or a channel. Each
//!   event is judged at once, without a fence. The example `soak` runs one episode after the other.
//!
//! Either way, the same judge compares how each consumer, producer and ring has ended with what must
//! be. The same rules say what follows from what a handler does (`past`).

mod actor; // the handler of a stage
mod board; // what all episodes share: progress, faults, the first violation
mod build; // builds the ring of a program
mod channels; // programs with a channel
mod checker; // each event once, in order, whole
mod consumers; // pollers and guests
mod deeds; // what producers do apart from their calls
mod draw; // how programs are drawn
mod episode; // programs that run for a time
mod event; // the payload and its marks
mod facts; // what the sentries and producers of a ring share
mod faults; // kinds of faults
mod history; // what became of each sequence
mod hub; // the threads of a run
mod in_line; // a run that is judged at once
mod judge; // how a run must have ended
mod model; // what one consumer must do
mod notes; // what each thread saw and did
mod past; // what a consumer has done, and what follows from its actions
mod producers; // the calls of a producer
mod program; // what a program is
mod replays; // judges notes
mod rules; // what a consumer may see
mod run; // runs a program
mod sentry; // judges what one consumer sees
mod show; // how a program is printed
mod tally; // events that workers share
mod taps; // the tap of a stage
#[cfg(test)]
mod tests;
mod waits; // all wait strategies as one type
mod will; // what a consumer wants to do
mod witness; // what watches a run
mod world; // a whole run as the judge sees it

use std::sync::Arc;
use std::time::Duration;

pub use board::{Board, Seen, Totals};
pub use draw::programs;
pub use episode::Episode;
pub use faults::{Counts, Fault};
pub use program::Program;

use notes::Notes;

/// Runs `program` and compares the run with the model. A run without progress for `patience` is a
/// hang: if a halt of the ring does not end it, the process aborts after it has printed the
/// program.
///
/// # Errors
///
/// Says what is not as the model says.
pub fn check(program: &Program, patience: Duration) -> Result<(), String> {
    let program = Arc::new(program.clone());
    let notes = Notes::new(&program);
    let observed = run::run(&program, &notes, patience, |_| {})?;
    replays::judge(&program, &observed, &notes)
}
