//! The form of the JSON and of the tables, over the records of a small measurement.

use std::time::Duration;

use serde_json::Value;

use crate::contenders::{ContenderName, WaitName};
use crate::harness::{self, Schedule};
use crate::machine::Machine;
use crate::progress::Progress;
use crate::report::{Record, json, table};
use crate::throughput::{self, Plan};
use crate::topologies::Topology;
use crate::workload::{EventBytes, Publish, Workload};

/// The records of `contenders` over a few events.
fn records(contenders: &[ContenderName]) -> Vec<Record> {
    let contenders = contenders.iter();
    let plan = Plan {
        topologies: vec![Topology::Unicast, Topology::Diamond],
        contenders: contenders
            .flat_map(|contender| contender.enlist(&[WaitName::Adaptive]))
            .collect(),
        workload: Workload {
            events: 1,
            ring: 8,
            event_bytes: EventBytes::B32,
            publish: Publish::One,
        },
        schedule: Schedule { runs: 3, run_time: Duration::from_millis(1), events: Some(100) },
    };
    let mut rows = throughput::rows(&plan);
    harness::measure(&mut rows, &plan.schedule, &Progress::Silent).unwrap();
    Record::of_rows("throughput", &rows)
}

#[test]
fn json_has_the_promised_keys() {
    let records = records(&[ContenderName::StdMpsc, ContenderName::BoundedQueue]);
    let text = json::text(&Machine::detect(), &records).unwrap();
    let report = serde_json::from_str::<Value>(&text).unwrap();

    assert!(report["machine"]["cpu"].is_string());
    let first = &report["results"][0];
    assert_eq!(first["benchmark"], "throughput");
    assert_eq!(first["topology"], "unicast");
    assert_eq!(first["contender"], "std-mpsc");
    assert_eq!(first["wait"], "park");
    assert_eq!(first["threads"], 2);
    assert_eq!(first["ring"], 8);
    assert_eq!(first["event_bytes"], 32);
    assert_eq!(first["publish"], "one");
    assert_eq!(first["events"], 100);
    assert_eq!(first["verified"], true);
    assert_eq!(first["runs"].as_array().unwrap().len(), 3);
    assert!(first["runs"][2]["events_per_second"].is_f64());
    assert_eq!(first["runs"][2]["events_per_batch"], 1.0);
    assert!(first["median_events_per_second"].is_f64());
    assert!(first["ratio_to_baseline"].is_f64());
}

#[test]
fn ratio_is_one_for_the_baseline_and_none_without_it() {
    let with_baseline = records(&[ContenderName::StdMpsc, ContenderName::BoundedQueue]);
    assert_eq!(with_baseline[1].ratio_to_baseline, Some(1.0));

    let without = records(&[ContenderName::StdMpsc]);
    assert_eq!(without[0].ratio_to_baseline, None);
}

#[test]
fn tables_have_a_row_for_each_record_and_topology() {
    let records = records(&[ContenderName::StdMpsc, ContenderName::BoundedQueue]);

    let detailed = table::detailed(&records);
    assert_eq!(detailed.matches("std-mpsc").count(), 2, "{detailed}");

    let summary = table::summary(&records);
    assert_eq!(summary.matches("diamond 1P-3C").count(), 1, "{summary}");
    let stars = summary.matches('*').count();
    assert_eq!(stars, 3, "one for each line, one in the legend: {summary}");

    let closing = table::closing(&records, &Machine::detect());
    assert!(closing.starts_with("all verified: 4 rows, 12 runs"), "{closing}");
}
