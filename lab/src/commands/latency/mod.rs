//! `lapwing-lab latency`: Table 3 of the paper, the delays of the three-stage pipeline below saturation.

mod hgrm; // files of percentiles

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, value_parser};

use super::delays::{self, Carrier, PacedRun};
use super::session::Session;
use crate::contenders::{Entry, Roster};
use crate::flags::{LengthArguments, PacedArguments, values};
use crate::load::paced::{Clock, END_TO_END, Pace};
use crate::measure::error::Error;
use crate::measure::progress::Progress;
use crate::measure::runner::{self, Length, Row};
use crate::record::{Key, Record, figure};
use crate::view::{Axis, Chart, Column, Lines, Series, Table, View, column, text};

/// How its records are shown.
pub(super) const VIEW: View = View {
    experiment: "latency",
    title: "Latency",
    lead: "The delay of an event through the pipeline of three stages, at a load below saturation. It counts from the \
           intended send, so an event that is sent late counts as slow. `no-hand-off` is one thread that is the sender \
           and all stages: it shows what the clock and the system add. The paper's Table 3 (Java, Core i7-2720QM, 2011) \
           has per hop: Disruptor mean 52 ns, 99 % below 128 ns; ArrayBlockingQueue mean 32,757 ns, 99 % below \
           2,097,152 ns.",
    tables,
    charts,
    notes,
};

/// The length of one run with `--quick`.
const QUICK_RUN: Duration = Duration::from_millis(200);
/// The mean time of a read of the clock, in nanoseconds, among the facts of a record.
const CLOCK: Key = Key::new("clock_ns");

/// The flags of `lapwing-lab latency`.
#[derive(Args, Debug)]
pub(crate) struct LatencyArguments {
    /// Events per second; the paper sends one each microsecond
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    #[arg(value_parser = value_parser!(u32).range(1..=i64::from(values::MAX_RATE)))]
    rate: u32,

    #[command(flatten)]
    length: LengthArguments,

    #[command(flatten)]
    paced: PacedArguments,

    /// Writes the percentiles of each row's segments to files in this folder, for HdrHistogram's
    /// plotter
    #[arg(long, value_name = "FOLDER")]
    hgrm: Option<PathBuf>,
}

impl LatencyArguments {
    /// Returns the load of each run.
    fn pace(&self) -> Pace {
        self.paced.pace(self.rate, self.length.run_time(QUICK_RUN))
    }
}

/// Runs the experiment as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &LatencyArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.paced.json.as_deref())?;
    let Roster { entries, missing } = arguments.paced.roster();
    let records = measure(arguments, &entries, Progress::new)?;
    session.end(&VIEW, records, missing)
}

/// Runs the baseline without a hand-off and each of `entries`, and writes the files of percentiles.
fn measure(
    arguments: &LatencyArguments,
    entries: &[Entry],
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let pace = arguments.pace();
    let row = |carrier| {
        let run = PacedRun::new(VIEW.experiment, carrier, pace);
        Row::new(run, Length::Events(pace.events))
    };
    let rows = Carrier::all(entries).map(row).collect();
    let rows = runner::run(rows, arguments.paced.runs, progress)?;
    if let Some(folder) = &arguments.hgrm {
        write_files(folder, &rows)?;
    }
    let clock = Clock::new().cost();
    let with_clock = |record: Record| record.with_fact(CLOCK, Some(clock));
    Ok(rows.iter().filter_map(Row::record).map(with_clock).collect())
}

