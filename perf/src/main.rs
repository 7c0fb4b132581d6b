//! `lapwing`, the performance laboratory: wiring only.
//!
//! ```text
//! cli -> throughput --> row ----> contenders --> topologies --> queue, event, fold
//!   |--> quick -----/    |             \--------> crew (threads, clock)
//!   |--> ping_pong ------+   (over contenders as well)
//!   \--> contention -----+--> harness --> calibration, progress, run
//!           \--> increments          report: table, JSON of rows and machine
//! ```
//!
//! A further benchmark is a further subcommand: its arguments in `cli`, its file beside
//! `throughput`, its results in the form of `report::Record`.

mod calibration; // how many events one timed run moves
mod cli; // arguments, and what is refused before anything runs
mod contenders; // one adapter per rival
mod contention; // the cost of one increment, with and without contention
mod crew; // threads that start together, the clock, failures
mod error; // what ends the command with exit code 1
mod event; // what is moved, and its sizes
mod exchange; // numbers there and back, whatever carries them
mod fold; // what a consumer computes, and how loss or disorder shows
mod harness; // rounds: interleaved, shuffled, checked
mod increments; // the cases of contention
mod machine; // where the numbers were measured
mod neighbours; // what else used the machine meanwhile
mod ping_pong; // a number to another thread and back
mod progress; // a bar on a terminal, plain lines otherwise
mod queue; // what a rival queue must offer
mod quick; // the evaluation without arguments
mod report; // table, JSON
mod row; // one contender in one topology
mod run; // one run, before and after its answer is checked
mod statistics; // median, spread, ratio
mod throughput; // the benchmark of the paper's five configurations
mod topologies; // the five configurations
mod workload; // how much is moved, how large, through how many slots

use std::process::ExitCode;

use crate::cli::{Cli, Command};
use crate::error::Error;

/// Runs the subcommand; an error goes to standard error and makes exit code 1.
fn main() -> ExitCode {
    match run(Cli::parse_or_exit()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lapwing: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Dispatches on the subcommand; none means the quick evaluation.
fn run(cli: Cli) -> Result<(), Error> {
    match cli.command {
        None => quick::run(),
        Some(Command::Throughput(arguments)) => throughput::run(&arguments),
        Some(Command::Contention(arguments)) => contention::run(&arguments),
        Some(Command::PingPong(arguments)) => ping_pong::run(&arguments),
    }
}
