//! `lapwing top` looks at the rings of other processes, from outside.
//!
//! ```text
//! choose ── files ──> watch ── Seen ──> figures ── Figures ─┬─> json             one object a line
//!  (which rings)      (snapshots)       (plain data, pure)  └─> table ─┬─> text  --once
//!                                                                      └─> screen  ratatui
//!                                                 run: what is asked for, how often, until when
//! ```

mod words;

mod error;

mod choose;

mod cli;
mod figures;

mod json;
mod table;
mod watch;

mod text;

mod screen;

mod run;

use std::process::ExitCode;

use clap::Parser;

use cli::{Arguments, Command};

fn main() -> ExitCode {
    let Command::Top(arguments) = Arguments::parse().command;
    match run::top(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lapwing: {error}");
            ExitCode::FAILURE
        }
    }
}