/// Writes `CONTENDER-WAIT-PART.hgrm` to `folder` for each part of the path of each of `rows`. The placement follows the
/// wait if it is not the default.
///
/// # Errors
///
/// [`Error::Json`] with the first folder or file that the system refuses.
fn write_files(folder: &Path, rows: &[Row<PacedRun<'_>>]) -> Result<(), Error> {
    let refused = |path: &Path, source| Error::Json { path: path.to_owned(), source };
    fs::create_dir_all(folder).map_err(|source| refused(folder, source))?;
    for row in rows {
        let Some(record) = row.record() else { continue };
        let setting = record.setting().replace(' ', "-");
        for (part, histogram) in row.delays() {
            let path = folder.join(format!("{}-{setting}-{part}.hgrm", record.contender));
            let written = fs::write(&path, hgrm::text(histogram));
            written.map_err(|source| refused(&path, source))?;
        }
    }
    Ok(())
}

/// Returns the median delay from end to end, by which rows are sorted.
fn median(record: &Record) -> f64 {
    record.delays_of(END_TO_END).map_or(f64::INFINITY, |way| way.p50_ns)
}

fn tables(records: &[&Record]) -> Vec<Table> {
    let mut sorted = records.to_vec();
    sorted.sort_by(|one, other| median(one).total_cmp(&median(other)));
    vec![ways(&sorted), hops(&sorted)]
}

/// Returns the table of the whole path.
fn ways(records: &[&Record]) -> Table {
    let contender = |record: &Record| record.contender.clone() + delays::mark(record);
    let columns = vec![
        Column::words("contender", contender),
        column::setting().leaves(5),
        delays::way("min", |way| way.min_ns).leaves(4),
        delays::way("mean", |way| way.mean_ns).leaves(7),
        delays::way("50 %", |way| way.p50_ns),
        delays::way("90 %", |way| way.p90_ns).leaves(3),
        delays::way("99 %", |way| way.p99_ns),
        delays::way("99.9 %", |way| way.p99_9_ns),
        delays::way("99.99 %", |way| way.p99_99_ns).leaves(6),
        delays::way("max", |way| way.max_ns),
        column::median("events/s", figure::PER_SECOND, column::same).leaves(2),
        column::cpus().leaves(1),
    ];
    Table::of("Nanoseconds from end to end", records, columns)
}

/// Returns the table of the hops.
fn hops(records: &[&Record]) -> Table {
    let columns = vec![
        column::contender(),
        column::setting().leaves(1),
        column::delay("mean of 1", "hop-1", |hop| hop.mean_ns),
        column::delay("of 2", "hop-2", |hop| hop.mean_ns),
        column::delay("of 3", "hop-3", |hop| hop.mean_ns),
        column::delay("99 % of 1", "hop-1", |hop| hop.p99_ns),
        column::delay("of 2", "hop-2", |hop| hop.p99_ns),
        column::delay("of 3", "hop-3", |hop| hop.p99_ns),
    ];
    Table::of("Nanoseconds per hop", records, columns)
}

/// Returns, for each contender, the record with the lowest 99th percentile.
fn best<'a>(records: &[&'a Record]) -> Vec<&'a Record> {
    let p99 =
        |record: &Record| record.delays_of(END_TO_END).map_or(f64::INFINITY, |way| way.p99_ns);
    let mut best = Vec::<&Record>::new();
    for record in records {
        let is_rival =
            |one: &&Record| one.contender == record.contender && one.pinned == record.pinned;
        match best.iter_mut().find(|one| is_rival(one)) {
            Some(known) if p99(record) < p99(known) => *known = record,
            Some(_) => {}
            None => best.push(record),
        }
    }
    best
}

fn charts(records: &[&Record]) -> Vec<Chart> {
    let series = |record: &Record| {
        let curve = record.delays_of(END_TO_END)?.curve.iter();
        let points = curve.filter(|(percentile, _)| *percentile < 100.0);
        Some(Series {
            name: delays::line(record, true) + delays::mark(record),
            points: points.map(|(percentile, ns)| (one_in(*percentile), *ns)).collect(),
            is_own: record.is_own(),
        })
    };
    let lines = Lines {
        across: Axis { name: "percentile of the events".to_owned(), label: percentile },
        up: Axis { name: "delay from end to end".to_owned(), label: text::time },
        series: best(records).into_iter().filter_map(series).collect(),
    };
    let caption = "Delay from end to end at each percentile; lower is better. At 99.9 %, one event in a thousand took \
                   longer than the line. Each contender has its wait with the lowest 99th percentile.";
    vec![Chart::lines(VIEW.experiment, caption, lines)]
}

/// Returns the number of events of which one is above this percentile: 100 for 99 %.
fn one_in(percentile: f64) -> f64 {
    100.0 / (100.0 - percentile)
}

/// Returns the percentile that one in so many events is above.
fn percentile(events: f64) -> String {
    let percent = 100.0 - 100.0 / events;
    format!("{} %", (percent * 1e6).round() / 1e6)
}

