//! The format of the JSON and of the table, and the end of a curve.

use super::*;
use crate::contenders::{ContenderName, Setting};
use crate::load::paced::Between;
use crate::machine::Machine;
use crate::machine::placement::Placement;
use crate::report::json;

/// Returns the records of `names` at each of `rates`.
fn records(names: &[ContenderName], rates: &[u32]) -> Result<Vec<Record>, Error> {
    let roster = Roster::of(names, &[Setting::default()]);
    let pace = |rate: &u32| Pace {
        interval_ns: 1e9 / f64::from(*rate),
        events: 200,
        ring: 64,
        placement: Placement::Free,
        between: Between::Awake,
    };
    let paces = rates.iter().map(pace).collect::<Vec<_>>();
    measure(&roster.entries, &paces, 1, |_| Progress::Silent)
}

#[test]
fn json_has_a_record_for_each_load_until_one_is_too_much() {
    // No contender takes an event per quarter of a nanosecond, so the second load is never reached.
    let rates = [4_000_000_000, 4_100_000_000];
    let report = json::read_back(&records(&[ContenderName::BoundedQueue], &rates).unwrap());
    let results = report["results"].as_array().unwrap();
    let queue = results.iter().filter(|result| result["contender"] == "bounded-queue");
    let queue = queue.collect::<Vec<_>>();
    assert_eq!(queue.len(), 1, "{report}");
    assert_eq!(queue[0]["benchmark"], "sweep");
    assert_eq!(queue[0]["offered_per_second"], 4e9);
    assert_eq!(queue[0]["segments"][0]["name"], "end-to-end");
    assert_eq!(queue[0]["saturated"], true, "{report}");
}

#[test]
fn table_has_a_line_for_each_record() {
    let records = records(&[ContenderName::Lapwing], &[10_000]).unwrap();
    let text = table::of(&records, &[], &Machine::detect());
    assert!(text.contains("| lapwing "), "{text}");
    assert!(text.contains("all verified: 2 rows, 2 runs"), "{text}");
}

#[test]
fn an_event_that_is_lost_has_no_delay() {
    let error = records(&[ContenderName::WrongAnswer], &[10_000]).unwrap_err().to_string();
    assert!(error.starts_with("wrong answer, so no speed: topology=pipeline"), "{error}");
}
