//! Whole pages from synthetic files: their contents, and refused files.

mod fixtures; // synthetic files

use std::fs;

use serde_json::{Value, json};

use self::fixtures::{BENCHMARKS, Folder, records, report, speed};
use super::page::Page;
use super::{outputs, page};

/// Returns the page and its pictures, by the names of their files.
fn texts(folder: &Folder) -> Vec<(String, String)> {
    let outputs = outputs(folder.path(), &folder.path().join("report.html")).unwrap();
    let name = |path: &std::path::Path| path.file_name().unwrap().to_string_lossy().into_owned();
    outputs.into_iter().map(|output| (name(&output.path), output.text)).collect()
}

fn html(folder: &Folder) -> String {
    texts(folder).remove(0).1
}

/// Creates a folder with one file that contains `results`.
fn folder_with(name: &str, results: &[Value]) -> Folder {
    let folder = Folder::new(name);
    folder.write("some.json", &report(results).to_string());
    folder
}

/// Returns the cells of the rows of table `table` of section `section`.
fn cells(page: &Page, section: usize, table: usize) -> Vec<Vec<String>> {
    let rows = &page.sections[section].tables[table].rows;
    rows.iter().map(|row| row.cells.clone()).collect()
}

/// Returns the message of the error that `text` in `bad.json` causes.
fn complaint(name: &str, text: &str) -> String {
    let folder = Folder::new(name);
    folder.add("throughput");
    folder.write("bad.json", text);
    let error = page(folder.path()).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("bad.json"), "{error}");
    error
}

#[test]
fn page_needs_no_network() {
    let folder = Folder::new("network");
    BENCHMARKS.iter().for_each(|benchmark| folder.add(benchmark));
    for (name, text) in texts(&folder) {
        let text = text.replace("http://www.w3.org/2000/svg", "");
        for reference in ["http:", "https:", "src=", "@import", "url("] {
            assert!(!text.contains(reference), "{name} has {reference}");
        }
    }
}

#[test]
fn every_picture_is_well_formed_in_the_page_and_in_its_file() {
    let folder = Folder::new("pictures");
    BENCHMARKS.iter().for_each(|benchmark| folder.add(benchmark));
    let texts = texts(&folder);
    let files = texts.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
    assert_eq!(
        files,
        [
            "report.html",
            "throughput.svg",
            "latency.svg",
            "sweep.svg",
            "oversubscribed.svg",
            "idle.svg",
            "ping-pong.svg",
            "limits.svg",
            "contention.svg",
            "dispatch-segments.svg",
            "dispatch.svg",
        ]
    );
    let html = &texts[0].1;
    let starts = html.match_indices("<svg").map(|(start, _)| start).collect::<Vec<_>>();
    assert_eq!(starts.len(), files.len() - 1);
    let embedded = starts.iter().map(|start| {
        let end = html[*start..].find("</svg>").unwrap() + "</svg>".len();
        &html[*start..start + end]
    });
    for svg in embedded.chain(texts[1..].iter().map(|(_, text)| text.as_str())) {
        let document =
            roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
        assert_eq!(document.root_element().tag_name().name(), "svg");
        assert!(document.descendants().any(|node| node.tag_name().name() == "text"));
    }
}

#[test]
fn a_section_is_there_if_its_data_is_else_the_command_that_gives_it() {
    for benchmark in BENCHMARKS {
        let folder = Folder::new(&format!("only-{benchmark}"));
        folder.add(benchmark);
        let html = html(&folder);
        for other in BENCHMARKS {
            let has_section = html.contains(&format!("<section id=\"{other}\">"));
            let command = format!("lapwing {other} --json FOLDER&#x2f;{other}.json");
            assert_eq!(has_section, other == benchmark, "{other} with {benchmark}");
            assert_eq!(html.contains(&command), other != benchmark, "{other} with {benchmark}");
        }
    }
}

