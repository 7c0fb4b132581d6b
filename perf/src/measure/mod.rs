//! Measurement: rounds, rows, runs, threads and the clock.

pub(crate) mod calibration; // the number of events of a timed run
pub(crate) mod crew; // threads that start together, the clock, failures
pub(crate) mod error; // errors that end the command with exit code 1
pub(crate) mod group; // rows of one cell, beside busy threads of another process
pub(crate) mod harness; // rounds: interleaved, shuffled, checked
pub(crate) mod interrupt; // Ctrl-C keeps the results so far
pub(crate) mod progress; // a bar on a terminal, plain lines otherwise
pub(crate) mod row; // one row of a throughput table
pub(crate) mod run; // one run, before and after the check of its answer
pub(crate) mod runner; // interleaved rounds
pub(crate) mod sample; // one run of a fixed length, and the summary of several
pub(crate) mod schedule; // number, length and placement of runs
pub(crate) mod settling; // the fastest setting, and the number of events
pub(crate) mod statistics; // median, spread, interval
