//! `lapwing-lab sweep`: delays against load, from idle to saturation: the J curve of the paper's conclusion.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use clap::{Args, value_parser};
use lapwing_lab_stats::Percentiles;

use super::delays::{self, Carrier, OFFERED, PacedRun};
use super::session::Session;
use crate::contenders::{Entry, Roster};
use crate::flags::{LengthArguments, PacedArguments, values};
use crate::load::paced::{END_TO_END, Pace};
use crate::measure::error::Error;
use crate::measure::progress::Progress;
use crate::measure::runner::{self, Length, Measured, Row, Subject};
use crate::record::{Record, figure};
use crate::view::{Axis, Chart, Column, Lines, Series, Table, View, column, text};

/// How its records are shown.
pub(super) const VIEW: View = View {
    experiment: "sweep",
    title: "Latency against load",
    lead: "What `latency` measures, at rising loads. The paper claims that the curve of a queue is a J, while the \
           Disruptor stays almost flat until it is saturated. `no-hand-off` is one thread that is the sender and all \
           stages. A curve ends at the first load that is too high.",
    tables,
    charts,
    notes,
};

/// The length of one run with `--quick`.
const QUICK_RUN: Duration = Duration::from_millis(40);
/// Loads in events per second, from idle to more than any contender takes.
const RATES: [u32; 12] = [
    1_000, 10_000, 100_000, 300_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000, 16_000_000,
    24_000_000, 32_000_000, 64_000_000,
];
/// Runs that decide whether a load is too high. On a busy machine, one failure is not conclusive.
const TRIES: usize = 3;

/// The flags of `lapwing-lab sweep`.
#[derive(Args, Debug)]
#[command(mut_arg("seconds_per_run", |seconds| seconds.default_value("0.15")))]
#[command(mut_arg("quick", |quick| quick.help("Runs a twenty-fifth of a second each")))]
pub(crate) struct SweepArguments {
    /// Loads in events per second, separated by commas. Default: a dozen from 1,000 to 64,000,000
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    #[arg(value_parser = value_parser!(u32).range(1..=i64::from(values::MAX_RATE)))]
    rates: Vec<u32>,

    #[command(flatten)]
    length: LengthArguments,

    #[command(flatten)]
    paced: PacedArguments,
}

/// One load of a curve.
struct Step<'a> {
    run: PacedRun<'a>,
    /// Whether a smaller load of the same curve was too high.
    ended: Rc<Cell<bool>>,
}

impl SweepArguments {
    /// Returns the loads, from the smallest.
    fn paces(&self) -> Vec<Pace> {
        let mut rates = values::each_once(&self.rates, &RATES);
        rates.sort_unstable();
        let time = self.length.run_time(QUICK_RUN);
        rates.into_iter().map(|rate| self.paced.pace(rate, time)).collect()
    }
}

impl Subject for Step<'_> {
    fn record(&self) -> Record {
        self.run.record()
    }

    /// Returns one setting where the curve has ended: no setting needs a trial.
    fn settings(&self) -> usize {
        if self.ended.get() { 1 } else { self.run.settings() }
    }

    fn choose(&mut self, setting: usize) {
        self.run.choose(setting);
    }

    fn merit(&self, run: &Measured) -> f64 {
        self.run.merit(run)
    }

    fn prepare(&mut self, events: u32) {
        self.run.prepare(events);
    }

    /// Ends the curve at the first load that is too high. Higher loads give no more information and take longer. The
    /// runner settles the loads of a curve in their order, the smallest first.
    fn takes_part(&mut self) -> Result<bool, Error> {
        if self.ended.get() {
            return Ok(false);
        }
        self.ended.set(!self.is_sustained()?);
        Ok(true)
    }

    fn run(&self, events: u32) -> Result<Measured, Error> {
        let mut measured = self.run.run(events)?;
        measured.delays.retain(|(part, _)| *part == END_TO_END);
        Ok(measured)
    }
}

