//! The format of the JSON, of the tables and of the files, over a small measurement.

use super::*;
use crate::contenders::{ContenderName, Setting, WaitName};
use crate::load::paced::Between;
use crate::machine::Machine;
use crate::machine::placement::Placement;
use crate::report::Missing;
use crate::report::json;

/// Runs two rounds of a few events for each of `names`, with Lapwing's defaults.
fn with_rows<T>(names: &[ContenderName], test: impl FnOnce(&[Row<'_>]) -> T) -> Result<T, Error> {
    with_settings(names, &[Setting::default()], test)
}

/// Runs the same with a row of Lapwing for each of `settings`.
fn with_settings<T>(
    names: &[ContenderName],
    settings: &[Setting],
    test: impl FnOnce(&[Row<'_>]) -> T,
) -> Result<T, Error> {
    let roster = Roster::of(names, settings);
    let (placement, between) = (Placement::Free, Between::Awake);
    let pace = Pace { interval_ns: 2_000.0, events: 300, ring: 64, placement, between };
    let rows = measure(&roster.entries, pace, 2, |_| Progress::Silent)?;
    Ok(test(&rows))
}

#[test]
fn json_has_the_delays_of_each_segment() {
    let names = [ContenderName::Lapwing, ContenderName::StdMpsc];
    let report = with_rows(&names, |rows| json::read_back(&records(rows))).unwrap();
    let results = report["results"].as_array().unwrap();
    let contenders = results.iter().map(|result| result["contender"].as_str().unwrap());
    assert!(contenders.eq(["no-hand-off", "lapwing", "std-mpsc"]), "{report}");
    for result in results {
        assert_eq!(result["benchmark"], "latency");
        assert_eq!(result["topology"], "pipeline");
        assert_eq!(result["events"], 300);
        assert_eq!(result["verified"], true);
        assert_eq!(result["runs"].as_array().unwrap().len(), 2);
        let segments = result["segments"].as_array().unwrap();
        let names = segments.iter().map(|segment| segment["name"].as_str().unwrap());
        assert!(names.eq(SEGMENTS), "{result}");
        for segment in segments {
            assert_eq!(segment["count"], 600);
            assert!(segment["p50_ns"].as_u64() <= segment["p99_9_ns"].as_u64());
        }
    }
}

#[test]
fn table_has_a_line_for_each_and_says_who_is_missing() {
    let absent = Missing { contender: "absent".to_owned(), reason: "it is not here".to_owned() };
    let text = with_rows(&[ContenderName::Lapwing], |rows| {
        table::of(&records(rows), &[absent], &Machine::detect())
    });
    let text = text.unwrap();
    assert!(text.contains("| lapwing"), "{text}");
    assert!(text.contains("it is not here"), "{text}");
    assert!(text.contains("all verified: 2 rows, 4 runs"), "{text}");
}

#[test]
fn an_event_that_is_lost_has_no_delay() {
    let error = with_rows(&[ContenderName::WrongAnswer], |_| ()).unwrap_err().to_string();
    assert!(error.starts_with("wrong answer, so no speed: topology=pipeline"), "{error}");
}

#[test]
fn each_segment_has_a_file() {
    let folder = std::env::temp_dir().join(format!("lapwing-hgrm-{}", std::process::id()));
    with_rows(&[ContenderName::Lapwing], |rows| write_files(&folder, rows).unwrap()).unwrap();
    for segment in SEGMENTS {
        let file = folder.join(format!("lapwing-adaptive-{segment}.hgrm"));
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains("Total count"), "{text}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_file_of_delays_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(format!("lapwing-adaptive-{}.hgrm", SEGMENTS[1]));
    fs::create_dir(&file).unwrap();
    let error = with_rows(&[ContenderName::Lapwing], |rows| write_files(folder.path(), rows));
    let error = error.unwrap().unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot write {}: ", file.display())), "{error}");
}

#[test]
fn each_placement_of_lapwing_has_rows_and_files_of_its_own() {
    let folder = std::env::temp_dir().join(format!("lapwing-placed-{}", std::process::id()));
    let placements = ["own", "1"].map(|text| text.parse().unwrap());
    let settings = Setting::each(&[WaitName::Adaptive], &placements);
    let records = with_settings(&[ContenderName::Lapwing], &settings, |rows| {
        write_files(&folder, rows).unwrap();
        records(rows)
    });
    let records = records.unwrap();
    let text = table::of(&records, &[], &Machine::detect());
    for (placement, threads) in [("own", 4), ("1", 2)] {
        let record = records.iter().find(|one| one.placement.as_deref() == Some(placement));
        assert_eq!(record.unwrap().threads, threads);
        assert!(text.contains(&format!("adaptive {placement}")), "{text}");
        let file = folder.join(format!("lapwing-adaptive-{placement}-end-to-end.hgrm"));
        assert!(file.exists(), "{file:?}");
    }
    assert!(records[0].placement.is_none(), "nobody hands over");
    fs::remove_dir_all(&folder).unwrap();
}