#[test]
fn numbers_in_tables_are_those_of_the_files() {
    let folder = Folder::new("numbers");
    for benchmark in ["throughput", "latency", "dispatch"] {
        folder.add(benchmark);
    }
    let page = page(folder.path()).unwrap();
    let throughput = cells(&page, 0, 0);
    assert_eq!(
        throughput[0][..12],
        [
            "unicast 1P-1C",
            "lapwing",
            "adaptive",
            "no",
            "flume",
            "87.7",
            "78.9 .. 96.4",
            "2.50",
            "2.25 .. 2.75",
            "3.00",
            "1.90",
            "2"
        ]
    );
    assert_eq!(throughput[1][5], "4.32");
    let hops = cells(&page, 1, 0);
    assert_eq!(
        hops[3],
        [
            "bounded-queue",
            "park",
            "yes",
            "end-to-end",
            "1,234",
            "10,000",
            "30,000",
            "20,000",
            "40,000",
            "60,000",
            "80,000",
            "100,000",
            "120,000"
        ]
    );
    let headlines = cells(&page, 2, 0);
    assert_eq!(headlines[1][..4], ["std-mpsc", "500", "789", "1,578"]);
    assert!(
        page.sections[2].notes[0].ends_with("held up: std-mpsc at 500 ns."),
        "{:?}",
        page.sections[2].notes
    );
}

#[test]
fn shared_events_and_the_cost_of_waiting_have_their_tables() {
    let folder = Folder::new("shared");
    folder.add("oversubscribed");
    folder.add("idle");
    let page = page(folder.path()).unwrap();
    let shared = cells(&page, 0, 0);
    assert_eq!(shared[0][..5], ["1P-8C", "lapwing", "adaptive", "no", "20.0"]);
    assert_eq!((shared[2][0].as_str(), shared[2][7].as_str()), ("4P-8C", "1.25"));
    let loads = cells(&page, 1, 0);
    assert_eq!(loads[0][..6], ["lapwing", "adaptive", "3 in a row", "0", "0.00", "7.50"]);
    assert_eq!(loads[0][7], "–", "no delay without a load");
    assert_eq!(cells(&page, 1, 1)[0][2..], ["8", "34,567", "1.25", "45,678", "1.50"]);
    assert!(page.warnings.iter().all(|line| !line.contains("scheduler")), "{:?}", page.warnings);
}

#[test]
fn runs_of_a_given_time_have_their_tables() {
    let folder = Folder::new("rates");
    folder.add("channels");
    folder.add("neighbours");
    let page = page(folder.path()).unwrap();
    let channels = cells(&page, 0, 0);
    assert_eq!(channels[0][..5], ["busy", "one-way", "word", "lapwing", "adaptive"]);
    assert_eq!(channels[0][5..10], ["2", "3", "1,024", "5 M/s", "2.5 M/s .. 10 M/s"]);
    assert_eq!(channels[1][10..15], ["0.75", "1.90", "1,234", "–", "25.0"]);
    assert_eq!(channels[1][15..], ["0.50", "2.50 ms"]);
    let neighbours = cells(&page, 1, 0);
    assert_eq!(neighbours[1][..3], ["pipeline", "disruptor", "adaptive auto"]);
    assert_eq!(neighbours[1][3..6], ["2", "1,024", "4 k/s"]);
    assert!(page.warnings.iter().all(|line| !line.contains("scheduler")), "{:?}", page.warnings);
}

#[test]
fn speeds_become_times_and_shares_of_the_limit() {
    let folder = folder_with(
        "limits",
        &[
            speed("limits", "stream", 4e8),
            speed("throughput", "lapwing", 1e8),
            speed("ping-pong", "bare", 1e7),
            speed("ping-pong", "lapwing", 5e6),
            speed("contention", "cas-two", 2e7),
        ],
    );
    let page = page(folder.path()).unwrap();
    let ids = page.sections.iter().map(|section| section.id).collect::<Vec<_>>();
    assert_eq!(ids, ["throughput", "ping-pong", "limits", "contention"]);
    assert_eq!(cells(&page, 1, 0)[1][4], "100", "half of there and back");
    let shares = cells(&page, 2, 1);
    let percents = shares.iter().map(|row| (row[0].as_str(), row[5].as_str()));
    assert!(percents.eq([("unicast", "25.0"), ("ping-pong", "50.0")]), "{shares:?}");
    assert_eq!(cells(&page, 3, 0)[0][3], "50.0", "nanoseconds of one increment");
}

