//! Whole measurements of a few events, a wrong answer, and the format of the JSON and of the
//! tables.

use serde_json::Value;

use super::*;
use crate::machine::Machine;
use crate::report::json;

/// Returns a plan with a window of a few milliseconds.
fn plan(contenders: &[ContenderName]) -> Plan {
    Plan {
        rates: vec![0, 1_000],
        settings: [WaitName::Adaptive, WaitName::Blocking].map(Setting::from).to_vec(),
        contenders: contenders.to_vec(),
        readers: None,
        window: Duration::from_millis(20),
        runs: 1,
        ring: 64,
    }
}

fn records(plan: &Plan) -> Result<Vec<Record>, Error> {
    measure(plan, &plan.roster().entries, |_| Progress::Silent)
}

#[test]
fn json_has_what_waiting_costs_and_how_lone_events_fare() {
    let report = json::read_back(&records(&plan(&[ContenderName::Lapwing])).unwrap());
    let results = report["results"].as_array().unwrap();
    let loads = results.iter().filter(|result| result["benchmark"] == "idle").collect::<Vec<_>>();
    assert_eq!(loads.len(), 2 * 2 + 1, "{report}");
    for load in &loads {
        assert_eq!(load["contender"], "lapwing");
        assert_eq!(load["verified"], true);
        assert_eq!(load["runs"].as_array().unwrap().len(), 1);
        assert_eq!(load["p50_ns"].is_u64(), load["offered_per_second"] == 1_000, "{load}");
        #[cfg(target_os = "linux")]
        for key in ["cpu_percent", "sender_cpu_percent", "wakes_per_second"] {
            assert!(load[key].is_f64(), "{key}: {load}");
        }
    }
    assert_eq!((&loads[0]["topology"], &loads[0]["consumers"]), (&"pipeline".into(), &3.into()));
    assert_eq!((&loads[4]["topology"], &loads[4]["consumers"]), (&"multicast".into(), &8.into()));

    let lone = results.iter().filter(|result| result["benchmark"] == "lone-event");
    let lone = lone.collect::<Vec<_>>();
    assert_eq!(lone.len(), LISTENERS.len() * (1 + Bare::ALL.len()), "{report}");
    for event in lone {
        assert!(event["half_ns"].as_f64() <= event["last_ns"].as_f64(), "{event}");
        assert!(event["half_times_bare"].is_f64(), "{event}");
    }
}

#[test]
fn readers_side_by_side_take_the_place_of_the_pipeline() {
    let plan = Plan { readers: Some(2), rates: vec![1_000], ..plan(&[ContenderName::Lapwing]) };
    let rows = records(&plan).unwrap();
    let Record::Idle(first) = &rows[0] else { panic!("the loads come first") };
    assert_eq!((first.topology, first.consumers, first.threads), ("multicast", 2, 3));
    let text = table::of(&rows, &[], &Machine::detect());
    assert!(text.contains("2 side by side") && text.contains("8 side by side"), "{text}");
}

#[test]
fn each_placement_has_its_loads_its_eight_consumers_and_its_lone_events() {
    let placements = ["own", "1"].map(|text| text.parse().unwrap());
    let settings = Setting::each(&[WaitName::Adaptive], &placements);
    let plan = Plan { settings, rates: vec![1_000], ..plan(&[ContenderName::Lapwing]) };
    let records = records(&plan).unwrap();
    let report = json::read_back(&records);
    let results = report["results"].as_array().unwrap();
    let placed = |benchmark: &str| {
        let rows = results.iter().filter(|row| row["benchmark"] == benchmark);
        let rows = rows.filter(|row| row["contender"] == "lapwing");
        let of_row = |row: &Value| {
            let number = |key: &str| row[key].as_u64().unwrap();
            (row["placement"].as_str().unwrap().to_owned(), number("consumers"), number("threads"))
        };
        rows.map(of_row).collect::<Vec<_>>()
    };
    let row = |placement: &str, consumers, threads| (placement.to_owned(), consumers, threads);
    let loads = [row("own", 3, 4), row("1", 3, 2), row("own", 8, 9), row("1", 8, 2)];
    assert_eq!(placed("idle"), loads);
    let lone = [row("own", 1, 2), row("1", 1, 2), row("own", 8, 9), row("1", 8, 2)];
    assert_eq!(placed("lone-event"), lone);
    let mut bare = results.iter().filter(|row| row["contender"] == "bare");
    assert!(bare.all(|row| row.get("placement").is_none()), "{report}");

    let text = table::of(&records, &[], &Machine::detect());
    assert_eq!(text.matches("adaptive own").count(), 4, "{text}");
    assert_eq!(text.matches("adaptive 1").count(), 4, "{text}");
}

#[test]
fn a_rival_has_a_row_for_each_of_its_ways_to_wait() {
    let names = [ContenderName::CrossbeamChannel, ContenderName::Disruptor, ContenderName::Lmax];
    let plan = plan(&names);
    let roster = plan.roster();
    assert_eq!(plan.rows(&roster.entries).len(), plan.rates.len() * (1 + 5) + 1);
    assert_eq!(roster.missing.len(), 1);
    assert!(roster.missing[0].reason.starts_with("its sender never sleeps"));

    let side_by_side = Plan { readers: Some(2), ..plan };
    assert_eq!(side_by_side.roster().missing.len(), names.len());
}

#[test]
fn an_event_that_is_lost_has_no_bill() {
    let error = records(&plan(&[ContenderName::WrongAnswer])).unwrap_err().to_string();
    assert!(error.starts_with("wrong answer, so no speed: topology=pipeline"), "{error}");
}
