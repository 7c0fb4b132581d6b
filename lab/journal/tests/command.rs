//! The benchmark as a user runs it, and the example of the journal: each log must have each event once.

use std::env;
use std::process::Command;

#[test]
fn each_log_has_each_event_and_the_file_has_each_log() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let json = folder.path().join("journal.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_journal-bench"));
    command.args(["--rounds", "1", "--seconds", "0.02", "--rate", "10000"]);
    command.arg("--folder").arg(folder.path()).arg("--json").arg(&json);
    // The rival in Java is compiled once for all runs.
    let target = env::current_exe().expect("the system knows this program");
    command.arg("--cache").arg(target.ancestors().nth(3).expect("it is in a target folder"));
    let output = command.output().expect("the binary starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = std::fs::read_to_string(&json).expect("the file is written");
    let file = serde_json::from_str::<serde_json::Value>(&file).expect("the file is JSON");
    assert!(file["results"].as_array().is_some_and(|results| results.len() > 5), "{file:#}");
    assert!(file["machine"]["cpu"].is_string(), "{file:#}");
}