#[test]
fn exchanges_after_a_pause_are_a_panel_of_their_own_and_have_no_share() {
    let mut paused = speed("ping-pong", "lapwing", 2e6);
    paused["pause_ns"] = 1_000.into();
    let results = [speed("ping-pong", "bare", 1e7), speed("ping-pong", "lapwing", 5e6), paused];
    let folder = folder_with("paused", &[&results[..], &[speed("limits", "stream", 4e8)]].concat());
    let page = page(folder.path()).unwrap();
    let rows = cells(&page, 0, 0);
    let cells_of = rows.iter().map(|row| (row[0].as_str(), row[3].as_str(), row[4].as_str()));
    let expected = [("bare", "–", "50.0"), ("lapwing", "–", "100"), ("lapwing", "1,000", "250")];
    assert!(cells_of.eq(expected), "{rows:?}");
    let shares = cells(&page, 1, 1);
    assert_eq!(
        shares.iter().map(|row| row[5].as_str()).collect::<Vec<_>>(),
        ["50.0"],
        "{shares:?}"
    );
}

#[test]
fn a_limit_that_counts_each_way_is_compared_by_whole_exchanges() {
    let mut exchange = speed("limits", "exchange", 2e7);
    exchange["operations_per_event"] = 2.into();
    let folder = folder_with("each-way", &[exchange, speed("ping-pong", "lapwing", 5e6)]);
    let page = page(folder.path()).unwrap();
    assert_eq!(cells(&page, 1, 0)[0][6], "50.0", "nanoseconds one way");
    assert_eq!(cells(&page, 1, 1)[0][5], "50.0", "percent of the limit");
}

#[test]
fn a_limit_of_another_size_or_pinning_does_not_count() {
    let mut other_size = speed("limits", "stream", 4e8);
    other_size["event_bytes"] = 64.into();
    let mut pinned = speed("limits", "stream", 4e8);
    pinned["pinned"] = true.into();
    let unicast = speed("throughput", "lapwing", 1e8);
    let page = page(folder_with("other-limits", &[other_size, pinned, unicast]).path()).unwrap();
    assert!(page.sections[1].figures.is_empty());
    assert_eq!(page.sections[1].notes.len(), 2);
}

#[test]
fn what_a_file_says_is_escaped() {
    let mut record = speed("throughput", "<b>&\"bold\u{1}\"</b>", 1e6);
    record["wait"] = "<script>".into();
    let folder = folder_with("escaped", &[record]);
    for (name, text) in texts(&folder) {
        assert!(!text.contains("<b>") && !text.contains("<script>"), "{name}");
        assert!(text.contains("&lt;b&gt;&amp;"), "{name}");
        if name.ends_with(".svg") {
            roxmltree::Document::parse(&text).unwrap();
        }
    }
}

#[test]
fn warnings_are_at_the_head() {
    let folder = Folder::new("warnings");
    let mut file = report(&records("throughput"));
    file["machine"]["cpus_used_by_others"] = 0.5.into();
    file["machine"]["available_parallelism"] = 1.into();
    file["complete"] = false.into();
    file["missing"] = json!([{"contender": "lmax", "reason": "java was not found"}]);
    file["machine"]["measured_at"] = "2026-11-21T09:00:00Z".into();
    file["machine"]["affinity"] = json!([0, 2]);
    folder.write("throughput.json", &file.to_string());
    folder.add("latency");

    let page = page(folder.path()).unwrap();
    let warnings = page.warnings.join("\n");
    for expected in [
        "different machines",
        "Ended early, so some runs or rows are missing: throughput.json.",
        "before you compare: throughput.json 0.50.",
        "More threads than the 1 usable CPUs, so the scheduler affects the results: throughput unicast.",
        "Not run in throughput.json: lmax: java was not found",
    ] {
        assert!(warnings.contains(expected), "{expected}: {warnings}");
    }
    assert!(!warnings.contains("latency.json"), "{warnings}");
    assert_eq!(page.machines.len(), 2);
    let html = page.render().unwrap();
    assert!(html.contains("<td>2026-11-21T09:00:00Z</td>"), "in the table of files");
    assert!(html.contains("<dt>CPUs by number</dt><dd>0, 2</dd>"), "in the head");
}

