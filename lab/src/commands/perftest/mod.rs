//! `lapwing-lab perftest`: LMAX's own performance tests, by their names and with their parameters, written for Lapwing
//! as a user of LMAX's Disruptor would write them.
//!
//! The sizes of rings and batches, the wait strategies of consumers, the definition of an operation and the sums are
//! those of version 4.0. LMAX's tests of queues are missing, because `throughput` has rivals. Its tests of immutable
//! events are missing, because LMAX does not time them.

mod catalogue; // every test, by its name
mod graphs; // one producer, three consumers
mod large; // large events
mod many; // three producers
mod parts; // what several tests do
mod ping_pong; // round trips
mod raw; // sequences without events
mod test; // the definition of a test
mod value; // one producer, one consumer, events of one number

use clap::Args;
use lapwing_lab_stats::Percentiles;

use self::ping_pong::{CORRECTED, PAUSE_NS, ROUND_TRIP};
use self::test::{Delayed, Load, PerfTest, Work};
use super::session::Session;
use crate::flags::{ScheduleArguments, values};
use crate::machine::placement::Placement;
use crate::measure::crew::{Answers, RunError};
use crate::measure::error::Error;
use crate::measure::progress::Progress;
use crate::measure::runner::{self, Length, Measured, Row, Subject};
use crate::record::{Key, OWN, Record, figure};
use crate::view::{Column, Table, View, column, no_charts};

/// How its records are shown.
pub(super) const VIEW: View = View {
    experiment: "perftest",
    title: "LMAX's performance tests",
    lead: "The performance tests of the Disruptor's repository, by their names and with their parameters. Each test \
           counts what LMAX counts, so a row can be compared with LMAX's figure for it, and not with another row.",
    tables,
    charts: no_charts,
    notes,
};

/// The label of a cell that names the test.
const TEST: Key = Key::new("test");
/// The fact of the graph of a test.
const SHAPE: Key = Key::new("shape");
/// The fact of the events of a run in LMAX's own test.
const LMAX_EVENTS: Key = Key::new("lmax_events");

/// The flags of `lapwing-lab perftest`.
#[derive(Args, Debug)]
pub(crate) struct PerftestArguments {
    /// Tests to run, by the names of LMAX's classes, separated by commas. Default: all
    #[arg(long, value_delimiter = ',', value_name = "LIST", ignore_case = true)]
    #[arg(value_parser = catalogue::parser())]
    test: Vec<&'static PerfTest>,

    /// Runs as many events as LMAX's tests: from 1 million to 2 billion
    #[arg(long, conflicts_with_all = ["events", "seconds_per_run", "quick"])]
    full: bool,

    #[command(flatten)]
    schedule: ScheduleArguments,
}

/// A test that is timed.
struct Trial {
    test: &'static PerfTest,
    placement: Placement,
    /// The right answers for the events of a run.
    expected: Answers,
}

/// Runs the experiment as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &PerftestArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.schedule.json.as_deref())?;
    let schedule = arguments.schedule.schedule();
    let length = |test: &PerfTest| match arguments.full {
        true => Length::Events(test.lmax_events),
        false => schedule.length(),
    };
    let tests = values::each_once(&arguments.test, &catalogue::ALL);
    let rows = tests.into_iter().map(|test| row(test, schedule.placement, length(test)));
    let records = runner::measure(rows.collect(), schedule.runs, Progress::new)?;
    session.end(&VIEW, records, Vec::new())
}

fn row(test: &'static PerfTest, placement: Placement, length: Length) -> Row<Trial> {
    Row::new(Trial { test, placement, expected: Answers::new() }, length)
}

impl Trial {
    /// Runs once. The answer is not checked yet.
    fn pass(&self, events: u32) -> Result<Delayed, RunError> {
        let load = Load { events, ring: self.test.ring, placement: self.placement };
        match self.test.work {
            Work::Throughput(run) => Ok(Delayed { pass: run(load)?, delays: None }),
            Work::Latency(run) => run(load),
        }
    }
}

impl Subject for Trial {
    fn record(&self) -> Record {
        let test = self.test;
        let mut record = Record::new(VIEW.experiment, OWN, test.threads)
            .in_cell(TEST, test.name)
            .with_fact(SHAPE, Some(test.shape))
            .with_fact(Key::RING, Some(test.ring))
            .with_fact(Key::EVENT_BYTES, Some(test.event_bytes))
            .with_fact(LMAX_EVENTS, Some(test.lmax_events))
            .with_fact(Key::OPERATIONS_PER_EVENT, Some(test.operations_per_event));
        record.wait = Some(test.wait.to_owned());
        record.pinned = self.placement.pins(test.threads);
        record
    }

    fn prepare(&mut self, events: u32) {
        self.expected = (self.test.expected)(events);
    }

