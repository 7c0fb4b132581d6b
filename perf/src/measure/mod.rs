//! How a number comes about: rounds, rows, runs, threads and their clock.

pub(crate) mod calibration; // how many events one timed run moves
pub(crate) mod crew; // threads that start together, the clock, failures
pub(crate) mod error; // what ends the command with exit code 1
pub(crate) mod group; // rows of one cell, beside busy threads of another process
pub(crate) mod harness; // rounds: interleaved, shuffled, checked
pub(crate) mod interrupt; // Ctrl-C leaves what was measured
pub(crate) mod progress; // a bar on a terminal, plain lines otherwise
pub(crate) mod row; // one row of a table of speeds
pub(crate) mod run; // one run, before and after its answer is checked
pub(crate) mod sample; // one run of a given time, and what a report says of several
pub(crate) mod schedule; // how often, how long, where
pub(crate) mod settling; // the fastest setting, and the number of events
pub(crate) mod statistics; // median, spread, interval
