//! `--once` and `--json`.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::process::Stdio;

use serde_json::Value;

use crate::ring::{Folder, complaint, shown};

/// Two looks that are a short time apart.
const SHORT: [&str; 3] = ["--once", "--interval", "100ms"];

fn with<'a>(first: &[&'a str], others: &[&'a str]) -> Vec<&'a str> {
    [first, others].concat()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_running_ring_is_shown_with_its_rates() {
    let folder = Folder::new();
    let ring = folder.ring(&["none", "--dynamic"]);
    let text = shown(&folder.top(&["--once"]));
    for part in [
        "ring orders, open, made ",
        &format!("by process {} (running)", ring.pid()),
        " of 1024 slots are held; ",
        "  decode     producers",
        "    journal  decode",
        "      reply  journal, risk",
    ] {
        assert!(text.contains(part), "no {part}:\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "{text}");
    // Without a terminal, the same.
    assert!(shown(&folder.top(&["orders"])).starts_with("ring orders, open"));
    folder.top_until(&with(&["orders"], &SHORT), &["screen"]);

    let line = shown(&folder.top(&with(&["--json"], &SHORT)));
    assert_eq!(line.lines().count(), 1);
    let object = json(&line);
    assert_eq!(object["pid"], ring.pid());
    assert_eq!(
        (&object["process_state"], &object["ring_state"]),
        (&"running".into(), &"open".into())
    );
    assert!(object["published_events_per_second"].as_f64().unwrap() >= 0.0);
    assert_eq!(object["stages"][3]["after"], serde_json::json!(["journal", "risk"]));
    assert_eq!(object["stages"][2]["thread"], "risk-0, risk-1");
    ring.close();
    complaint(&folder.top(&["--once"]), 1);
}

#[test]
fn a_slow_stage_limits_the_ring() {
    let folder = Folder::new();
    let _ring = folder.ring(&["slow", "--capacity", "64"]);
    let parts = ["stage \"journal\" limits the ring", "stage \"journal\" 100 %", "waiting"];
    folder.top_until(&with(&["orders"], &SHORT), &parts);
}

#[test]
fn a_handler_that_hangs_is_named_while_running_stopped_and_dead() {
    let folder = Folder::new();
    let mut ring = folder.ring(&["hang"]);
    let pid = ring.pid();
    ring.wait_for("in trouble");
    let once = with(&["orders"], &SHORT);
    let stalled = "stage \"journal\" is in its handler, at sequence ";
    let text = folder.top_until(&once, &["full: ", stalled, " for at least "]);
    assert!(text.contains("2 producers wait"), "{text}");
    let object = json(&shown(&folder.top(&with(&["--json"], &once))));
    assert_eq!(object["verdict"]["kind"], "stalled");
    assert_eq!(
        object["verdict"]["culprit"],
        serde_json::json!({"kind": "stage", "stage": "journal"})
    );
    assert!(object["verdict"]["at_least_seconds"].as_f64().unwrap() >= 0.1);

    ring.stop();
    let text = shown(&folder.top(&once));
    let stopped = format!(
        "process {pid} is stopped, by SIGSTOP, a terminal or a debugger; stage \"journal\" was in its handler, at sequence "
    );
    assert!(text.contains(&stopped), "{text}");
    assert!(text.contains(&format!("by process {pid} (stopped)")), "{text}");

    ring.kill();
    let text = shown(&folder.top(&with(&[&pid.to_string()], &SHORT)));
    let ended = format!(
        "process {pid} has ended without dropping the ring: the figures are its last ones; \
         stage \"journal\" was in its handler, at sequence "
    );
    assert!(text.contains(&ended), "{text}");
    let object = json(&shown(&folder.top(&["--once", "--json"])));
    assert_eq!(
        (&object["process_state"], &object["verdict"]["kind"]),
        (&"ended".into(), &"ended".into())
    );
    assert_eq!(object["published_events_per_second"], Value::Null);
}

#[test]
fn other_troubles_are_named() {
    for (trouble, part) in [
        ("unacknowledged", "stage \"journal\" is not acknowledged, at sequence "),
        ("claim", " is claimed and not published, for at least "),
    ] {
        let folder = Folder::new();
        let mut ring = folder.ring(&[trouble]);
        ring.wait_for("in trouble");
        folder.top_until(&with(&["orders"], &SHORT), &[part]);
    }
    let folder = Folder::new();
    let _ring = folder.ring(&["panic"]);
    // The process drops the ring soon after, unless `top` is faster: it waits for the input to end.
    folder.top_until(&SHORT, &["the ring is halted: stage \"risk\" has failed"]);
}

#[test]
fn a_file_that_is_no_ring_of_this_version_has_a_sentence() {
    let folder = Folder::new();
    let ring = folder.ring(&["none"]);
    let file = folder.only_file();
    let bytes = fs::read(&file).unwrap();
    let name = file.file_name().unwrap();
    ring.close();
    let attempt = |change: &dyn Fn(&fs::File)| {
        let other = Folder::new();
        let path = other.path().join(name);
        fs::write(&path, &bytes).unwrap();
        change(&fs::File::options().write(true).open(path).unwrap());
        complaint(&other.top(&["--once"]), 1)
    };
    let version = attempt(&|file| file.write_all_at(&[9], 8).unwrap());
    let sentence = "the file has layout version 9, but this program reads version 1: use the version \
                    of lapwing with which the ring was built\n";
    assert!(version.starts_with("lapwing: cannot read ring \"orders\" of process "), "{version}");
    assert!(version.ends_with(sentence), "{version}");
    for length in [32, 5_000] {
        let cut = attempt(&|file| file.set_len(length).unwrap());
        assert!(cut.ends_with(": the file is truncated, or describes no valid ring\n"), "{cut}");
    }
    let foreign = attempt(&|mut file| file.write_all(b"ANYTHING").unwrap());
    assert!(foreign.ends_with(": not the file of a ring\n"), "{foreign}");
}

#[test]
fn a_file_that_cannot_be_read_does_not_hide_the_others() {
    let folder = Folder::new();
    let _ring = folder.ring(&["none"]);
    fs::write(folder.path().join("quotes.1.0"), b"ANYTHING").unwrap();
    let output = folder.top(&SHORT);
    assert!(shown(&output).starts_with("ring orders, open"));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        complaint,
        "lapwing: cannot read ring \"quotes\" of process 1: not the file of a ring\n"
    );
}

#[test]
fn what_is_not_there_has_a_sentence() {
    let folder = Folder::new();
    let none = complaint(&folder.top(&[]), 1);
    assert!(none.starts_with("lapwing: no observable ring found; "), "{none}");
    for part in [".observable(\"name\")", "LAPWING_DIR", folder.path().to_str().unwrap()] {
        assert!(none.contains(part), "no {part}: {none}");
    }
    assert_eq!(none.lines().count(), 1);
    let _ring = folder.ring(&["none"]);
    let other = complaint(&folder.top(&["quotes"]), 1);
    assert!(
        other.contains("no observable ring has the name \"quotes\"; the rings are orders"),
        "{other}"
    );
    let process = complaint(&folder.top(&["1"]), 1);
    assert!(process.contains("process 1 has no observable ring"), "{process}");
}

#[test]
fn a_name_and_a_process_select_among_several() {
    let folder = Folder::new();
    let (one, two) = (folder.ring(&["none"]), folder.ring(&["none"]));
    let both = shown(&folder.top(&with(&["orders"], &SHORT)));
    let processes = [one.pid(), two.pid()].map(|pid| format!("by process {pid} (running)"));
    assert!(processes.iter().all(|process| both.contains(process)), "{both}");
    let second = shown(&folder.top(&with(&[&two.pid().to_string()], &SHORT)));
    assert!(second.contains(&processes[1]) && !second.contains(&processes[0]), "{second}");

    // A ring whose name is the number of the other process.
    let name = two.pid().to_string();
    let three = folder.ring(&["none", "--name", &name]);
    let third = shown(&folder.top(&with(&[&name], &SHORT)));
    assert!(third.contains(&format!("by process {} (running)", three.pid())), "{third}");
    let lines = shown(&folder.top(&with(&["--json"], &SHORT)));
    assert_eq!(lines.lines().map(json).filter(|object| object["format"] == 1).count(), 3);
}

#[test]
fn json_lines_go_on_until_the_process_has_ended() {
    let folder = Folder::new();
    let mut ring = folder.ring(&["hang"]);
    let mut command = folder.command(&["orders", "--json", "--interval", "50ms"]);
    let mut top = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(top.stdout.take().unwrap()).lines().map(Result::unwrap);
    let first = json(&lines.next().unwrap());
    assert!(first["interval_seconds"].as_f64().unwrap() >= 0.05);
    ring.kill();
    let last = json(&lines.last().unwrap());
    assert_eq!(last["process_state"], "ended");
    assert!(top.wait().unwrap().success());
}

#[test]
fn json_lines_end_when_nobody_reads_them() {
    let folder = Folder::new();
    let _ring = folder.ring(&["none"]);
    let mut command = folder.command(&["--json", "--interval", "50ms"]);
    let mut top = command.stdout(Stdio::piped()).spawn().unwrap();
    drop(top.stdout.take());
    assert!(top.wait().unwrap().success());
}

#[test]
fn a_wrong_argument_has_status_2() {
    let folder = Folder::new();
    let wrong = complaint(&folder.top(&["--interval", "3"]), 2);
    assert!(wrong.contains("the unit is missing; 50ms to 1h is allowed"), "{wrong}");
    let help = shown(&folder.top(&["--help"]));
    assert!(help.contains("LAPWING_DIR"), "{help}");
}
