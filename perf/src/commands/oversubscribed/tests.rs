//! Every contender in every corner, a wrong answer, and the format of the JSON and of the table.

use super::*;
use crate::contenders::{ContenderName, Setting, WaitName};
use crate::machine::Machine;
use crate::report::json;

/// The corners of the grid, and numbers that do not divide each other.
const CROWDS: [Crowd; 4] = [
    Crowd { producers: 1, consumers: 1 },
    Crowd { producers: 8, consumers: 1 },
    Crowd { producers: 3, consumers: 5 },
    Crowd { producers: 1, consumers: 8 },
];

/// Runs two rounds of a few events for each of `names`, over a ring of 64 that wraps.
fn records(names: &[ContenderName]) -> Result<Vec<Record>, Error> {
    let roster = sharing_only(Roster::of(names, &[Setting::default()]), 64);
    measure(&CROWDS, &roster.entries, 64, Schedule::short(2, 1_000), |_| Progress::Silent)
}

#[test]
fn every_contender_of_this_process_hands_each_event_to_one_consumer() {
    let names = [
        ContenderName::Lapwing,
        ContenderName::BoundedQueue,
        ContenderName::StdMpsc,
        ContenderName::CrossbeamChannel,
        ContenderName::CrossbeamArrayQueue,
        ContenderName::Flume,
        ContenderName::Kanal,
    ];
    let records = records(&names).unwrap();
    assert_eq!(records.len(), names.len() * CROWDS.len());
    let text = table::of(&records, &[], &Machine::detect());
    assert!(text.contains("3P-5C"), "{text}");
    assert!(text.contains("all verified: 28 rows, 56 runs"), "{text}");
}

#[test]
fn a_handler_of_a_rival_disruptor_handles_its_own_events() {
    let sharing = |crowd| Sharing { crowd, events: 300, ring: 512, placement: Default::default() };
    for name in [ContenderName::Disruptor, ContenderName::Lmax] {
        let roster = Roster::of(&[name], &[]);
        let candidates = roster.entries.iter().flat_map(|entry| &entry.candidates);
        for candidate in candidates {
            for crowd in [CROWDS[0], CROWDS[2]] {
                let pass = candidate.sharing().unwrap().share(&sharing(crowd)).unwrap();
                assert_eq!(pass.answers, sharing(crowd).expected(), "{}", candidate.wait());
            }
        }
    }
}

#[test]
fn who_cannot_share_is_a_row_that_says_so() {
    let names = [ContenderName::Rtrb, ContenderName::Disruptor, ContenderName::StdMpsc];
    let roster = sharing_only(Roster::of(&names, &[]), 2);
    assert_eq!(roster.entries.len(), 1);
    let reasons = roster.missing.iter().map(|missing| missing.reason.as_str());
    assert!(reasons.eq([CANNOT, "its ring has at least 64 slots: slots=2"]));
}

#[test]
fn an_event_that_is_lost_has_no_speed() {
    let error = records(&[ContenderName::WrongAnswer]).unwrap_err().to_string();
    let start = "wrong answer, so no speed: topology=oversubscribed contender=wrong-answer";
    assert!(error.starts_with(start), "{error}");
}

#[test]
fn json_compares_with_the_first_of_the_cell_and_with_one_to_one() {
    let records = records(&[ContenderName::Lapwing, ContenderName::StdMpsc]).unwrap();
    let report = json::read_back(&records);
    let results = report["results"].as_array().unwrap();
    assert_eq!(results.len(), 2 * CROWDS.len());
    for (index, result) in results.iter().enumerate() {
        let crowd = CROWDS[index / 2];
        assert_eq!(result["benchmark"], "oversubscribed");
        assert_eq!(result["contender"], ["lapwing", "std-mpsc"][index % 2]);
        assert_eq!(result["producers"], crowd.producers);
        assert_eq!(result["consumers"], crowd.consumers);
        assert_eq!(result["threads"], crowd.threads());
        assert_eq!((&result["ring"], &result["event_bytes"]), (&64.into(), &8.into()));
        assert_eq!(result["runs"].as_array().unwrap().len(), 2);
        assert!(result["ratio_to_baseline"].is_f64());
        assert!(result["times_one_to_one"].is_f64());
    }
    assert_eq!(results[0]["times_one_to_one"], 1.0);
    let firsts = results.iter().filter(|result| result["ratio_to_baseline"] == 1.0);
    assert!(firsts.count() >= CROWDS.len(), "one in each cell");
}

#[test]
fn several_strategies_of_lapwing_have_a_column_each() {
    let roster = Roster::of(
        &[ContenderName::Lapwing],
        &[WaitName::Adaptive, WaitName::Blocking].map(Setting::from),
    );
    let schedule = Schedule::short(1, 100);
    let records = measure(&CROWDS[..1], &roster.entries, 64, schedule, |_| Progress::Silent);
    let text = table::of(&records.unwrap(), &[], &Machine::detect());
    assert!(text.contains("lapwing adaptive") && text.contains("lapwing blocking"), "{text}");
}

#[test]
fn several_placements_of_lapwing_have_a_column_each_and_their_threads() {
    let placements = ["own", "1"].map(|text| text.parse().unwrap());
    let settings = Setting::each(&[WaitName::Adaptive], &placements);
    let roster = Roster::of(&[ContenderName::Lapwing, ContenderName::StdMpsc], &settings);
    let schedule = Schedule::short(1, 100);
    let crowds = &CROWDS[2..];
    let records = measure(crowds, &roster.entries, 64, schedule, |_| Progress::Silent).unwrap();
    let text = table::of(&records, &[], &Machine::detect());
    assert!(text.contains("lapwing adaptive own") && text.contains("lapwing adaptive 1"), "{text}");

    let report = json::read_back(&records);
    for (cell, crowd) in report["results"].as_array().unwrap().chunks(3).zip(crowds) {
        let one = crowd.producers as usize + 1;
        let expected = [("own".into(), crowd.threads().into()), ("1".into(), one.into())];
        let placed = cell[..2].iter().map(|row| (row["placement"].clone(), row["threads"].clone()));
        assert!(placed.eq(expected), "{report}");
        assert!(cell[2].get("placement").is_none(), "{report}");
    }
}
