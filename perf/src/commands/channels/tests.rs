//! Whole measurements, a wrong answer, and the format of the JSON and of the tables.

use super::case::{Beside, TrafficName};
use super::*;
use crate::contenders::WaitName;
use crate::contenders::channels::{ChannelName, Payload};
use crate::machine::Machine;
use crate::report::json;

const CASE: Case = Case {
    traffic: TrafficName::OneWay,
    senders: 2,
    capacity: 4,
    payload: Payload::Word,
    beside: Beside::Quiet,
    busy_threads: 0,
};

fn plan(cases: &[Case], names: &[ChannelName]) -> Plan {
    let channels = names.iter().map(|&name| Channel { name, wait: WaitName::Adaptive });
    Plan {
        cases: cases.to_vec(),
        channels: channels.collect(),
        run_time: Duration::from_millis(2),
        rounds: 2,
    }
}

fn records(plan: &Plan) -> Result<Vec<Record>, Error> {
    measure(plan, |_| Progress::Silent)
}

#[test]
fn a_line_compares_with_the_best_rival() {
    let round_trips = Case { traffic: TrafficName::RoundTrips, senders: 1, capacity: 1, ..CASE };
    let plan = plan(
        &[CASE, round_trips],
        &[ChannelName::Lapwing, ChannelName::StdMpsc, ChannelName::Kanal],
    );
    let records = records(&plan).unwrap();
    assert_eq!(records.len(), 6);
    let text = table::of(&records, &plan.missing(), &Machine::detect());
    assert!(text.contains("| quiet") && text.contains("round trips"), "{text}");
    assert!(text.contains("of 2 cells, within 10 %"), "{text}");
    assert!(text.contains("all verified: 6 rows, 12 runs"), "{text}");
}

#[test]
fn tails_have_a_line_for_each_contender() {
    let tails = Case { traffic: TrafficName::Tails, senders: 3, capacity: 8, ..CASE };
    let records = records(&plan(&[tails], &[ChannelName::Lapwing, ChannelName::Flume])).unwrap();
    let text = table::of(&records, &[], &Machine::detect());
    assert!(text.contains("lapwing adaptive") && text.contains("least : most served"), "{text}");
    assert!(records.iter().all(|record| record.summary.longest_send_ns > Some(0.0)));
}

#[test]
fn a_contender_that_refuses_a_case_is_not_in_every_cell() {
    let shared = Case { capacity: 1, ..CASE };
    let one = Case { senders: 1, ..shared };
    let plan = plan(&[shared, one], &[ChannelName::Gil, ChannelName::StdMpsc]);
    let records = records(&plan).unwrap();
    let cells = records.iter().map(|record| (record.contender, record.case().senders));
    assert!(cells.eq([("std-mpsc", 2), ("gil", 1), ("std-mpsc", 1)]), "{records:?}");
    let text = table::of(&records, &plan.missing(), &Machine::detect());
    assert!(text.contains("not in every cell: gil: its channel of one slot"), "{text}");
}

#[test]
fn a_value_that_is_lost_has_no_speed() {
    let error = records(&plan(&[CASE], &[ChannelName::WrongAnswer])).unwrap_err().to_string();
    let start = "wrong answer, so no speed: topology=channels contender=wrong-answer";
    assert!(error.starts_with(start), "{error}");
}

#[test]
fn json_has_every_run_and_compares_with_the_first() {
    let report = json::read_back(
        &records(&plan(&[CASE], &[ChannelName::Lapwing, ChannelName::Kanal])).unwrap(),
    );
    let results = report["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for result in results {
        assert_eq!(result["benchmark"], "channels");
        assert_eq!((&result["traffic"], &result["beside"]), (&"one-way".into(), &"quiet".into()));
        assert_eq!(result["busy_threads"], 0);
        assert_eq!((&result["senders"], &result["capacity"]), (&2.into(), &4.into()));
        assert_eq!((&result["payload"], &result["threads"]), (&"word".into(), &3.into()));
        assert_eq!(result["verified"], true);
        assert_eq!(result["runs"].as_array().unwrap().len(), 2);
        assert!(result["ratio_to_first"].is_f64() && result["fairness"].is_f64());
        assert!(result["median_per_second"].as_f64() > Some(0.0));
        assert!(result["quartiles_per_second"].is_array());
    }
    assert!(results.iter().any(|result| result["ratio_to_first"] == 1.0));
}
