//! `lapwing-lab`, the performance laboratory: wiring only.
//!
//! ```text
//! cli --> commands --> flags --> contenders --> foreign   (rivals in Java and C++, as processes)
//!            |                       |     \--> rings     (ends of Lapwing's rings)
//!            |                       \--> load            (what is moved, and through which graph)
//!            |                                     \--> measure (rounds, runs, threads) --> machine
//!            \--> view --> record    (how results are shown, and what they are)
//! ```
//!
//! An arrow is an import; none goes back.
//!
//! A further experiment is a file in `commands`: its flags, what its rows run (a `measure::runner::Subject`), and how
//! their records are shown (a `view::View`, named in `commands::VIEWS`).
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
// `contenders::lapwing_plain` compiles the adapter of `contenders::lapwing` for a second library.
#![allow(clippy::duplicate_mod)]

mod cli; // the subcommands, and what is refused before anything runs
mod commands; // the benchmarks
mod contenders; // one adapter per rival
mod flags; // flags that several commands have
mod foreign; // rivals in other languages, as processes
mod load; // what is moved, and through which graph
mod machine; // where the numbers are measured, and who else was there
mod measure; // rounds, rows, runs, threads and the clock
mod output; // what is printed
mod record; // what a measurement leaves behind
mod rings; // threads for the ends of Lapwing's rings
mod view; // how records are shown

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::measure::error::Error;

/// Runs the subcommand; an error goes to standard error and makes exit code 1, Ctrl-C 130.
fn main() -> ExitCode {
    match run(Cli::parse_or_exit()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::note(format_args!("lapwing: {error}"));
            error.exit_code()
        }
    }
}

/// Dispatches on the subcommand.
fn run(cli: Cli) -> Result<(), Error> {
    match cli.command {
        Command::Throughput(arguments) => commands::throughput::run(&arguments),
        Command::Contention(arguments) => commands::contention::run(&arguments),
        Command::PingPong(arguments) => commands::ping_pong::run(&arguments),
        Command::Latency(arguments) => commands::latency::run(&arguments),
        Command::Sweep(arguments) => commands::sweep::run(&arguments),
        Command::Dispatch(arguments) => commands::dispatch::run(&arguments),
        Command::Oversubscribed(arguments) => commands::oversubscribed::run(&arguments),
        Command::Channels(arguments) => commands::channels::run(&arguments),
        Command::Async(arguments) => commands::tasks::run(&arguments),
        Command::Neighbours(arguments) => commands::neighbours::run(&arguments),
        Command::OneCpuRun(arguments) => commands::channels::one_cpu::serve(&arguments),
        Command::BusyThreads { count } => Ok(machine::BusyThreads::serve(count)?),
        Command::Idle(arguments) => commands::idle::run(&arguments),
        #[cfg(unix)]
        Command::Aeron(arguments) => commands::aeron::run(&arguments),
        #[cfg(unix)]
        Command::Journal(arguments) => commands::journal::run(&arguments),
        #[cfg(target_os = "linux")]
        Command::Processes(arguments) => commands::processes::run(&arguments),
        #[cfg(target_os = "linux")]
        Command::ProcessEnd { setup } => Ok(contenders::processes::serve(&setup)?),
        Command::Limits(arguments) => commands::limits::run(&arguments),
        Command::Perftest(arguments) => commands::perftest::run(&arguments),
        Command::Report(arguments) => view::run(&arguments, commands::VIEWS),
        Command::All(arguments) => {
            commands::campaign::run(&arguments, |line| run(Cli::parse_from(line)))
        }
    }
}
