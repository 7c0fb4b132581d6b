//! Every command with few events: all contenders give right answers, and one page shows all files.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{lapwing, printed};

/// What each command prints, and with which arguments it runs in seconds.
const RUNS: &[(&str, &[&str])] = &[
    ("throughput --runs 1 --events 20000", &["unicast 1P-1C", "diamond 1P-3C", "disruptor"]),
    (
        "throughput --runs 1 --events 20000 --contender lapwing --placement own,auto,1",
        &["adaptive auto", "adaptive 1"],
    ),
    ("contention --runs 1 --events 2000", &["ns in the paper"]),
    ("limits --runs 1 --events 2000", &["all verified: 17 rows, 17 runs"]),
    ("ping-pong --runs 1 --events 200", &["bare-stamp", "x bare"]),
    ("latency --runs 1 --rate 100000 --seconds-per-run 0.02 --hgrm HGRM", &["no-hand-off"]),
    (
        "sweep --runs 1 --rates 10000,100000 --seconds-per-run 0.02 --contender lapwing,disruptor,std-mpsc",
        &["no-hand-off", "disruptor"],
    ),
    (
        "oversubscribed --runs 1 --events 2000 --producers 1,8 --consumers 1,8",
        &["1P-8C", "8P-1C", "not run: rtrb: "],
    ),
    (
        "channels --rounds 1 --run-ms 10 --payload word,string --capacity 1,16 --senders 1,3",
        &["| quiet", "| busy", "| one-cpu", "round trips"],
    ),
    ("channels --rounds 1 --run-ms 10 --tails --payload word", &["longest send"]),
    (
        "async --rounds 1 --run-ms 10 --ends 1,3 --idle-tasks 20",
        &["broadcast", "crossfire", "Wake-ups", "Idle tasks", "geometric mean"],
    ),
    (
        "neighbours --rounds 1 --run-ms 10 --ring 256 --busy 0,2",
        &["multicast 1P-3C", "lapwing adaptive auto: at least as fast as the best rival in "],
    ),
    (
        "idle --runs 1 --seconds-per-run 0.05 --rate 0,1000 --wait blocking --placement own,1",
        &["single event", "8 side by side", "| blocking ", "| blocking 1 "],
    ),
    #[cfg(target_os = "linux")]
    (
        "processes --runs 1 --events 300 --idle-seconds 0.02 --pause-us 100 --publish batch:4 \
         --event-bytes 8,256 --contender lapwing-shared,lapwing,unix-socket,pipe",
        &[
            "Streams",
            "back to back",
            "after a pause of 100 us",
            "Idle processes",
            "28 rows, 28 runs",
        ],
    ),
    ("dispatch --config CONFIG", &["36 runs of 0.01 s", "mode shared: the configuration says so"]),
    ("perftest --runs 1 --events 500", &["OneToOneSequencedThroughputTest", "16 rows, 16 runs"]),
];

/// The rivals of which a tool can be missing.
const FOREIGN: [&str; 7] = [
    "lmax",
    "array-blocking-queue",
    "cpp-mutex-queue",
    "boost-lockfree",
    "moodycamel",
    "bare-cpp",
    "bare-java",
];

/// A few hundred orders that are held for moments.
const TINY_DISPATCH: &str = "\
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

/// Runs a command of [`RUNS`], and checks what it prints and its file.
fn run(folder: &Path, number: usize, arguments: &str, expected: &[&str]) -> Vec<Value> {
    let json = folder.join(format!("{number:02}.json"));
    let config = folder.join("tiny.yaml");
    let arguments = arguments
        .replace("CONFIG", &config.display().to_string())
        .replace("HGRM", &folder.join("hgrm").display().to_string());
    let text = printed(lapwing(&arguments).arg("--json").arg(&json).env("COLUMNS", "250"));
    for words in expected {
        assert!(text.contains(words), "{arguments}: {words:?} is not in\n{text}");
    }
    let file = fs::read_to_string(&json).expect("the file is written");
    let file = serde_json::from_str::<Value>(&file).expect("the file is JSON");
    assert_eq!(file["complete"], true, "{arguments}");
    let absent = file["missing"].as_array().expect("it is a list").iter();
    let absent = absent.filter(|one| one["reason"].as_str().unwrap().contains("is not installed"));
    for rival in absent.map(|one| one["contender"].as_str().unwrap()) {
        assert!(FOREIGN.contains(&rival), "{arguments}: {rival} needs no tool");
    }
    let results = file["results"].as_array().expect("there are results").clone();
    assert!(!results.is_empty(), "{arguments}");
    assert!(results.iter().all(|result| result["verified"] == true), "{arguments}");
    results
}

#[test]
fn every_command_ends_with_right_answers_and_the_page_shows_them() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let folder = folder.path();
    fs::write(folder.join("tiny.yaml"), TINY_DISPATCH).expect("the folder can be written");
    let mut experiments = BTreeSet::new();
    for (number, (arguments, expected)) in RUNS.iter().enumerate() {
        let results = run(folder, number, arguments, expected);
        let names = results.iter().map(|result| result["experiment"].as_str().unwrap().to_owned());
        experiments.extend(names);
    }
    let written = printed(lapwing("report").arg(folder));
    let page = fs::read_to_string(folder.join("report.html")).expect("the page is written");
    for experiment in &experiments {
        assert!(page.contains(&format!("<section id=\"{experiment}\">")), "{experiment}");
    }
    assert!(written.contains("report.html") && written.contains("throughput.svg"), "{written}");
    assert!(!page.contains("Without results"), "a view has no run in `RUNS`");
    assert!(fs::read_dir(folder.join("hgrm")).expect("latency writes it").count() > 0);
}

#[test]
fn dispatch_has_each_technique_and_each_amount_of_work() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    fs::write(folder.path().join("tiny.yaml"), TINY_DISPATCH).expect("the folder can be written");
    let results = run(folder.path(), 0, "dispatch --config CONFIG", &["rt-venue p99.9, us"]);
    let techniques = results.iter().take(6).map(|result| result["contender"].as_str().unwrap());
    let expected = [
        "std-mpsc",
        "crossbeam-channel",
        "crossbeam-arrayqueue",
        "spsc-mux",
        "lapwing-ring",
        "lapwing-graphs",
    ];
    assert!(techniques.eq(expected), "{results:?}");
    assert_eq!(results.len(), 12);
    assert_eq!(results[6]["cell"]["orch_work_ns"], 500);
    assert_eq!(results[6]["runs"][0]["full"], 0.0);

    let arguments = "dispatch --config CONFIG --technique=lapwing-graphs --payload=large";
    run(folder.path(), 1, arguments, &["order of 160 bytes"]);
}

#[test]
fn tests_of_lmax_are_found_by_their_names_in_capitals_or_not() {
    let names = "onetoonerawthroughputtest,OneToOneRawThroughputTest";
    let table = printed(&mut lapwing(&format!("perftest --events=500 --runs=1 --test={names}")));
    assert!(table.contains("all verified: 1 rows, 1 runs"), "{table}");
}
