//! `lapwing channels` and `lapwing neighbours` as a user runs them, beside busy threads and on one CPU, and one page from
//! their files.
#![cfg(target_os = "linux")]

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::{env, fs, process, thread};

use common::{lapwing, tables};

#[test]
fn both_commands_write_files_that_the_report_reads() {
    let folder = env::temp_dir().join(format!("lapwing-beside-{}", process::id()));
    fs::create_dir_all(&folder).expect("the folder can be made");
    let file = |name: &str| folder.join(name).display().to_string();
    let (channels, neighbours) = (file("channels.json"), file("neighbours.json"));

    let cells = ["channels", "--capacity=4", "--senders=2", "--payload=word", "--run-ms=2"];
    let rounds = ["--rounds=1", "--contender=lapwing,std-mpsc", "--json", &channels];
    let text = tables(&[&cells[..], &rounds[..]].concat());
    for beside in ["| quiet", "| busy", "| one-cpu"] {
        assert!(text.contains(beside), "{text}");
    }

    let cells = ["neighbours", "--topology=unicast", "--ring=64", "--busy=0,1", "--run-ms=2"];
    let rounds = ["--rounds=1", "--contender=lapwing,std-mpsc", "--json", &neighbours];
    let text = tables(&[&cells[..], &rounds[..]].concat());
    assert!(
        text.contains("lapwing adaptive auto: at least as fast as the best rival in"),
        "{text}"
    );

    tables(&["report", &folder.display().to_string()]);
    let html = fs::read_to_string(folder.join("report.html")).expect("the page is written");
    fs::remove_dir_all(&folder).expect("the folder can be removed");
    for section in ["channels", "neighbours"] {
        assert!(html.contains(&format!("<section id=\"{section}\">")), "{section}");
    }
}

#[test]
fn bad_values_are_refused_before_anything_runs() {
    let cases = [
        ["channels", "--capacity=3"],
        ["channels", "--senders=0"],
        ["channels", "--beside=nobody"],
        ["channels", "--run-ms=0"],
        ["neighbours", "--busy=65"],
        ["neighbours", "--ring=3"],
        ["neighbours", "--placement=0"],
    ];
    for case in cases {
        assert_eq!(lapwing(&case).status.code(), Some(2), "{case:?}");
    }
}

/// The process of busy threads, once all of them run.
fn busy_threads() -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lapwing"));
    command.args(["busy-threads", "1"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut line = String::new();
    let output = child.stdout.as_mut().expect("it is a pipe");
    BufReader::new(output).read_line(&mut line).expect("the threads run");
    assert_eq!(line, "\n");
    child
}

#[test]
fn busy_threads_end_when_their_input_is_closed() {
    let mut child = busy_threads();
    drop(child.stdin.take());
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn busy_threads_end_with_the_thread_that_started_them() {
    let mut child = thread::spawn(busy_threads).join().expect("it starts");
    let status = child.wait().expect("it ends");
    assert!(!status.success(), "killed by the system: {status}");
}
