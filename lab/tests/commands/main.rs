//! The laboratory as a user runs it. To add a command, add a line to `RUNS` in `answers`, and what it must refuse to
//! the tables in `refusals`.
//!
//! ```text
//! answers     each command ends with right answers, writes its file, and has a section on the page
//! refusals    bad values and wrong answers: the exit code and the reason
//! output      tables, progress, files; readers that have left
//! processes   busy threads, and programs that need tools
//! ```

mod answers;
mod output;
mod processes;
mod refusals;

use std::process::{Command, Output};

/// Returns the command with `arguments`, separated by spaces.
fn lapwing(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lapwing-lab"));
    command.args(arguments.split_whitespace());
    command
}

/// Runs the command with `arguments`, separated by spaces.
fn output(arguments: &str) -> Output {
    lapwing(arguments).output().expect("the binary starts")
}

/// Runs `command`, which succeeds, and returns what it prints.
fn printed(command: &mut Command) -> String {
    let output = command.output().expect("the binary starts");
    assert!(output.status.success(), "{command:?}: {}", complaint(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns what the command wrote to standard error.
fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