#[test]
fn a_file_that_is_no_report_is_named_with_the_reason() {
    for (name, text, reason) in [
        ("empty-file", "", "EOF while parsing"),
        ("cut", "{\"machine\": {", "EOF while parsing"),
        ("no-results", "{\"machine\": {}}", "missing field `results`"),
        ("no-machine", "{\"results\": []}", "missing field `machine`"),
        ("array", "[]", "not a report of lapwing"),
    ] {
        let complaint = complaint(name, text);
        assert!(complaint.contains(reason), "{name}: {complaint}");
    }
}

#[test]
fn a_record_that_cannot_be_used_is_named_with_the_reason() {
    type Edit = fn(&mut Value);
    let cases: [(&str, Edit, &str); 8] = [
        ("unverified", |record| record["verified"] = false.into(), "not verified: verified=false"),
        ("unnamed", |record| record["benchmark"] = Value::Null, "`benchmark` is missing"),
        ("unknown", |record| record["benchmark"] = "other".into(), "unknown variant `other`"),
        ("no-runs", |record| record["runs"] = json!([]), "`runs` is empty"),
        (
            "stopped",
            |record| record["median_events_per_second"] = 0.into(),
            "must be in 1e-6..=1e15: events_per_second=0",
        ),
        ("text", |record| record["contender"] = 7.into(), "expected a string"),
        (
            "unsure",
            |record| drop(record.as_object_mut().unwrap().remove("verified")),
            "missing field `verified`",
        ),
        (
            "nameless",
            |record| drop(record.as_object_mut().unwrap().remove("benchmark")),
            "`benchmark` is missing",
        ),
    ];
    for (name, edit, reason) in cases {
        let mut results = records("throughput");
        edit(&mut results[1]);
        let complaint = complaint(name, &report(&results).to_string());
        assert!(complaint.contains(reason), "{name}: {complaint}");
        assert!(complaint.ends_with("record=1"), "{name}: {complaint}");
    }
}

#[test]
fn a_latency_that_runs_backwards_is_refused() {
    for (name, key, value, reason) in [
        ("past", "p50_ns", json!(-1.0), "must be in 0..=1e18: nanoseconds=-1"),
        ("curve", "curve", json!([[101.0, 5.0]]), "percentile lies in 0..=100: percentile=101"),
    ] {
        let mut results = records("latency");
        results[0]["segments"][0][key] = value;
        let complaint = complaint(name, &report(&results).to_string());
        assert!(complaint.contains(reason), "{complaint}");
    }
}

#[test]
fn a_folder_without_reports_says_which_command_writes_one() {
    let folder = Folder::new("empty");
    folder.write("notes.txt", "no report");
    let error = page(folder.path()).map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("no report to show: write one with `lapwing throughput"), "{error}");
    assert!(fs::read_dir(folder.path()).unwrap().count() == 1, "nothing was written");
}

#[test]
fn figures_at_the_ends_of_their_range_are_drawn() {
    let mut results = Vec::new();
    for speed_per_second in [1e-5, 1.0, 1e14] {
        results.push(speed("throughput", &"long ".repeat(40), speed_per_second));
        results.push(speed("ping-pong", "", speed_per_second));
    }
    let mut zero = records("latency");
    for key in ["p50_ns", "p99_ns", "p99_9_ns"] {
        zero[0]["segments"][1][key] = 0.into();
    }
    zero[0]["segments"][1]["curve"] = json!([[0.0, 0.0], [100.0, 0.0]]);
    results.extend(zero);
    let folder = folder_with("extremes", &results);
    assert_eq!(texts(&folder).len(), 4);
}

#[test]
fn pinned_and_unpinned_rows_are_apart() {
    let mut pinned = speed("throughput", "lapwing", 5e6);
    pinned["pinned"] = true.into();
    let both = [pinned.clone(), speed("throughput", "lapwing", 6e6)];
    let side_by_side = texts(&folder_with("both", &both)).remove(1).1;
    assert_eq!(side_by_side.matches(">\nlapwing\n<").count(), 1, "one row, two panels");

    let mut diamond = speed("throughput", "lapwing", 7e6);
    diamond["topology"] = "diamond".into();
    let [one, other] = both;
    let stacked = texts(&folder_with("stacked", &[one, other, diamond])).remove(1).1;
    assert_eq!(stacked.matches(">\nlapwing\n<").count(), 3, "a row for each");
    assert!(stacked.contains("unicast 1P-1C, each thread pinned to a CPU"));
}