    fn run(&self, events: u32) -> Result<Measured, Error> {
        let (topology, contender) = (self.test.name, OWN);
        let failed = |source| Error::Run { topology, contender, source };
        let Delayed { pass, delays } = self.pass(events).map_err(failed)?;
        let pass = pass.checked(topology, contender, events, &self.expected)?;
        let mut measured = Measured::speed(&pass, events, self.test.operations_per_event);
        if let Some(delays) = delays {
            let corrected = delays.clone_correct(PAUSE_NS);
            measured.delays = vec![(ROUND_TRIP, delays), (CORRECTED, corrected)];
        }
        Ok(measured)
    }
}

fn tables(records: &[&Record]) -> Vec<Table> {
    let columns = vec![
        column::label("test", TEST),
        column::label("shape", SHAPE).leaves(4),
        column::median("M ops/s", figure::PER_SECOND, column::millions),
        column::range(figure::PER_SECOND, column::millions).leaves(1),
        column::batch().leaves(3),
        Column::numbers("batch %", |record| {
            Some(format!("{:.2}", batch_percent(record.median(figure::BATCH)?)))
        }),
        column::cpus().leaves(2),
        column::threads(),
    ];
    let delays = records.iter().flat_map(|record| &record.delays).collect::<Vec<_>>();
    let mut tables = vec![Table::of("", records, columns)];
    if !delays.is_empty() {
        tables.push(round_trips(&delays));
    }
    tables
}

/// Returns the value that LMAX's tests print as `BatchPercent`: the share of the events that did not begin a batch.
fn batch_percent(events_per_batch: f64) -> f64 {
    100.0 * (1.0 - 1.0 / events_per_batch)
}

fn round_trips(delays: &[&Percentiles]) -> Table {
    let numbers = ["count", "min", "mean", "50 %", "99 %", "99.9 %", "max"];
    let mut table = Table::empty("round trips, nanoseconds", &["round trip"], &numbers);
    for delays in delays {
        let Percentiles { min_ns, mean_ns, p50_ns, p99_ns, p99_9_ns, max_ns, .. } = delays;
        let times = [min_ns, mean_ns, p50_ns, p99_ns, p99_9_ns, max_ns];
        let times = times.map(|time| format!("{time:.0}"));
        let cells = [delays.name.clone(), delays.count.to_string()].into_iter().chain(times);
        table.add(true, cells.collect());
    }
    table.leaving(&["count", "min", "99.9 %"])
}

fn notes(records: &[&Record]) -> Vec<String> {
    let mut notes = vec![
        "ops: as LMAX counts, each number of an array; batch %: its BatchPercent, 1 - batches / events".to_owned(),
    ];
    if records.iter().any(|record| record.delays_of(CORRECTED).is_some()) {
        notes.push(format!("{CORRECTED}: as LMAX counts, with those that were not sent meanwhile"));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::view::terminal;

    /// Returns the records of `tests` over a few events.
    fn records(tests: &[&'static PerfTest]) -> Result<Vec<Record>, Error> {
        let rows = tests.iter().map(|test| row(test, Placement::Free, Length::Events(100)));
        runner::measure(rows.collect(), 2, |_| Progress::Silent)
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
    fn a_record_has_the_parameters_of_its_test_and_the_round_trips_that_count() {
        let records = records(&[&large::LONG_ARRAY, &ping_pong::PING_PONG]).unwrap();
        let [array, round_trips] = &records[..] else { panic!("{records:?}") };
        assert_eq!(array.text(TEST), "OneToOneSequencedLongArrayThroughputTest");
        assert_eq!((&*array.contender, array.wait.as_deref()), ("lapwing", Some("yielding")));
        let facts = [Key::RING, Key::EVENT_BYTES, Key::EVENTS, Key::OPERATIONS_PER_EVENT];
        let expected = [1_024.0, 16_384.0, 100.0, 2_048.0].map(Some);
        assert_eq!(facts.map(|fact| array.number(fact)), expected);
        assert!(array.runs.len() == 2 && array.rate() > 0.0 && array.delays.is_empty());

        assert_eq!(round_trips.wait.as_deref(), Some("blocking"));
        let measured = round_trips.delays_of(ROUND_TRIP).unwrap();
        assert_eq!(measured.count, 200, "the runs that count, and no other");
        assert!(round_trips.delays_of(CORRECTED).unwrap().count >= measured.count);
    }

    #[test]
    fn the_tables_have_a_line_for_each_test_and_for_both_counts_of_round_trips() {
        let records = records(&[&graphs::DIAMOND, &ping_pong::PING_PONG]).unwrap();
        let text = terminal::render(&VIEW, &records, &[], &Machine::detect());
        assert!(text.contains("OneToThreeDiamondSequencedThroughputTest"), "{text}");
        assert!(text.contains("| round-trip-corrected |"), "{text}");
        assert!(text.contains("all verified: 2 rows, 4 runs"), "{text}");
        let throughput = &records[..1];
        let text = terminal::render(&VIEW, throughput, &[], &Machine::detect());
        assert!(!text.contains("round-trip"), "{text}");
    }

    #[test]
    fn batch_percent_is_the_part_of_the_events_that_begin_no_batch() {
        assert_eq!([1.0, 4.0].map(batch_percent), [0.0, 75.0]);
    }
}
