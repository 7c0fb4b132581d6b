//! `lapwing`, the performance laboratory: wiring only.
//!
//! ```text
//! cli -> throughput, quick ----\              /--> row (table of speeds) -> calibration, run
//!     -> contention, ping_pong -+-> harness ---
//!     -> limits, perftest ------+
//!     -> dispatch --------------+
//!              |                +-> session --> machine, neighbours, report: JSON, tables, page
//!              \--> contenders --> topologies --> queue, event, fold
//!                     \ \-------------\--> crew (threads, clock) -> placement, cpu_time
//!                      \--> foreign (processes)
//! ```
//!
//! A further benchmark is a further subcommand in a folder of its own: its flags, what it times (a
//! `row::Subject`, or a `harness::Timed` if it is no table of speeds), its record, its table.

mod bare; // two words and nothing else between two threads
mod calibration; // how many events one timed run moves
mod campaign; // every benchmark, and the report
mod cli; // the subcommands, and what is refused before anything runs
mod contenders; // one adapter per rival
mod contention; // the cost of one increment, with and without contention
mod cpu_time; // what a run costs
mod crew; // threads that start together, the clock, failures
mod dispatch; // the order-dispatch pipeline
mod error; // what ends the command with exit code 1
mod event; // what is moved, and its sizes
mod exchange; // numbers there and back, whatever carries them
mod fold; // what a consumer computes, and how loss or disorder shows
mod foreign; // rivals in other languages, as processes
mod harness; // rounds: interleaved, shuffled, checked
mod increments; // the cases of contention
mod interrupt; // Ctrl-C leaves what was measured
mod latency; // delays at a given rate
mod limits; // what this machine can do at all
mod machine; // where the numbers were measured
mod neighbours; // what else used the machine meanwhile
mod paced; // the three stage pipeline under a load, and its delays
mod perftest; // LMAX's own tests
mod ping_pong; // a number to another thread and back
mod placement; // which CPU a thread runs on
mod progress; // a bar on a terminal, plain lines otherwise
mod queue; // what a rival queue must offer
mod quick; // the evaluation without arguments
mod quota; // the CPU time that a container allows
mod report; // table, JSON, page
mod ring_crew; // threads for the ends of a ring
mod row; // one row of a table of speeds
mod run; // one run, before and after its answer is checked
mod schedule; // how often, how long, where
mod session; // what all commands have in common
mod statistics; // median, spread, interval
mod sweep; // delays against the rate
mod tally; // what a consumer of a ring keeps
mod throughput; // the benchmark of the paper's five configurations
mod topologies; // the five configurations
mod workload; // how much is moved, how large, through how many slots

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::error::Error;

/// Runs the subcommand; an error goes to standard error and makes exit code 1, Ctrl-C 130.
fn main() -> ExitCode {
    match run(Cli::parse_or_exit()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lapwing: {error}");
            error.exit_code()
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
        Some(Command::Latency(arguments)) => latency::run(&arguments),
        Some(Command::Sweep(arguments)) => sweep::run(&arguments),
        Some(Command::Dispatch(arguments)) => dispatch::run(&arguments),
        Some(Command::Limits(arguments)) => limits::run(&arguments),
        Some(Command::Perftest(arguments)) => perftest::run(&arguments),
        Some(Command::Report(arguments)) => report::html::run(&arguments),
        Some(Command::All(arguments)) => {
            campaign::run(&arguments, |line| run(Cli::parse_from(line)))
        }
    }
}
