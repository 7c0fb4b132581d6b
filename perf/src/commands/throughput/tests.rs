//! The format of the JSON and of the tables, over the records of a small measurement.

use serde_json::Value;

use super::*;
use crate::contenders::{ContenderName, Setting, WaitName};
use crate::load::workload::{EventBytes, Publish};
use crate::machine::Machine;
use crate::measure::row::Subject;
use crate::report::json;

/// Returns a plan with a few events over a ring of 8.
fn plan() -> Plan {
    let schedule = Schedule::short(3, 100);
    Plan {
        topologies: vec![Topology::Unicast, Topology::Diamond],
        workload: Workload {
            events: 1,
            ring: 8,
            event_bytes: EventBytes::B32,
            publish: Publish::One,
            placement: schedule.placement,
        },
        schedule,
    }
}

/// Returns the records of `contenders`.
fn records(contenders: &[ContenderName]) -> Vec<Record> {
    let roster = Roster::of(contenders, &[Setting::default()]);
    measure(&plan(), &roster.entries, |_| Progress::Silent).unwrap()
}

#[test]
fn ring_that_is_too_small_for_a_rival_is_a_row_that_says_so() {
    let plan = Plan { topologies: vec![Topology::Sequencer], ..plan() };
    let names = [ContenderName::Disruptor, ContenderName::StdMpsc];
    let roster = Roster::of(&names, &[Setting::default()]);
    let refusals = refusals(&plan, &roster.entries);
    assert_eq!(refusals.len(), 1);
    assert_eq!(refusals[0].contender, "disruptor in sequencer");
    assert_eq!(refusals[0].reason, "its ring has at least 64 slots: slots=8");
    let records = measure(&plan, &roster.entries, |_| Progress::Silent).unwrap();
    assert_eq!(records.len(), 1);
}

#[test]
fn json_has_the_promised_keys() {
    let records = records(&[ContenderName::StdMpsc, ContenderName::BoundedQueue]);
    let report = json::read_back(&records);

    assert!(report["machine"]["cpu"].is_string());
    assert!(report["machine"]["measured_at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(report["complete"], true);
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
    assert_eq!(first["ratio_interval"].as_array().unwrap().len(), 2);
    assert_eq!(first["pinned"], false);
    #[cfg(unix)]
    assert!(first["runs"][0]["cpus"].is_f64());
}

#[test]
fn ratio_is_one_for_the_baseline_or_for_the_last_one_without_it() {
    let with_baseline = records(&[ContenderName::BoundedQueue, ContenderName::StdMpsc]);
    assert_eq!(with_baseline[0].speed.ratio_to_baseline, Some(1.0));
    assert_eq!(with_baseline[1].speed.baseline, Some("bounded-queue"));

    let without = records(&[ContenderName::StdMpsc, ContenderName::Flume]);
    assert_eq!(without[1].speed.ratio_to_baseline, Some(1.0));
    assert_eq!(without[0].speed.baseline, Some("flume"));
    assert!(table::detailed(&without, &[]).contains("x flume"));
}

#[test]
fn the_default_is_compared_with_the_best_other_strategy_where_several_ran() {
    let waits = [WaitName::Adaptive, WaitName::Blocking, WaitName::Yielding].map(Setting::from);
    let roster = Roster::of(&[ContenderName::Lapwing], &waits);
    let records = measure(&plan(), &roster.entries, |_| Progress::Silent).unwrap();
    let closing = table::closing(&records, &Machine::detect());
    for topology in ["unicast", "diamond"] {
        let start = format!("lapwing's default in {topology}: ");
        assert!(closing.lines().any(|line| line.starts_with(&start)), "{closing}");
    }
    let alone = self::records(&[ContenderName::Lapwing]);
    let closing = table::closing(&alone, &Machine::detect());
    assert!(!closing.contains("default in"), "{closing}");
}

/// Returns rows of Lapwing with a thread per consumer and with one thread, beside a queue's.
fn placed() -> Vec<Record> {
    let placements = ["own", "1"].map(|text| text.parse().unwrap());
    let settings = Setting::each(&[WaitName::Adaptive], &placements);
    let names = [ContenderName::Lapwing, ContenderName::BoundedQueue];
    let roster = Roster::of(&names, &settings);
    measure(&plan(), &roster.entries, |_| Progress::Silent).unwrap()
}

#[test]
fn json_has_the_placement_of_lapwing_alone_and_the_threads_that_it_makes() {
    let report = json::read_back(&placed());
    let results = report["results"].as_array().unwrap();
    let diamond = results.iter().filter(|result| result["topology"] == "diamond");
    let placed = diamond.map(|result| (result.get("placement"), result["threads"].as_u64()));
    let (own, one) = (Value::from("own"), Value::from("1"));
    let expected = [(Some(&own), Some(4)), (Some(&one), Some(2)), (None, Some(4))];
    assert!(placed.eq(expected), "{report}");
}

#[test]
fn rows_name_their_placement_where_one_is_not_the_default() {
    let records = placed();
    let text = table::detailed(&records, &[]);
    assert_eq!(text.matches("adaptive own").count(), 2, "{text}");
    assert_eq!(text.matches("adaptive 1").count(), 2, "{text}");
    let closing = table::closing(&records, &Machine::detect());
    assert!(closing.contains("own is a thread for each consumer"), "{closing}");

    let default = self::records(&[ContenderName::Lapwing]);
    let text = table::detailed(&default, &[]);
    assert!(text.contains("adaptive") && !text.contains("own"), "{text}");
    let closing = table::closing(&default, &Machine::detect());
    assert!(!closing.contains("own is a thread"), "{closing}");
}

#[test]
fn label_names_wait_and_placement() {
    let plan = plan();
    let [own, one] = ["own", "1"].map(|text| {
        let settings = Setting::each(&[WaitName::Blocking], &[text.parse().unwrap()]);
        let roster = Roster::of(&[ContenderName::Lapwing], &settings);
        Lane::new(Topology::Unicast, &roster.entries[0], plan.workload).label()
    });
    assert_eq!(own, "unicast lapwing blocking own");
    assert_eq!(one, "unicast lapwing blocking 1");
}

#[test]
fn tables_have_a_row_for_each_record_and_topology() {
    let records = records(&[ContenderName::StdMpsc, ContenderName::BoundedQueue]);

    let absent = Missing { contender: "absent".to_owned(), reason: "it is not here".to_owned() };
    let detailed = table::detailed(&records, &[absent]);
    assert_eq!(detailed.matches("std-mpsc").count(), 2, "{detailed}");
    assert!(detailed.contains("it is not here"), "{detailed}");

    let closing = table::closing(&records, &Machine::detect());
    assert!(closing.starts_with("all verified: 4 rows, 12 runs"), "{closing}");
}
