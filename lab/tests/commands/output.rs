//! Tables within the terminal, progress, and readers that have left, as in `lapwing-lab throughput 2>&1 | head -1`.

use std::process::Stdio;
use std::{fs, io};

use crate::{complaint, lapwing, output, printed};

/// A measurement of moments.
const SHORT: &str = "throughput --topology=unicast --runs=1 --events=100 --contender=std-mpsc";

#[test]
fn progress_is_plain_lines_without_a_terminal() {
    assert_eq!(complaint(&output(SHORT)), "calibrating\nwarm-up round\nround 1 of 1\n");
}

#[test]
fn tables_fit_a_hundred_columns_and_say_what_they_leave_out() {
    let contenders = "--contender=lapwing,crossbeam-arrayqueue,disruptor";
    let line = format!("throughput --topology=unicast --runs=1 --events=100 {contenders}");
    let narrow = printed(lapwing(&line).env_remove("COLUMNS"));
    let widest = narrow.lines().filter(|line| line.starts_with('|')).map(str::len).max();
    assert!(widest <= Some(100) && narrow.contains("left out, for 100 columns"), "{narrow}");
    let wide = printed(lapwing(&line).env("COLUMNS", "200"));
    assert!(wide.contains("events/batch") && !wide.contains("left out"), "{wide}");
}

/// A pipe whose reader has left.
fn closed_pipe() -> Stdio {
    let (reader, writer) = io::pipe().expect("the system has pipes");
    drop(reader);
    writer.into()
}

/// The exit code of a command whose readers of both outputs have left.
#[cfg(unix)]
fn exit_code_without_readers(command: &mut std::process::Command) -> Option<i32> {
    let status = command.stdin(Stdio::null()).stdout(closed_pipe()).stderr(closed_pipe()).status();
    status.expect("the binary starts").code()
}

#[test]
#[cfg(unix)]
fn readers_that_have_left_do_not_end_a_measurement() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let json = folder.path().join("report.json");
    let code = exit_code_without_readers(lapwing(SHORT).arg("--json").arg(&json));
    assert_eq!(code, Some(0));
    let text = fs::read_to_string(&json).expect("the file is written");
    let report = serde_json::from_str::<serde_json::Value>(&text).expect("the file is JSON");
    assert_eq!(report["complete"], true);
    assert_eq!(exit_code_without_readers(lapwing("report").arg(folder.path())), Some(0));
}

#[test]
#[cfg(unix)]
fn an_error_that_nobody_reads_has_its_exit_code() {
    let wrong = SHORT.replace("std-mpsc", "wrong-answer");
    for (arguments, code) in
        [(&*wrong, 1), ("throughput --ring=3", 2), ("report /no/such/folder", 2), ("--help", 0)]
    {
        assert_eq!(exit_code_without_readers(&mut lapwing(arguments)), Some(code), "{arguments}");
    }
}
