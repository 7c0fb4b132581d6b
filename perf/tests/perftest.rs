//! `lapwing perftest` as a user runs it.

use std::process::{Command, Output};
use std::{env, fs, process};

/// Runs `lapwing perftest` with `flags`.
fn perftest(flags: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lapwing"));
    command.arg("perftest").args(flags).output().expect("the binary starts")
}

#[test]
fn whole_command_runs_every_test_at_the_size_of_its_ring() {
    let path = env::temp_dir().join(format!("lapwing-perf-{}-perftest.json", process::id()));
    let file = path.display().to_string();
    let output = perftest(&["--events=500", "--runs=1", "--json", &file]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let text = fs::read_to_string(&path).expect("the file exists");
    fs::remove_file(&path).expect("the file can be removed");
    let report = serde_json::from_str::<serde_json::Value>(&text).expect("the file is JSON");
    let rows = report["results"].as_array().expect("there are results");
    assert_eq!(rows.len(), 16);
    assert!(
        rows.iter().all(|row| row["facts"]["events"] == 500 && row["verified"] == true),
        "{text}"
    );
    let table = String::from_utf8_lossy(&output.stdout);
    for row in rows {
        let name = row["cell"]["test"].as_str().expect("a test has a name");
        assert!(name.ends_with("Test") && table.contains(name), "{name}");
    }
    assert!(table.contains("all verified: 16 rows, 16 runs"), "{table}");
}

#[test]
fn wrong_sum_is_refused() {
    let output = perftest(&["--events=500", "--runs=1", "--test=WrongSum"]);
    assert_eq!(output.status.code(), Some(1));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("wrong answer, so no speed: topology=WrongSum"), "{complaint}");
}

#[test]
fn bad_value_is_refused_before_anything_runs() {
    for flags in [
        ["--test=OneToNone", "--runs=1"],
        ["--full", "--events=9"],
        ["--full", "--quick"],
        ["--test=", "--runs=1"],
    ] {
        let output = perftest(&flags);
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        assert!(!String::from_utf8_lossy(&output.stderr).contains("calibrating"), "{flags:?}");
    }
}

#[test]
fn tests_are_found_by_their_names_in_capitals_or_not() {
    let names = "--test=onetoonerawthroughputtest,OneToOneRawThroughputTest";
    let output = perftest(&["--events=500", "--runs=1", names]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.contains("all verified: 1 rows, 1 runs"), "{table}");
}
