//! The command as a user runs it: exit codes, the report, the file.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::{env, fs, process};

/// Runs `lapwing throughput` with a few events and `flags`.
fn throughput(flags: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lapwing"))
        .args(["throughput", "--topology=unicast", "--runs=1"])
        .args(flags)
        .output()
        .expect("the binary starts")
}

/// What the command wrote to standard error.
fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A file name in the temporary folder that no other test uses.
fn temporary(name: &str) -> PathBuf {
    env::temp_dir().join(format!("lapwing-perf-{}-{name}", process::id()))
}

#[test]
fn wrong_answer_is_refused() {
    let output = throughput(&["--events=100", "--contender=std-mpsc,wrong-answer"]);

    assert_eq!(output.status.code(), Some(1));
    let complaint = complaint(&output);
    assert!(
        complaint.contains("wrong answer, so no speed: topology=unicast contender=wrong-answer"),
        "{complaint}"
    );
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(!report.contains("events/batch"), "no table follows a wrong answer: {report}");
}

#[test]
fn bad_value_is_refused_before_anything_runs() {
    let output = throughput(&["--ring=3"]);

    assert_eq!(output.status.code(), Some(2));
    assert!(complaint(&output).contains("power of two"));
}

#[test]
fn json_file_is_written() {
    let path = temporary("report.json");
    let file = path.display().to_string();
    let output = throughput(&["--events=100", "--contender=bounded-queue", "--json", &file]);
    assert!(output.status.success(), "{}", complaint(&output));

    let text = fs::read_to_string(&path).expect("the file exists");
    fs::remove_file(&path).expect("the file can be removed");
    let report = serde_json::from_str::<serde_json::Value>(&text).expect("the file is JSON");
    assert_eq!(report["results"][0]["contender"], "bounded-queue");
    assert_eq!(report["results"][0]["ratio_to_baseline"], 1.0);
}

#[test]
fn unwritable_json_file_is_refused_before_anything_runs() {
    let folder = env::temp_dir().display().to_string();
    let output = throughput(&["--events=100", "--contender=std-mpsc", "--json", &folder]);

    assert_eq!(output.status.code(), Some(1));
    let complaint = complaint(&output);
    assert!(complaint.contains("cannot write"), "{complaint}");
    assert!(!complaint.contains("round"), "refused too late: {complaint}");
}

#[test]
fn progress_is_plain_lines_without_a_terminal() {
    let output = throughput(&["--events=100", "--contender=std-mpsc"]);

    let lines = complaint(&output);
    assert_eq!(lines, "calibrating\nwarm-up round\nround 1 of 1\n");
}

#[test]
#[cfg(unix)]
fn a_rival_without_its_tools_is_a_line_that_says_so() {
    let output = Command::new(env!("CARGO_BIN_EXE_lapwing"))
        .args(["throughput", "--topology=unicast", "--runs=1", "--events=100"])
        .arg("--contender=std-mpsc,lmax,array-blocking-queue,moodycamel")
        .env("PATH", "")
        .output()
        .expect("the binary starts");
    assert!(output.status.success(), "{}", complaint(&output));
    let report = String::from_utf8_lossy(&output.stdout);
    assert_eq!(report.matches("javac is not installed").count(), 2, "{report}");
    assert_eq!(report.matches("g++ is not installed").count(), 1, "{report}");
}

#[test]
fn no_subcommand_means_the_help() {
    let output = Command::new(env!("CARGO_BIN_EXE_lapwing")).output().expect("the binary starts");
    assert_eq!(output.status.code(), Some(2));
    let help = complaint(&output);
    assert!(help.contains("Usage: lapwing <COMMAND>") && help.contains("ping-pong"), "{help}");
}

#[test]
fn tables_fit_a_hundred_columns_and_say_what_they_leave_out() {
    let table = |columns: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lapwing"));
        command.args(["throughput", "--topology=unicast", "--runs=1", "--events=100"]);
        command.arg("--contender=lapwing,crossbeam-arrayqueue,disruptor").env_remove("COLUMNS");
        columns.map(|columns| command.env("COLUMNS", columns));
        let output = command.output().expect("the binary starts");
        assert!(output.status.success(), "{}", complaint(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let narrow = table(None);
    let widest = narrow.lines().filter(|line| line.starts_with('|')).map(str::len).max();
    assert!(widest <= Some(100) && narrow.contains("left out, for 100 columns"), "{narrow}");
    let wide = table(Some("200"));
    assert!(wide.contains("events/batch") && !wide.contains("left out"), "{wide}");
}

/// A folder of programs that has `bash` only.
#[cfg(unix)]
fn bash_only() -> PathBuf {
    let folder = temporary("bash-only");
    fs::create_dir_all(&folder).expect("a temporary folder");
    let paths = env::var_os("PATH").expect("a path");
    let bash = env::split_paths(&paths).map(|path| path.join("bash")).find(|bash| bash.is_file());
    let _ = std::os::unix::fs::symlink(bash.expect("bash is installed"), folder.join("bash"));
    folder
}

#[test]
#[cfg(unix)]
fn aeron_without_its_tools_says_what_is_missing() {
    let path = bash_only();
    let output = Command::new(env!("CARGO_BIN_EXE_lapwing"))
        .args(["aeron", "--rounds=1"])
        .env("PATH", &path)
        .output()
        .expect("the binary starts");
    let _ = fs::remove_dir_all(path);
    let complaint = complaint(&output);
    assert_eq!(output.status.code(), Some(77), "{complaint}");
    assert!(complaint.contains("clang, a C compiler or libbsd is missing"), "{complaint}");
}
