//! The command as a user runs it.

use std::process::{Command, Output};

/// Runs the command with `flags`.
pub(crate) fn lapwing(flags: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_lapwing")).args(flags).output();
    output.expect("the binary starts")
}

/// Runs `flags`, which succeed, and returns the tables.
pub(crate) fn tables(flags: &[&str]) -> String {
    let output = lapwing(flags);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{flags:?}: {complaint}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
