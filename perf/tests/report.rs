//! `lapwing report` as a user runs it: over a file that `lapwing` has just written.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs, process};

/// Runs `lapwing` with `arguments`.
fn lapwing(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lapwing"));
    command.args(arguments).output().expect("the binary starts")
}

/// An empty folder that no other test uses.
fn folder(name: &str) -> PathBuf {
    let path = env::temp_dir().join(format!("lapwing-report-command-{}-{name}", process::id()));
    fs::create_dir_all(&path).expect("the folder can be made");
    path
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_was_measured_becomes_a_page_with_pictures() {
    let folder = folder("measured");
    let throughput = ["throughput", "--topology=unicast", "--contender=std-mpsc"];
    let contention = ["contention", "--case=plain,cas", "--runs=2"];
    for flags in [throughput, contention] {
        let command = flags[0];
        let json = text(&folder.join(format!("{command}.json")));
        let output = lapwing(&[&flags[..], &["--events=200", "--json", &json]].concat());
        assert!(output.status.success(), "{command}: {}", complaint(&output));
    }

    let output = lapwing(&["report", &text(&folder)]);
    assert!(output.status.success(), "{}", complaint(&output));
    let written = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = ["report.html", "throughput.svg", "contention.svg"];
    let expected = names.map(|name| text(&folder.join(name)));
    assert!(written.lines().eq(&expected), "{written}");
    let page = fs::read_to_string(folder.join("report.html")).expect("the page is there");
    for section in ["throughput", "contention"] {
        assert!(page.contains(&format!("<section id=\"{section}\">")), "{section}");
    }
    fs::remove_dir_all(&folder).expect("the folder can be removed");
}

#[test]
fn bad_arguments_are_refused_before_anything_is_read() {
    let folder = folder("arguments");
    let data = text(&folder.join("data.json"));
    for (arguments, reason) in [
        (vec!["report"], "<FOLDER>"),
        (vec!["report", "no such folder"], "expected a folder that exists"),
        (vec!["report", &text(&folder), "--output", &data], "ends in `.html`"),
    ] {
        let output = lapwing(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(complaint(&output).contains(reason), "{}", complaint(&output));
    }
    fs::remove_dir_all(&folder).expect("the folder can be removed");
}

#[test]
fn a_file_that_cannot_be_used_leaves_no_page() {
    let folder = folder("bad");
    fs::write(folder.join("bad.json"), "{}").expect("the file can be written");

    let output = lapwing(&["report", &text(&folder)]);
    assert_eq!(output.status.code(), Some(1));
    let complaint = complaint(&output);
    assert!(complaint.starts_with("lapwing: not a report of lapwing: "), "{complaint}");
    assert!(complaint.contains("bad.json"), "{complaint}");
    assert!(!folder.join("report.html").exists());
    fs::remove_dir_all(&folder).expect("the folder can be removed");
}
