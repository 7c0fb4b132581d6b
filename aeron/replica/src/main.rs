//! The exchange on two machines, as a program.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use exchange_replica::{follower, leader};

/// A leader serves clients and ships its input to a follower, which takes over on command.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve clients and ship commands, until SIGTERM, SIGINT or the end of a piped input.
    Leader(leader::Arguments),
    /// Follow a leader. A line "promote" lets the follower serve clients. Ends as the leader does.
    Follower(follower::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Leader(arguments) => leader::run(&arguments),
        Command::Follower(arguments) => follower::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("exchange-replica: {error}");
            ExitCode::FAILURE
        }
    }
}