impl Step<'_> {
    /// Returns whether one of a few runs sustains the load.
    fn is_sustained(&self) -> Result<bool, Error> {
        for _ in 0..TRIES {
            if self.run.is_sustained()? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Runs the experiment as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &SweepArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.paced.json.as_deref())?;
    let Roster { entries, missing } = arguments.paced.roster();
    let records = measure(arguments, &entries, Progress::new)?;
    session.end(&VIEW, records, missing)
}

/// Runs the baseline without a hand-off and each of `entries` at each load.
fn measure(
    arguments: &SweepArguments,
    entries: &[Entry],
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let paces = arguments.paces();
    let rows = Carrier::all(entries).flat_map(|carrier| curve(carrier, &paces)).collect();
    let mut records = runner::measure(rows, arguments.paced.runs, progress)?;
    for record in &mut records {
        let delays = record.delays.drain(..).map(Percentiles::without_curve);
        record.delays = delays.collect();
    }
    Ok(records)
}

/// Returns the rows of one curve at these loads, which ascend.
fn curve<'a>(carrier: Carrier<'a>, paces: &[Pace]) -> impl Iterator<Item = Row<Step<'a>>> {
    let ended = Rc::new(Cell::new(false));
    paces.iter().map(move |pace| {
        let run = PacedRun::new(VIEW.experiment, carrier, *pace);
        let step = Step { run, ended: Rc::clone(&ended) };
        Row::new(step, Length::Events(pace.events))
    })
}

fn tables(records: &[&Record]) -> Vec<Table> {
    let achieved = |record: &Record| {
        let rate = record.median(figure::PER_SECOND)?;
        Some(format!("{rate:.0}{}", delays::mark(record)))
    };
    let columns = vec![
        column::contender(),
        column::setting().leaves(3),
        column::number("offered/s", OFFERED),
        Column::numbers("achieved/s", achieved),
        delays::way("50 % ns", |way| way.p50_ns),
        delays::way("90 %", |way| way.p90_ns).leaves(2),
        delays::way("99 %", |way| way.p99_ns),
        delays::way("99.9 %", |way| way.p99_9_ns).leaves(4),
        column::cpus().leaves(1),
    ];
    vec![Table::of("", records, columns)]
}

fn charts(records: &[&Record]) -> Vec<Chart> {
    let half = lines(records, |way| way.p50_ns);
    let most = lines(records, |way| way.p99_ns);
    let caption = |events: &str| {
        format!(
            "The delay from end to end that {events} do not exceed, against the load; lower and further right is \
             better. A flat line sustains its load, a rising line queues, and the last point of a line that ends early \
             was too much. A rival has its best wait at each load."
        )
    };
    vec![
        Chart::lines("sweep-50", &caption("half of the events"), half),
        Chart::lines("sweep-99", &caption("99 of 100 events"), most),
    ]
}

