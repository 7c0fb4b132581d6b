//! The exchange as a program. Without a command it checks itself for a minute.

#[macro_use]
mod output;

mod commands;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use commands::{bench, check, load, replicated, secret, serve, watch};

/// An exchange: risk checks, matching, a journal, a gateway and market data.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, args_conflicts_with_subcommands = true)]
struct Arguments {
    /// The same as the command `replicated` with its defaults.
    #[arg(long)]
    replicated: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve clients until SIGTERM, SIGINT or the end of a piped input, or until a stage fails.
    Serve(serve::Arguments),
    /// Make a secret for the operator or for an account, and print what the client logs in with.
    Secret(secret::Arguments),
    /// Send commands to an exchange at a steady rate and report delays.
    Load(load::Arguments),
    /// Show book, trades, traffic and delays of an exchange in the terminal.
    Watch(watch::Arguments),
    /// Measure delays and throughput without a network.
    Bench(bench::Arguments),
    /// Serve, send, kill, recover, go on, and compare all answers and market data.
    ///
    /// The plain exchange carries out the same commands. The check ends within a minute, or two times
    /// --seconds and 20 s if that is more. A busy machine compares fewer commands in that time. The
    /// check cannot see a missing sync: a process that is killed loses nothing that it has written.
    Check(check::Arguments),
    /// Kill a leader under load, let its follower take over, and compare both with a plain exchange.
    Replicated(replicated::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Some(Command::Serve(arguments)) => serve::run(&arguments),
        Some(Command::Secret(arguments)) => secret::run(&arguments),
        Some(Command::Load(arguments)) => load::run(&arguments),
        Some(Command::Watch(arguments)) => watch::run(&arguments),
        Some(Command::Bench(arguments)) => bench::run(&arguments),
        Some(Command::Check(arguments)) => check::run(&arguments),
        Some(Command::Replicated(arguments)) => replicated::run(&arguments),
        None if arguments.replicated => replicated::run(&replicated::Arguments::default()),
        None => check::run(&check::Arguments::default()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("exchange: {error}");
            if error.is::<replicated::CannotRun>() {
                return ExitCode::from(replicated::CannotRun::STATUS);
            }
            ExitCode::FAILURE
        }
    }
}
