//! A complete small measurement: its records, its tables, its JSON.

use serde_json::Value;

use super::config::ModeName;
use super::*;
use crate::machine::Machine;
use crate::report::json;

/// Returns a configuration with a few hundred orders that are held briefly.
fn config() -> Config {
    Config {
        orders_per_strategy: 200,
        window_ms: 10,
        d_min_us: 10,
        d_max_us: 100,
        repeats: 2,
        shared_cap: 512, // a slot for each
        spsc_cap: 512,
        sample_us: 100,
        orch_work_sweep: vec![0, 200],
        mode: ModeName::Shared,
        ..Config::scaled()
    }
}

/// Returns the records of a measurement of `techniques`.
fn records(techniques: &[TechniqueName]) -> Result<Vec<Record>, Error> {
    let config = config();
    let layout = Layout::new(&config, 2);
    measure(techniques, (&config, &layout), Payload::Small, |_| Progress::Silent)
}

#[test]
fn json_has_the_promised_keys() {
    let records = records(&[TechniqueName::SpscMux, TechniqueName::LapwingGraphs]).unwrap();
    let report = json::read_back(&records);
    let results = report["results"].as_array().unwrap();
    assert_eq!(results.len(), 4);

    let last = &results[3];
    assert_eq!(last["benchmark"], "dispatch");
    assert_eq!(last["contender"], "lapwing-graphs");
    assert_eq!(last["orch_work_ns"], 200);
    assert_eq!(last["threads"], 3);
    assert_eq!(last["mode"], "shared");
    assert_eq!(last["pinned"], false);
    assert_eq!(last["event_bytes"], 64);
    assert_eq!(last["repeats"], 2);
    assert_eq!(last["orders"], 400);
    assert_eq!(last["verified"], true);
    assert_eq!(last["full"].as_u64(), Some(0));
    assert_eq!(last["config"]["window_ms"], 10);
    assert_eq!(last["rt_venue_spread"]["p50_ns"].as_array().unwrap().len(), 2);
    assert_eq!(last["rt_venue_spread"]["p99_ns"].as_array().unwrap().len(), 2);
    assert!(last["in_flight"]["median_peak"].is_number());
    assert!(last["in_flight"]["max"].is_u64());
    assert!(last["in_flight"]["expected"].is_f64());
    assert!(last["stalls"]["runs"].is_u64());
    assert!(last["stalls"]["worst_gap_ns"].is_u64());

    let segments = last["segments"].as_array().unwrap();
    let names = segments.iter().map(|segment| segment["name"].as_str().unwrap());
    assert!(names.eq(segments::ROWS));
    for segment in segments {
        let percentile = |key: &str| segment[key].as_f64().unwrap();
        assert!(percentile("p50_ns") <= percentile("p99_ns"), "{segment}");
        assert!(percentile("p99_ns") <= percentile("p99_9_ns"), "{segment}");
    }
    assert_eq!(results[0]["cpus"].is_null(), cfg!(not(unix)));
    assert_ne!(segment(last, "venue_svc")["p50_ns"], 0.0);
}

/// Returns the segment called `name` of a result.
fn segment<'a>(result: &'a Value, name: &str) -> &'a Value {
    let segments = result["segments"].as_array().unwrap();
    segments.iter().find(|segment| segment["name"] == name).unwrap()
}

#[test]
fn tables_have_a_block_for_each_technique_and_the_headline_for_each_amount_of_work() {
    let records = records(&[TechniqueName::StdMpsc, TechniqueName::LapwingRing]).unwrap();
    let text = table::of(&records, &Layout::new(&config(), 2), &Machine::detect());

    assert_eq!(text.matches("### orch_work = ").count(), 2, "{text}");
    assert_eq!(text.matches("**std-mpsc**").count(), 2, "{text}");
    assert_eq!(text.matches("| rt-venue").count(), 4, "{text}");
    for headline in ["rt-venue p50, us", "rt-venue p99, us", "rt-venue p99.9, us"] {
        assert!(text.contains(headline), "{headline}: {text}");
    }
    assert!(text.contains("all verified: 4 rows, 8 runs, every order came back once"), "{text}");
    assert!(
        text.contains("would outnumber") || text.contains("the configuration says so"),
        "{text}"
    );
    assert!(text.contains("oversubscribed: 3 threads on 2 CPUs"), "{text}");
}

#[test]
fn orders_that_are_mistaken_for_one_another_have_no_times() {
    let error = records(&[TechniqueName::StdMpsc, TechniqueName::WrongAnswer]).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("wrong answer, so no times: topology=dispatch"), "{text}");
    assert!(text.contains("contender=wrong-answer orders=400 lost=2 doubled=2"), "{text}");
}
