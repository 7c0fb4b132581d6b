//! `lapwing-lab limits`: the limits of this machine. Every other table can be read as a fraction of them.

mod claims; // several threads and one counter
mod hint; // prefetch hints
mod leisure; // the reader's back-off between two batches
mod probe; // the cases
mod singles; // single events between two threads
mod solo; // one thread alone
mod stream; // events in blocks between two threads

use clap::Args;

use self::probe::{Case, Probe};
use super::session::Session;
use crate::flags::{ScheduleArguments, values};
use crate::load::workload::EventBytes;
use crate::machine::placement::Placement;
use crate::measure::error::Error;
use crate::measure::progress::Progress;
use crate::measure::runner::{self, Row};
use crate::measure::schedule::Schedule;
use crate::record::{Key, Record, figure};
use crate::view::{Bar, Bars, Chart, Column, Table, View, column, text};

/// How its records are shown.
pub(super) const VIEW: View = View {
    experiment: "limits",
    title: "Limits of the machine",
    lead: "What this machine can do at all: a number that another thread answers, events to another thread in blocks \
           and one by one, numbers that several threads claim, and one thread alone. Each limit ran with the fastest \
           of its settings; no contender that does the same work can be faster. The time is that of one event, and \
           of one way of an exchange.",
    tables,
    charts,
    notes: explanations,
};

/// The flags of `lapwing-lab limits`.
#[derive(Args, Debug)]
pub(crate) struct LimitsArguments {
    /// Limits to measure, separated by commas. Default: all
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    case: Vec<Case>,

    /// Event sizes of a stream in bytes, separated by commas. Default: all
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    event_bytes: Vec<EventBytes>,

    #[command(flatten)]
    schedule: ScheduleArguments,
}

impl LimitsArguments {
    /// Returns the requested limits, each once: a stream for each size of event.
    fn probes(&self, placement: Placement) -> Vec<Probe> {
        let sizes = values::each_once(&self.event_bytes, &EventBytes::ALL);
        let cases = values::each_once(&self.case, &Case::ALL);
        let probes = cases.into_iter().flat_map(|case| {
            let sizes = if case.has_sizes() { sizes.as_slice() } else { &[EventBytes::B8] };
            sizes.iter().map(move |bytes| Probe::new(case, *bytes, placement))
        });
        probes.collect()
    }
}

/// Runs the experiment as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &LimitsArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.schedule.json.as_deref())?;
    let schedule = arguments.schedule.schedule();
    let records = measure(arguments.probes(schedule.placement), schedule, Progress::new)?;
    session.end(&VIEW, records, Vec::new())
}

/// Runs each of `probes` as `schedule` says.
fn measure(
    probes: Vec<Probe>,
    schedule: Schedule,
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let rows = probes.into_iter().map(|probe| Row::new(probe, schedule.length()));
    runner::measure(rows.collect(), schedule.runs, progress)
}

/// Returns the case of `record`, if this build has it.
fn case(record: &Record) -> Option<Case> {
    Case::ALL.into_iter().find(|case| case.name() == record.contender)
}

fn tables(records: &[&Record]) -> Vec<Table> {
    let columns = vec![
        Column::words("limit", |record| record.contender.clone()),
        column::number("bytes", Key::EVENT_BYTES),
        column::median("ns", figure::PER_SECOND, column::nanoseconds),
        column::range(figure::PER_SECOND, column::nanoseconds).leaves(2),
        column::median("M events/s", figure::PER_SECOND, column::millions),
        Column::numbers("GB/s", |record| gigabytes_per_second(record).map(text::rounded)).leaves(4),
        column::cpus().leaves(1),
        column::label("setting", probe::SETTING).leaves(3),
    ];
    vec![Table::of("", records, columns)]
}

/// Returns how many gigabytes of events a second moves, or `None` where no thread reads them or each waits for an
/// answer.
fn gigabytes_per_second(record: &Record) -> Option<f64> {
    case(record).filter(|case| case.moves_bytes())?;
    Some(record.rate() * record.number(Key::EVENT_BYTES)? / 1e9)
}

