//! The format of the JSON and of the tables, over the records of a small measurement, and a wrong
//! sum.

use super::*;
use crate::machine::Machine;
use crate::report::json;

/// Returns the records of `tests` over a few events.
fn records(tests: &[&'static PerfTest]) -> Result<Vec<Record>, Error> {
    let schedule = Schedule::short(2, 100);
    let benches = tests.iter().map(|test| Bench::new(test, schedule));
    measure(benches.collect(), schedule.runs, |_| Progress::Silent)
}

#[test]
fn a_wrong_sum_has_no_speed() {
    let error = records(&[&value::ONE_TO_ONE, &catalogue::WRONG_SUM]).unwrap_err().to_string();
    assert!(
        error.starts_with("wrong answer, so no speed: topology=WrongSum contender=lapwing"),
        "{error}"
    );
}

#[test]
fn json_has_the_keys_of_other_benchmarks() {
    let records = records(&[&large::LONG_ARRAY, &ping_pong::PING_PONG]).unwrap();
    let report = json::read_back(&records);
    let array = &report["results"][0];
    assert_eq!(array["benchmark"], "perftest");
    assert_eq!(array["topology"], "OneToOneSequencedLongArrayThroughputTest");
    assert_eq!(array["contender"], "lapwing");
    assert_eq!(array["wait"], "yielding");
    assert_eq!(array["threads"], 2);
    assert_eq!(array["ring"], 1_024);
    assert_eq!(array["event_bytes"], 16_384);
    assert_eq!(array["events"], 100);
    assert_eq!(array["operations_per_event"], 2_048);
    assert_eq!(array["verified"], true);
    assert_eq!(array["runs"].as_array().unwrap().len(), 2);
    assert!(array["median_events_per_second"].as_f64().unwrap() > 0.0);
    assert!(array.get("segments").is_none(), "{array}");

    let round_trips = &report["results"][1];
    assert_eq!(round_trips["wait"], "blocking");
    let [measured, corrected] = [0, 1].map(|index| &round_trips["segments"][index]);
    assert_eq!(measured["name"], "round-trip");
    assert_eq!(measured["count"], 200, "the runs that count, and no other");
    assert!(measured["p50_ns"].as_u64() <= measured["max_ns"].as_u64());
    assert_eq!(corrected["name"], "round-trip-corrected");
    assert!(corrected["count"].as_u64() >= measured["count"].as_u64());
}

#[test]
fn tables_have_a_line_for_each_test_and_say_where_threads_outnumber_cpus() {
    let records = records(&[&graphs::DIAMOND, &ping_pong::PING_PONG]).unwrap();
    let machine = Machine::detect();
    let text = table::of(&records, &machine);
    assert!(text.contains("OneToThreeDiamondSequencedThroughputTest"), "{text}");
    assert!(text.contains("| round-trip-corrected |"), "{text}");
    let crowded = machine.available_parallelism() < 4;
    assert_eq!(text.contains("the scheduler counts"), crowded, "{text}");
    assert!(text.contains("all verified: 2 rows, 4 runs"), "{text}");
}

#[test]
fn batch_percent_is_the_part_of_the_events_that_begin_no_batch() {
    let mut records = records(&[&value::ONE_TO_ONE]).unwrap();
    let record = &mut records[0];
    for (events_per_batch, percent) in [(1.0, 0.0), (4.0, 75.0)] {
        record.speed.runs.iter_mut().for_each(|run| run.events_per_batch = events_per_batch);
        assert_eq!(record.batch_percent(), Some(percent));
    }
}
