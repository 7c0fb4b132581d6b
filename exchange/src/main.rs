//! The exchange as a program. Without a command it checks itself for a minute.

mod commands;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use commands::{bench, check, load, serve, watch};

/// An exchange: risk checks, matching, a journal, a gateway and market data.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve clients until the standard input ends, or a stage fails.
    Serve(serve::Arguments),
    /// Send commands to an exchange at a steady rate and report delays.
    Load(load::Arguments),
    /// Show book, trades, traffic and delays of an exchange in the terminal.
    Watch(watch::Arguments),
    /// Measure delays and throughput without a network.
    Bench(bench::Arguments),
    /// Serve, send, kill, recover, go on, and compare every report with a plain exchange.
    Check(check::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Some(Command::Serve(arguments)) => serve::run(&arguments),
        Some(Command::Load(arguments)) => load::run(&arguments),
        Some(Command::Watch(arguments)) => watch::run(&arguments),
        Some(Command::Bench(arguments)) => bench::run(&arguments),
        Some(Command::Check(arguments)) => check::run(&arguments),
        None => check::run(&check::Arguments::default()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("exchange: {error}");
            ExitCode::FAILURE
        }
    }
}
