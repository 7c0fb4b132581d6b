//! Whole measurements, and the format of the JSON and of the table. They have no busy threads,
//! because the program with those threads is not the test program (`perf/tests/beside.rs`).

use super::*;
use crate::contenders::{ContenderName, Setting, WaitName};
use crate::machine::Machine;
use crate::report::json;

fn plan(topologies: &[Topology]) -> Plan {
    Plan {
        topologies: topologies.to_vec(),
        rings: vec![64],
        busy_threads: vec![0],
        run_time: Duration::from_millis(2),
        rounds: 2,
    }
}

fn records(plan: &Plan, names: &[ContenderName]) -> Result<Vec<Record>, Error> {
    let placements = ["own", "auto"].map(|text| text.parse().unwrap());
    let roster = Roster::of(names, &Setting::each(&[WaitName::Adaptive], &placements));
    measure(plan, &roster.entries, |_| Progress::Silent)
}

#[test]
fn a_cell_is_a_block_and_each_setting_of_lapwing_has_a_standing() {
    let names = [ContenderName::Lapwing, ContenderName::StdMpsc];
    let records = records(&plan(&[Topology::Unicast, Topology::Pipeline]), &names).unwrap();
    assert_eq!(records.len(), 6);
    let text = table::of(&records, &[], &Machine::detect());
    assert!(text.contains("pipeline 1P-3C"), "{text}");
    for own in ["lapwing adaptive own: first in", "lapwing adaptive auto: first in"] {
        assert!(text.contains(own), "{text}");
    }
    assert!(text.contains("all verified: 6 rows, 12 runs"), "{text}");
}

#[test]
fn an_event_that_is_lost_has_no_speed() {
    let error = records(&plan(&[Topology::Unicast]), &[ContenderName::WrongAnswer]).unwrap_err();
    let start = "wrong answer, so no speed: topology=unicast contender=wrong-answer";
    assert!(error.to_string().starts_with(start), "{error}");
}

#[test]
fn json_has_every_run_and_compares_with_the_first() {
    let names = [ContenderName::Lapwing, ContenderName::Disruptor];
    let report = json::read_back(&records(&plan(&[Topology::Unicast]), &names).unwrap());
    let results = report["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    for (result, placement) in results.iter().zip([Some("own"), Some("auto"), None]) {
        assert_eq!(result["benchmark"], "neighbours");
        assert_eq!(result["topology"], "unicast");
        assert_eq!(result.get("placement").and_then(|text| text.as_str()), placement);
        assert_eq!((&result["ring"], &result["busy_threads"]), (&64.into(), &0.into()));
        assert_eq!((&result["threads"], &result["verified"]), (&2.into(), &true.into()));
        assert_eq!(result["runs"].as_array().unwrap().len(), 2);
        assert!(result["ratio_to_first"].is_f64() && result["quartiles_per_second"].is_array());
    }
}