/// Returns a line for each setting of Lapwing and for each rival.
fn lines(records: &[&Record], percentile: fn(&Percentiles) -> f64) -> Lines {
    let mut series = Vec::<Series>::new();
    for record in records {
        let Some((load, way)) = record.number(OFFERED).zip(record.delays_of(END_TO_END)) else {
            continue;
        };
        let (name, point) = (delays::line(record, record.is_own()), (load, percentile(way)));
        match series.iter_mut().find(|one| one.name == name) {
            Some(one) => one.points.push(point),
            None => series.push(Series { name, points: vec![point], is_own: record.is_own() }),
        }
    }
    for one in &mut series {
        one.points.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    Lines {
        across: Axis { name: "load".to_owned(), label: text::rate },
        up: Axis { name: "delay from end to end".to_owned(), label: text::time },
        series,
    }
}

fn notes(records: &[&Record]) -> Vec<String> {
    let note =
        "saturated: the load was too much, so the delays grow with time and the curve ends there";
    let is_saturated = records.iter().any(|record| delays::is_saturated(record));
    is_saturated.then(|| note.to_owned()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::machine::Machine;
    use crate::record::Key;
    use crate::view::terminal;

    /// Returns the records of one round with these flags.
    fn records(flags: &str) -> Result<Vec<Record>, Error> {
        let line = format!("lapwing sweep --runs 1 --ring 64 {flags}");
        let Command::Sweep(arguments) = Cli::parse_from(line.split_whitespace()).command else {
            panic!("it is another command")
        };
        measure(&arguments, &arguments.paced.roster().entries, |_| Progress::Silent)
    }

    fn render(records: &[Record]) -> String {
        terminal::render(&VIEW, records, &[], &Machine::detect())
    }

    #[test]
    fn a_curve_ends_at_the_first_load_that_is_too_high() {
        // No contender takes an event per nanosecond, so the largest load is never reached, though it is named first.
        let flags = "--contender bounded-queue,rtrb --rates 1000000000,900000000,10 --seconds-per-run 0.000002";
        let records = records(flags).unwrap();
        let curve = |contender: &str| {
            let own = records.iter().filter(|record| record.contender == contender);
            own.map(|record| (record.number(OFFERED), delays::is_saturated(record)))
                .collect::<Vec<_>>()
        };
        for contender in ["no-hand-off", "bounded-queue", "rtrb"] {
            assert_eq!(curve(contender), [(Some(10.0), false), (Some(9e8), true)], "{contender}");
        }
        let text = render(&records);
        assert_eq!(text.matches(" (saturated)").count(), 3, "{text}");
        assert!(text.contains("the curve ends there"), "{text}");
    }

    #[test]
    fn the_table_has_a_row_for_each_load_and_the_chart_a_line_for_each_curve() {
        // One event in a tenth of a second: a busy machine sustains it too.
        let flags =
            "--contender lapwing --wait adaptive,blocking --rates 10,20 --seconds-per-run 0.05";
        let records = records(flags).unwrap();
        assert_eq!(records.len(), 6);
        for record in &records {
            let [way] = &*record.delays else { panic!("one part: {record:?}") };
            assert_eq!((&*way.name, way.curve.len()), (END_TO_END, 0));
            assert_eq!(Some(way.count as f64), record.number(Key::EVENTS));
        }
        let text = render(&records);
        assert!(text.contains("| lapwing "), "{text}");
        assert!(text.contains("all verified: 6 rows, 6 runs"), "{text}");
        for chart in charts(&records.iter().collect::<Vec<_>>()) {
            let svg = chart.svg().unwrap();
            for name in ["no-hand-off", "lapwing adaptive", "lapwing blocking"] {
                assert!(svg.contains(name), "{name}");
            }
        }
    }

    #[test]
    fn an_event_that_is_lost_has_no_delay() {
        let error = records("--contender wrong-answer --rates 10000 --seconds-per-run 0.02");
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("wrong answer, so no speed: topology=pipeline"), "{error}");
    }

    #[test]
    fn a_rival_that_waits_in_two_ways_has_one_line() {
        let record = |contender: &str, wait: &str, offered: u64| {
            let mut record = Record::new(VIEW.experiment, contender, 4).in_cell(OFFERED, offered);
            record.wait = Some(wait.to_owned());
            let mut delays = lapwing_lab_stats::histogram();
            delays.saturating_record(offered);
            record.delays = vec![Percentiles::of(END_TO_END, &delays)];
            record
        };
        let records = [
            record("lapwing", "adaptive", 1_000),
            record("lapwing", "blocking", 1_000),
            record("rival", "yield", 10_000),
            record("rival", "spin", 1_000),
        ];
        let lines = lines(&records.iter().collect::<Vec<_>>(), |way| way.p50_ns);
        let names = lines.series.iter().map(|line| (&*line.name, line.points.len()));
        assert!(names.eq([("lapwing adaptive", 1), ("lapwing blocking", 1), ("rival", 2)]));
        assert!(lines.series[2].points.is_sorted_by_key(|point| point.0));
    }
}
