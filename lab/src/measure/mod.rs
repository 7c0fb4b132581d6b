//! Measurement: rounds, rows, runs, threads and the clock.

pub(crate) mod calibration; // the number of events of a timed run
pub(crate) mod crew; // threads that start together, the clock, failures
pub(crate) mod error; // errors that end the command with exit code 1
pub(crate) mod interrupt; // Ctrl-C keeps the results so far
pub(crate) mod progress; // a bar on a terminal, plain lines otherwise
pub(crate) mod run; // one run, before and after the check of its answer
pub(crate) mod runner; // interleaved rounds
pub(crate) mod schedule; // number, length and placement of runs
