//! `lapwing dispatch` as a user runs it: exit codes, the report, the file.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::{env, fs, process};

use serde_json::Value;

/// A few hundred orders that are held for moments.
const TINY: &str = "\
n_strategies: 2
m_venues: 2
orders_per_strategy: 100   # of each
window_ms: 5
d_min_us: 10
d_max_us: 100
repeats: 2
shared_cap: 512
spsc_cap: 512
sample_us: 100
orch_work_sweep: 0, 500
mode: shared
";

/// A file in the temporary folder that no other test uses, removed at the end.
struct Temporary(PathBuf);

impl Temporary {
    /// A name for it, and no file yet.
    fn named(name: &str) -> Self {
        Self(env::temp_dir().join(format!("lapwing-dispatch-{}-{name}", process::id())))
    }

    /// A file that holds `text`.
    fn holding(name: &str, text: &str) -> Self {
        let file = Self::named(name);
        fs::write(&file.0, text).expect("the temporary folder can be written");
        file
    }

    /// Its path as an argument.
    fn path(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Runs `lapwing dispatch` with `flags`.
fn dispatch(flags: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lapwing"))
        .arg("dispatch")
        .args(flags)
        .output()
        .expect("the binary starts")
}

/// What the command wrote to standard error.
fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn all_techniques_are_reported_and_written() {
    let config = Temporary::holding("all.yaml", TINY);
    let json = Temporary::named("all.json");
    let output = dispatch(&["--config", &config.path(), "--json", &json.path()]);
    assert!(output.status.success(), "{}", complaint(&output));

    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(report.contains("36 runs of 0.01 s"), "{report}");
    assert!(report.contains("mode shared: the configuration says so"), "{report}");
    assert!(report.contains("rt-venue p99.9, us"), "{report}");
    assert!(report.contains("all verified: 12 rows, 24 runs"), "{report}");

    let text = fs::read_to_string(&json.0).expect("the file exists");
    let file = serde_json::from_str::<Value>(&text).expect("the file is JSON");
    assert_eq!(file["complete"], true);
    let results = file["results"].as_array().expect("it has results");
    let techniques = results.iter().take(6).map(|result| result["contender"].as_str().unwrap());
    let expected = [
        "std-mpsc",
        "crossbeam-channel",
        "crossbeam-arrayqueue",
        "spsc-mux",
        "lapwing-ring",
        "lapwing-graphs",
    ];
    assert!(techniques.eq(expected), "{text}");
    assert!(results.iter().all(|result| result["experiment"] == "dispatch"));
    assert_eq!(results[6]["cell"]["orch_work_ns"], 500);
    assert_eq!(results[6]["runs"][0]["full"], 0.0);
}

#[test]
fn large_orders_and_one_technique_are_a_choice() {
    let config = Temporary::holding("large.yaml", TINY);
    let output =
        dispatch(&["--config", &config.path(), "--technique=lapwing-graphs", "--payload=large"]);
    assert!(output.status.success(), "{}", complaint(&output));

    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(report.contains("order of 160 bytes"), "{report}");
    assert!(!report.contains("std-mpsc"), "{report}");
}

#[test]
fn wrong_answer_is_refused() {
    let config = Temporary::holding("wrong.yaml", TINY);
    let output = dispatch(&["--config", &config.path(), "--technique=wrong-answer"]);

    assert_eq!(output.status.code(), Some(1));
    let complaint = complaint(&output);
    assert!(
        complaint.contains("wrong answer, so no times: topology=dispatch contender=wrong-answer"),
        "{complaint}"
    );
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(!report.contains("p99.9"), "no table follows a wrong answer: {report}");
}

#[test]
fn bad_file_is_refused_before_anything_runs() {
    let cases = [
        ("n_strategies: 2\nvenues: 4\n", "unknown key, the keys are n_strategies"),
        ("n_strategies: 2\nvenues: 4\n", "line=2 key=\"venues\""),
        ("window_ms: soon\n", "window_ms must be a whole number in 1..=600000: line=1"),
        ("repeats: 2\nrepeats: 3\n", "line=2 first_line=1 key=repeats"),
    ];
    for (number, (text, reason)) in cases.into_iter().enumerate() {
        let config = Temporary::holding(&format!("bad-{number}.yaml"), text);
        let output = dispatch(&["--config", &config.path()]);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(complaint(&output).contains(reason), "{}", complaint(&output));
        assert!(output.stdout.is_empty(), "refused too late");
    }

    let absent = dispatch(&["--config", &Temporary::named("absent.yaml").path()]);
    assert_eq!(absent.status.code(), Some(2));
    assert!(complaint(&absent).contains("cannot read"), "{}", complaint(&absent));
}
