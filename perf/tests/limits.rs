//! `lapwing limits` as a user runs it.

use std::process::{Command, Output};
use std::{env, fs, process};

/// Runs `lapwing limits` with `flags`.
fn limits(flags: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lapwing"));
    command.arg("limits").args(flags).output().expect("the binary starts")
}

#[test]
fn whole_command_writes_a_row_for_each_limit() {
    let path = env::temp_dir().join(format!("lapwing-perf-{}-limits.json", process::id()));
    let file = path.display().to_string();
    let output = limits(&["--events=300", "--runs=1", "--json", &file]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let text = fs::read_to_string(&path).expect("the file exists");
    fs::remove_file(&path).expect("the file can be removed");
    let report = serde_json::from_str::<serde_json::Value>(&text).expect("the file is JSON");
    let rows = report["results"].as_array().expect("there are results");
    let names =
        rows.iter().map(|row| (row["contender"].as_str(), row["cell"]["event_bytes"].as_u64()));
    let expected = [
        ("exchange", 8),
        ("stamp-exchange", 8),
        ("slot-exchange", 8),
        ("stream", 8),
        ("stream", 32),
        ("stream", 64),
        ("stream", 256),
        ("ring-stream", 8),
        ("ring-stream", 32),
        ("ring-stream", 64),
        ("ring-stream", 256),
        ("singles", 8),
        ("small-singles", 8),
        ("claims", 8),
        ("claims-read", 8),
        ("solo-ring", 8),
        ("solo-loop", 8),
    ];
    assert!(names.eq(expected.map(|(name, bytes)| (Some(name), Some(bytes)))), "{text}");
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.contains("all verified: 17 rows, 17 runs"), "{table}");
}

#[test]
fn wrong_answer_is_refused() {
    let output = limits(&["--events=300", "--runs=1", "--case=wrong-answer"]);
    assert_eq!(output.status.code(), Some(1));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("wrong answer, so no speed: topology=limits"), "{complaint}");
}

#[test]
fn bad_value_is_refused_before_anything_runs() {
    for flags in [["--case=pipe"], ["--event-bytes=9"], ["--events=0"], ["--case="]] {
        let output = limits(&flags);
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        assert!(!String::from_utf8_lossy(&output.stderr).contains("calibrating"), "{flags:?}");
    }
}