fn charts(records: &[&Record]) -> Vec<Chart> {
    let bar = |record: &&Record| {
        let range = record.range(figure::PER_SECOND);
        Bar {
            name: format!("{}, {} bytes", record.contender, record.text(Key::EVENT_BYTES)),
            value: column::nanoseconds(record.rate()),
            range: range.map(|(low, high)| (column::nanoseconds(high), column::nanoseconds(low))),
            is_own: false,
        }
    };
    let caption = "Nanoseconds for an event, or for one way of an exchange. The bar is the median run, the thin line \
                   spans the fastest and the slowest run.";
    let bars = Bars {
        unit: "nanoseconds".to_owned(),
        groups: vec![(String::new(), records.iter().map(bar).collect())],
    };
    vec![Chart::bars(VIEW.experiment, caption, bars)]
}

/// Returns what each limit is, in the words of the help.
fn explanations(records: &[&Record]) -> Vec<String> {
    let cases = records.iter().filter_map(|record| case(record)).collect::<Vec<_>>();
    let cases = values::each_once(&cases, &[]);
    cases.into_iter().map(|case| format!("{}: {}", case.name(), case.help())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::view::terminal;

    /// Returns the records of a few events of each of `cases`.
    fn records(cases: &[(Case, EventBytes)]) -> Result<Vec<Record>, Error> {
        let probe = |(case, bytes): &(Case, EventBytes)| Probe::new(*case, *bytes, Placement::Free);
        let probes = cases.iter().map(probe).collect();
        measure(probes, Schedule::short(2, 200), |_| Progress::Silent)
    }

    #[test]
    fn a_wrong_answer_has_no_speed() {
        let cases = [(Case::SoloLoop, EventBytes::B8), (Case::WrongAnswer, EventBytes::B8)];
        let error = records(&cases).unwrap_err().to_string();
        assert!(error.starts_with("wrong answer, so no speed: topology=limits"), "{error}");
        assert!(error.contains("contender=wrong-answer events=200"), "{error}");
    }

    #[test]
    fn a_record_has_the_threads_and_the_setting_of_its_limit() {
        let cases = Case::ALL.map(|case| (case, EventBytes::B8));
        let records = records(&cases).unwrap();
        let known = [
            ("exchange", 2, "spin"),
            ("stamp-exchange", 2, "spin"),
            ("slot-exchange", 2, "spin"),
            ("stream", 2, "KiB blocks, "),
            ("ring-stream", 2, "KiB blocks, 512 KiB"),
            ("singles", 2, "-hints"),
            ("small-singles", 2, "-hints"),
            ("claims", 3, ""),
            ("claims-read", 4, "hints"),
            ("solo-ring", 1, " slots"),
            ("solo-loop", 1, ""),
        ];
        assert_eq!(records.len(), known.len());
        for (record, (name, threads, setting)) in records.iter().zip(known) {
            assert_eq!((&*record.contender, record.threads), (name, threads));
            assert!(record.text(probe::SETTING).contains(setting), "{record:?}");
            assert!(record.runs.len() == 2 && record.rate() > 0.0, "{record:?}");
        }
        let waits = ["at-once", "64-to-256-hints", "256-to-1024-hints"];
        assert!(waits.contains(&&*records[7].text(probe::SETTING)), "{:?}", records[7]);
        assert_eq!(records[0].number(Key::OPERATIONS_PER_EVENT), Some(2.0));
    }

    #[test]
    fn the_table_has_a_line_for_each_limit_and_says_what_each_is() {
        let streams = EventBytes::ALL.map(|bytes| (Case::Stream, bytes));
        let cases = [&[(Case::Exchange, EventBytes::B8)][..], &streams].concat();
        let records = records(&cases).unwrap();
        let text = terminal::render(&VIEW, &records, &[], &Machine::detect());
        assert_eq!(
            text.matches("\nstream: Events to another thread in blocks").count(),
            1,
            "{text}"
        );
        assert!(text.contains("all verified: 5 rows, 10 runs"), "{text}");
        assert!(text.contains("|     8 |"), "a count has no decimals: {text}");
        let [chart] = &charts(&records.iter().collect::<Vec<_>>())[..] else { panic!("one chart") };
        assert!(chart.svg().unwrap().contains("stream, 256 bytes"));
        assert_eq!(gigabytes_per_second(&records[0]), None);
        let largest = records.last().unwrap();
        assert_eq!(gigabytes_per_second(largest), Some(largest.rate() * 256.0 / 1e9));
    }
}
