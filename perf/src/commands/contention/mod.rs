//! `lapwing contention`: Table 1 of the paper, the cost of an increment with and without
//! contention.

mod arguments; // the flags
mod table; // the tables

use serde::Serialize;

pub(crate) use self::arguments::ContentionArguments;
use crate::commands::old_session::Session;
use crate::load::increments::Case;
use crate::machine::placement::Placement;
use crate::measure::error::Error;
use crate::measure::harness;
use crate::measure::progress::Progress;
use crate::measure::row::{Row, Speed, Subject};
use crate::measure::run::Pass;
use crate::measure::schedule::Schedule;

/// The name of this benchmark in a report.
const BENCHMARK: &str = "contention";

/// One case.
#[derive(Clone, Copy, Debug)]
struct Counting {
    case: Case,
    placement: Placement,
}

/// One row of the report.
#[derive(Clone, Debug, Serialize)]
struct Record {
    /// `contention`.
    benchmark: &'static str,
    /// The way to increment.
    contender: Case,
    /// Its speed. An event is an increment of one of the threads.
    #[serde(flatten)]
    speed: Speed,
    /// Nanoseconds of an increment in Table 1 of the paper, or `None` if it has no such case.
    nanoseconds_in_paper: Option<f64>,
}

impl Subject for Counting {
    fn label(&self) -> String {
        self.case.name().to_owned()
    }

    fn threads(&self) -> usize {
        self.case.threads()
    }

    fn run(&self, increments: u32) -> Result<Pass, Error> {
        let (topology, contender) = ("counter", self.case.name());
        let failed = |source| Error::Run { topology, contender, source };
        let pass = self.case.run(increments, self.placement).map_err(failed)?;
        pass.checked(topology, contender, increments, &vec![u64::from(increments)])
    }
}

/// Runs the benchmark as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &ContentionArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.schedule.json.as_deref())?;
    let records = measure(&arguments.cases(), arguments.schedule.schedule(), Progress::new)?;
    session.end(&records, &[], |machine| table::of(&records, machine))
}

/// Runs each of `cases` as `schedule` says.
///
/// # Errors
///
/// The first wrong answer or failed run.
fn measure(
    cases: &[Case],
    schedule: Schedule,
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let counting = |&case: &Case| Counting { case, placement: schedule.placement };
    let rows = cases.iter().map(|case| Row::new(counting(case), schedule));
    let mut rows = rows.collect::<Vec<_>>();
    let progress = progress(harness::steps(rows.len(), schedule.runs));
    harness::measure(&mut rows, schedule.runs, &progress)?;

    let plain = rows.iter().find(|row| row.subject.case == Case::Plain);
    let run = rows.iter().filter(|row| !row.runs.is_empty());
    Ok(run.map(|row| record(row, plain)).collect())
}

/// Returns the record of `row`, compared with `plain`.
fn record(row: &Row<Counting>, plain: Option<&Row<Counting>>) -> Record {
    let case = row.subject.case;
    Record {
        benchmark: BENCHMARK,
        contender: case,
        speed: row.speed(plain.map(|plain| (plain.subject.case.name(), plain))),
        nanoseconds_in_paper: case.nanoseconds_in_paper(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::report::json;

    /// Returns the records of a few increments of each of `cases`.
    fn records(cases: &[Case]) -> Result<Vec<Record>, Error> {
        measure(cases, Schedule::short(3, 1_000), |_| Progress::Silent)
    }

    #[test]
    fn a_lost_increment_has_no_speed() {
        let error = records(&[Case::Plain, Case::WrongAnswer]).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("wrong answer, so no speed: topology=counter"), "{text}");
        assert!(text.contains("contender=wrong-answer events=1000"), "{text}");
    }

    #[test]
    fn json_has_the_keys_of_other_benchmarks() {
        let records = records(&[Case::CasTwo, Case::Plain]).unwrap();
        let report = json::read_back(&records);
        let first = &report["results"][0];
        assert_eq!(first["benchmark"], "contention");
        assert_eq!(first["contender"], "cas-two");
        assert_eq!(first["threads"], 2);
        assert_eq!(first["events"], 1_000);
        assert_eq!(first["verified"], true);
        assert_eq!(first["runs"].as_array().unwrap().len(), 3);
        assert!(first["median_events_per_second"].as_f64().unwrap() > 0.0);
        assert_eq!(first["nanoseconds_in_paper"], 60.0);
        assert_eq!(report["results"][1]["ratio_to_baseline"], 1.0);
    }

    #[test]
    fn table_has_a_line_for_each_case_in_its_order() {
        let records = records(&Case::ALL).unwrap();
        let text = table::of(&records, &Machine::detect());
        let lines = text.lines().skip(2).take(Case::ALL.len()).collect::<Vec<_>>();
        for (line, case) in lines.iter().zip(Case::ALL) {
            assert!(line.contains(case.description()), "{line} {case:?}");
        }
        assert!(text.contains("all verified: 11 rows, 33 runs"), "{text}");
    }
}
