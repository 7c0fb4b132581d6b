//! What is refused: bad values before anything runs (exit code 2), wrong answers after the run (exit code 1, no table).

use std::fs;

use crate::{complaint, lapwing, output};

/// Bad values, and what the complaint says.
const BAD_VALUES: &[(&str, &str)] = &[
    ("", "Usage: lapwing-lab <COMMAND>"),
    ("throughput --ring=3", "power of two"),
    ("limits --case=pipe", "pipe"),
    ("limits --event-bytes=9", "9"),
    ("limits --events=0", "0"),
    ("limits --case=", "--case"),
    ("perftest --test=OneToNone --runs=1", "OneToNone"),
    ("perftest --full --events=9", "--full"),
    ("perftest --full --quick", "--full"),
    ("perftest --test= --runs=1", "--test"),
    ("channels --capacity=3", "power of two"),
    ("channels --senders=0", "0"),
    ("channels --beside=nobody", "nobody"),
    ("channels --run-ms=0", "0"),
    ("neighbours --busy=65", "65"),
    ("neighbours --ring=3", "power of two"),
    ("neighbours --placement=0", "0"),
    ("oversubscribed --producers=0", "0"),
    ("oversubscribed --consumers=65", "65"),
    ("oversubscribed --placement=65", "65"),
    ("idle --placement=none", "none"),
    ("idle --consumers=0", "0"),
    ("idle --seconds-per-run=0", "above 0"),
    #[cfg(target_os = "linux")]
    ("processes --readers=0", "0"),
    #[cfg(target_os = "linux")]
    ("processes --publish=batch:9 --ring=8", "a batch has 1..=8 events"),
    #[cfg(target_os = "linux")]
    ("processes --ring=67108864", "at most 1048576 slots of 256 bytes"),
    ("dispatch --config=no-such-file", "no-such-file"),
    ("report", "<FOLDER>"),
    ("report no-such-folder", "expected a folder that exists"),
    ("report . --output data.json", "ends in `.html`"),
];

/// Bad configurations of `dispatch`, and what the complaint says.
const BAD_CONFIGURATIONS: [(&str, &str); 4] = [
    ("n_strategies: 2\nvenues: 4\n", "unknown key, the keys are n_strategies"),
    ("n_strategies: 2\nvenues: 4\n", "line=2 key=\"venues\""),
    ("window_ms: soon\n", "window_ms must be a whole number in 1..=600000: line=1"),
    ("repeats: 2\nrepeats: 3\n", "line=2 first_line=1 key=repeats"),
];

/// Runs with a wrong answer, and how the complaint begins.
const WRONG_ANSWERS: &[(&str, &str)] = &[
    (
        "throughput --topology=unicast --runs=1 --events=20000 --contender=std-mpsc,wrong-answer",
        "wrong answer, so no speed: topology=unicast contender=wrong-answer",
    ),
    (
        "contention --events 20000 --case wrong-answer",
        "wrong answer, so no speed: topology=counter",
    ),
    (
        "limits --events=300 --runs=1 --case=wrong-answer",
        "wrong answer, so no speed: topology=limits",
    ),
    (
        "ping-pong --events 2000 --contender wrong-answer",
        "wrong answer, so no speed: topology=ping-pong",
    ),
    (
        "latency --rate 100000 --seconds-per-run 0.02 --contender wrong-answer",
        "wrong answer, so no speed: topology=pipeline",
    ),
    (
        "oversubscribed --events 2000 --producers 2 --consumers 2 --contender wrong-answer",
        "wrong answer, so no speed: topology=oversubscribed",
    ),
    (
        "channels --rounds 1 --run-ms 10 --payload word --capacity 16 --senders 1 --contender wrong-answer",
        "wrong answer, so no speed: topology=channels",
    ),
    (
        "neighbours --rounds 1 --run-ms 10 --ring 256 --busy 0 --contender wrong-answer",
        "wrong answer, so no speed: topology=unicast",
    ),
    (
        "idle --runs 1 --seconds-per-run 0.05 --rate 1000 --contender wrong-answer",
        "wrong answer, so no speed: topology=",
    ),
    #[cfg(target_os = "linux")]
    (
        "processes --runs 1 --events 100 --load stream --contender wrong-answer",
        "wrong answer, so no speed: topology=processes contender=wrong-answer",
    ),
    ("dispatch --quick --technique=wrong-answer", "wrong answer, so no times: topology=dispatch"),
    (
        "perftest --events=500 --runs=1 --test=WrongSum",
        "wrong answer, so no speed: topology=WrongSum",
    ),
];

#[test]
fn bad_values_are_refused_before_anything_runs() {
    for (arguments, reason) in BAD_VALUES {
        let output = output(arguments);
        let complaint = complaint(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {complaint}");
        assert!(complaint.contains(reason), "{arguments}: {complaint}");
        assert!(!complaint.contains("calibrating"), "{arguments}: refused too late");
    }
}

#[test]
fn bad_configurations_are_refused_before_anything_runs() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let config = folder.path().join("bad.yaml");
    for (text, reason) in BAD_CONFIGURATIONS {
        fs::write(&config, text).expect("the folder can be written");
        let output = lapwing("dispatch --config").arg(&config).output().expect("the binary starts");
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(complaint(&output).contains(reason), "{}", complaint(&output));
        assert!(output.stdout.is_empty(), "refused too late");
    }
}

#[test]
fn a_wrong_answer_has_no_table() {
    for (arguments, reason) in WRONG_ANSWERS {
        let output = output(arguments);
        let complaint = complaint(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments}: {complaint}");
        assert!(complaint.contains(reason), "{arguments}: {complaint}");
        let printed = String::from_utf8_lossy(&output.stdout);
        let has_table = printed.lines().any(|line| line.starts_with('|'));
        assert!(!has_table, "{arguments}: {printed}");
    }
}

#[test]
fn a_file_that_cannot_be_used_leaves_no_page() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    fs::write(folder.path().join("bad.json"), "{}").expect("the folder can be written");
    let output = lapwing("report").arg(folder.path()).output().expect("the binary starts");
    assert_eq!(output.status.code(), Some(1));
    let complaint = complaint(&output);
    assert!(complaint.contains("bad.json: not a report of lapwing: "), "{complaint}");
    assert!(!folder.path().join("report.html").exists());
}

#[test]
fn a_file_that_cannot_be_written_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let mut command = lapwing("throughput --topology=unicast --runs=1 --events=100 --json");
    let output = command.arg(folder.path()).output().expect("the binary starts");
    assert_eq!(output.status.code(), Some(1));
    let complaint = complaint(&output);
    assert!(complaint.contains("cannot write"), "{complaint}");
    assert!(!complaint.contains("round"), "refused too late: {complaint}");
}
