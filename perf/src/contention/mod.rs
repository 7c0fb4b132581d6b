//! `lapwing contention`: Table 1 of the paper, what an increment costs with and without contention.

mod table; // how they are shown

use serde::Serialize;

use crate::cli::ContentionArguments;
use crate::error::Error;
use crate::harness::{self, Schedule, Timed};
use crate::increments::Case;
use crate::machine::Machine;
use crate::neighbours::Neighbours;
use crate::progress::Progress;
use crate::report::{self, json};
use crate::run::{self, Pass, Run};

/// The name of this benchmark in a report.
const BENCHMARK: &str = "contention";

/// One case, and its runs.
#[derive(Debug)]
struct Row {
    case: Case,
    increments: u32,
    runs: Vec<Run>,
}

/// One row of the report. Its keys are those of other benchmarks, where it has the same thing.
#[derive(Clone, Debug, Serialize)]
struct Record {
    /// `contention`.
    benchmark: &'static str,
    /// How it increments.
    contender: Case,
    /// Threads that increment.
    threads: usize,
    /// Increments of one run, of all threads together.
    events: u32,
    /// Whether no increment was lost in any run. A lost one has no record.
    verified: bool,
    /// Every run that counts, in the order of the rounds.
    runs: Vec<Run>,
    /// The median of the runs: increments of all threads, each second.
    median_events_per_second: f64,
    /// The median of the per-round ratio of its speed to `plain`; none if that did not run.
    ratio_to_baseline: Option<f64>,
    /// Nanoseconds of an increment in the paper's Table 1; none if it has no such case.
    nanoseconds_in_paper: Option<f64>,
}

impl Timed for Row {
    fn label(&self) -> String {
        self.case.name().to_owned()
    }

    fn events(&self) -> u32 {
        self.increments
    }

    fn set_events(&mut self, events: u32) {
        self.increments = events;
    }

    fn run(&self) -> Result<Pass, Error> {
        let (topology, contender) = ("counter", self.case.name());
        let failed = |source| Error::Run { topology, contender, source };
        let pass = self.case.run(self.increments).map_err(failed)?;
        let expected = vec![u64::from(self.increments)];
        pass.checked(topology, contender, self.increments, &expected)
    }

    fn record(&mut self, run: Run) {
        self.runs.push(run);
    }
}

impl Record {
    /// The record of `row`, compared with `plain` among `rows`.
    fn new(row: &Row, rows: &[Row]) -> Self {
        let plain = rows.iter().find(|row| row.case == Case::Plain);
        Self {
            benchmark: BENCHMARK,
            contender: row.case,
            threads: row.case.threads(),
            events: row.increments,
            verified: true, // the harness gives no row with a wrong answer
            runs: row.runs.clone(),
            median_events_per_second: run::median_speed(&row.runs),
            ratio_to_baseline: plain.and_then(|plain| run::median_ratio(&row.runs, &plain.runs)),
            nanoseconds_in_paper: row.case.nanoseconds_in_paper(),
        }
    }
}

/// Measures and reports what `arguments` ask for.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &ContentionArguments) -> Result<(), Error> {
    if let Some(path) = &arguments.schedule.json {
        json::check(path)?;
    }
    let mut machine = Machine::detect();
    report::print(&machine.to_string())?;

    let schedule = arguments.schedule.schedule();
    let neighbours = Neighbours::watch();
    let records = measure(&arguments.cases(), &schedule, Progress::new)?;
    machine.cpus_used_by_others = neighbours.cpus_used();
    report::print(&table::of(&records, &machine))?;

    if let Some(path) = &arguments.schedule.json {
        json::write(path, &machine, &records)?;
    }
    Ok(())
}

/// Runs each of `cases` as `schedule` says.
///
/// # Errors
///
/// The first wrong answer or failed run.
fn measure(
    cases: &[Case],
    schedule: &Schedule,
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let row = |&case: &Case| Row { case, increments: 1, runs: Vec::new() };
    let mut rows = cases.iter().map(row).collect::<Vec<_>>();
    let progress = progress(harness::steps(rows.len(), schedule));
    harness::measure(&mut rows, schedule, &progress)?;
    Ok(rows.iter().map(|row| Record::new(row, &rows)).collect())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A few increments of each of `cases`.
    fn records(cases: &[Case]) -> Result<Vec<Record>, Error> {
        let run_time = Duration::from_millis(1);
        let schedule = Schedule { runs: 3, run_time, events: Some(1_000) };
        measure(cases, &schedule, |_| Progress::Silent)
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
        let text = json::text(&Machine::detect(), &records).unwrap();
        let report = serde_json::from_str::<serde_json::Value>(&text).unwrap();
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
