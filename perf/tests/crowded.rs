//! `lapwing oversubscribed` and `lapwing idle` as a user runs them, and one page from their files.

mod common;

use std::{env, fs, process};

use common::{lapwing, tables};

#[test]
fn both_commands_write_files_that_the_report_reads() {
    let folder = env::temp_dir().join(format!("lapwing-crowded-{}", process::id()));
    fs::create_dir_all(&folder).expect("the folder can be made");
    let file = |name: &str| folder.join(name).display().to_string();

    let (shared, idle) = (file("oversubscribed.json"), file("idle.json"));
    let cells = ["oversubscribed", "--producers=1,3", "--consumers=2", "--runs=1", "--events=500"];
    let contenders = ["--contender=lapwing,crossbeam-channel,rtrb", "--json", &shared];
    let text = tables(&[&cells[..], &contenders[..]].concat());
    assert!(text.contains("1P-2C") && text.contains("3P-2C"), "{text}");
    assert!(text.contains("not run: rtrb: "), "{text}");

    let run = ["idle", "--runs=1", "--seconds-per-run=0.02", "--rate=0,1000"];
    let text =
        tables(&[&run[..], &["--wait=blocking", "--placement=own,1", "--json", &idle]].concat());
    assert!(text.contains("single event") && text.contains("8 side by side"), "{text}");
    assert!(text.contains("| blocking ") && text.contains("| blocking 1 "), "{text}");

    tables(&["report", &folder.display().to_string()]);
    let html = fs::read_to_string(folder.join("report.html")).expect("the page is written");
    fs::remove_dir_all(&folder).expect("the folder can be removed");
    for section in ["oversubscribed", "idle"] {
        assert!(html.contains(&format!("<section id=\"{section}\">")), "{section}");
    }
    assert!(html.contains("<td>blocking</td>") && html.contains("<td>blocking 1</td>"));
}

#[test]
fn bad_values_are_refused_before_anything_runs() {
    let cases = [
        ["oversubscribed", "--producers=0"],
        ["oversubscribed", "--consumers=65"],
        ["idle", "--placement=none"],
        ["oversubscribed", "--placement=65"],
        ["idle", "--consumers=0"],
        ["idle", "--seconds-per-run=0"],
    ];
    for case in cases {
        assert_eq!(lapwing(&case).status.code(), Some(2), "{case:?}");
    }
}