fn notes(records: &[&Record]) -> Vec<String> {
    let clock = records.iter().find_map(|record| record.number(CLOCK)).map(|ns| {
        format!(
            "a delay begins when the event was to be sent; a read of the clock takes {ns:.0} ns, and no-hand-off shows \
             what this machine adds by itself"
        )
    });
    let is_saturated = records.iter().any(|record| delays::is_saturated(record));
    let saturated = is_saturated
        .then(|| "saturated: it could not take the load, so its delays grow with time".to_owned());
    [clock, saturated].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::commands::delays::OFFERED;
    use crate::load::paced::SEGMENTS;
    use crate::machine::Machine;
    use crate::view::terminal;

    /// Returns the records of two runs of 300 events with these flags.
    fn records(flags: &str) -> Result<Vec<Record>, Error> {
        let line = format!(
            "lapwing latency --runs 2 --rate 500000 --seconds-per-run 0.0006 --ring 64 {flags}"
        );
        let Command::Latency(arguments) = Cli::parse_from(line.split_whitespace()).command else {
            panic!("it is another command")
        };
        measure(&arguments, &arguments.paced.roster().entries, |_| Progress::Silent)
    }

    fn with_files(folder: &Path, flags: &str) -> Result<Vec<Record>, Error> {
        records(&format!("{flags} --hgrm {}", folder.display()))
    }

    #[test]
    fn a_record_has_the_delays_of_each_part() {
        let records = records("--contender lapwing,std-mpsc").unwrap();
        let contenders = records.iter().map(|record| &*record.contender);
        assert!(contenders.eq(["no-hand-off", "lapwing", "std-mpsc"]));
        for record in &records {
            assert_eq!(
                [OFFERED, Key::EVENTS].map(|key| record.number(key)),
                [5e5, 300.0].map(Some)
            );
            assert_eq!(record.runs.len(), 2);
            assert!(record.delays.iter().map(|part| &*part.name).eq(SEGMENTS));
            assert!(record.delays.iter().all(|part| part.count == 600 && !part.curve.is_empty()));
            let way = record.delays_of(END_TO_END).unwrap();
            assert!(record.each("max_ns").all(|max| max <= way.max_ns));
        }
        assert_eq!((records[0].threads, records[1].threads), (1, 4));
    }

    #[test]
    fn tables_have_a_row_for_each_and_the_chart_a_line() {
        let records = records("--contender lapwing,std-mpsc").unwrap();
        let text = terminal::render(&VIEW, &records, &[], &Machine::detect());
        assert!(text.contains("Nanoseconds from end to end:"), "{text}");
        assert!(text.contains("Nanoseconds per hop:"), "{text}");
        assert_eq!(text.matches("| std-mpsc").count(), 2, "{text}");
        assert!(text.contains("a read of the clock takes"), "{text}");
        assert!(text.contains("all verified: 3 rows, 6 runs"), "{text}");
        let chart = charts(&records.iter().collect::<Vec<_>>()).remove(0);
        let svg = chart.svg().unwrap();
        for word in ["std-mpsc park", "lapwing adaptive", "99 %"] {
            assert!(svg.contains(word), "{word}");
        }
    }

    #[test]
    fn an_event_that_is_lost_has_no_delay() {
        let error = records("--contender wrong-answer").unwrap_err().to_string();
        assert!(error.starts_with("wrong answer, so no speed: topology=pipeline"), "{error}");
    }

    #[test]
    fn each_part_has_a_file_and_each_placement_files_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let records = with_files(folder.path(), "--contender lapwing --placement own,1").unwrap();
        let placed = records.iter().map(|record| (record.placement.as_deref(), record.threads));
        assert!(placed.eq([(None, 1), (Some("own"), 4), (Some("1"), 2)]));
        for row in ["no-hand-off-none", "lapwing-adaptive", "lapwing-adaptive-1"] {
            for part in SEGMENTS {
                let file = folder.path().join(format!("{row}-{part}.hgrm"));
                let text = fs::read_to_string(&file).unwrap();
                assert!(text.ends_with("Total count    =          600]\n"), "{text}");
            }
        }
    }

    #[test]
    fn a_file_of_delays_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(format!("lapwing-adaptive-{}.hgrm", SEGMENTS[1]));
        fs::create_dir(&file).unwrap();
        let error = with_files(folder.path(), "--contender lapwing").unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot write {}: ", file.display())), "{error}");
    }

    #[test]
    fn a_percentile_is_shown_as_such() {
        for value in [0.0, 50.0, 90.0, 99.9, 99.999] {
            assert_eq!(percentile(one_in(value)), format!("{value} %"));
        }
    }
}
