//! `lapwing-lab idle`: the cost of waiting. It runs the same graph with each wait strategy and several loads, eight
//! consumers without events, and single events after an idle period.

mod single; // single events after idle periods
#[cfg(test)]
mod tests; // whole measurements, a wrong answer, the tables
mod waiting; // threads that wait under a load
mod watch; // the cost of a run

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, value_parser};
use lapwing_lab_stats::{Percentiles, median};

use self::single::{BARE, Carrier, SingleEvents};
use self::waiting::{Waiter, Waiting};
use super::delays::{self, OFFERED};
use super::session::Session;
use crate::contenders::{ContenderName, Entry, Roster, Setting, WaitName};
use crate::flags::values::{self, each_once};
use crate::flags::{LengthArguments, SettingArguments};
use crate::load::after_idle::{AfterIdle, Bare};
use crate::load::topologies::Topology;
use crate::measure::error::Error;
use crate::measure::progress::Progress;
use crate::measure::runner::{self, Row};
use crate::record::{Key, OWN, Record, figure};
use crate::view::{Bar, Bars, Chart, Column, Table, View, column, text};

/// How its records are shown.
pub(super) const VIEW: View = View {
    experiment: "idle",
    title: "What waiting costs",
    lead: "The cost of waiting for events: CPU time and wake-ups of the process without its sending thread, with each \
           wait strategy, from no load to a million events per second. The second table has the time from the \
           publication of a single event, after an idle period, until half of the consumers and the last of them have \
           it.",
    tables,
    charts,
    notes,
};

/// The topology of single events in a record.
const SINGLE_EVENT: &str = "single-event";
/// CPU time of the process without its sender, and of the sender, in percent of one CPU.
const WAITING_CPU: &str = "cpu_percent";
const SENDER_CPU: &str = "sender_cpu_percent";
/// Wake-ups per second of threads other than the sender.
const WAKES: &str = "wakes_per_second";
/// The time at which half of the consumers, and the last one, had an event: the median of the events of a run.
const HALF: &str = "half_ns";
const LAST: &str = "last_ns";

/// Loads: nothing, little, much.
const RATES: [u32; 3] = [0, 1_000, 1_000_000];
/// The length of one run with `--quick`.
const QUICK_RUN: Duration = Duration::from_millis(200);
/// Consumers to which nothing is published.
const IDLE_CONSUMERS: usize = 8;
/// Windows of the consumers without events. Their cost is very small.
const IDLE_WINDOWS: u32 = 3;
/// The idle period before a single event.
const SILENCE: Duration = Duration::from_millis(100);
/// Consumers of a single event.
const LISTENERS: [usize; 2] = [1, 8];

/// The help of `--seconds-per-run`.
const LENGTH_HELP: &str =
    "Length of one run, in seconds, after a fifth of a second that does not count";

/// The flags of `lapwing-lab idle`.
#[derive(Args, Debug)]
#[command(mut_arg("seconds_per_run", |seconds| seconds.help(LENGTH_HELP)))]
pub(crate) struct IdleArguments {
    /// Loads in events per second, separated by commas. Default: 0, 1,000 and 1,000,000
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    #[arg(value_parser = value_parser!(u32).range(0..=i64::from(values::MAX_RATE)))]
    rate: Vec<u32>,

    /// Wait strategies of Lapwing, separated by commas; each adds a row. Default: all six
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    wait: Vec<WaitName>,

    #[command(flatten)]
    setting: SettingArguments,

    /// Contenders, separated by commas; each of their waits adds a row
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST", default_value = "lapwing")]
    contender: Vec<ContenderName>,

    /// Runs N parallel readers instead of three stages in a row; only Lapwing
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(1..=64))]
    consumers: Option<u8>,

    #[command(flatten)]
    length: LengthArguments,

    /// Counted runs of each row
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = value_parser!(u32).range(1..=1_000))]
    runs: u32,

    /// Slots of the ring and of every queue; a power of two
    #[arg(long, value_name = "N", default_value_t = 8_192, value_parser = values::ring)]
    ring: usize,

    /// Writes the machine and every run to this JSON file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl IdleArguments {
    /// Returns the measured part of a run.
    const fn window(&self) -> Duration {
        self.length.run_time(QUICK_RUN)
    }

    /// Returns the settings of the rows of Lapwing.
    fn settings(&self) -> Vec<Setting> {
        self.setting.with(&each_once(&self.wait, &WaitName::ALL))
    }

    /// Returns the default strategy with each requested placement.
    fn default_waits(&self) -> Vec<Setting> {
        self.setting.with(&[WaitName::Adaptive])
    }

    /// Returns the contenders that take part.
    fn roster(&self) -> Roster {
        let names = each_once(&self.contender, &[]);
        Roster::admitting(&names, &self.settings(), |name| self.refusal(name))
            .fitting(Topology::Pipeline, self.ring)
    }

    /// Returns the reason why the contender of this name does not take part, if there is one.
    fn refusal(&self, name: ContenderName) -> Option<&'static str> {
        if name.is_process() {
            return Some(
                "its sender never sleeps, so the cost of its consumers cannot be measured",
            );
        }
        (!name.is_own() && self.consumers.is_some())
            .then_some("only Lapwing runs with parallel readers")
    }

    /// Returns the threads that wait under each load: parallel readers if there is a number of them, otherwise each
    /// setting of `entries`.
    fn waiters<'a>(&self, entries: &'a [Entry]) -> Vec<Waiter<'a>> {
        if let Some(readers) = self.consumers {
            let parallel = |setting| Waiter::SideBySide(setting, readers.into());
            return self.settings().into_iter().map(parallel).collect();
        }
        let contenders = entries.iter().flat_map(|entry| &entry.candidates);
        contenders.map(|contender| Waiter::Pipeline(contender.as_ref())).collect()
    }

    /// Returns the rows of each waiter under each load, and of the eight consumers without events.
    fn waiting<'a>(&self, entries: &'a [Entry]) -> Vec<Row<Waiting<'a>>> {
        let waiters = self.waiters(entries);
        let mut rows = Vec::new();
        for rate in each_once(&self.rate, &RATES) {
            let row = |waiter: &_| Waiting::row(*waiter, rate, self.window(), self.ring);
            rows.extend(waiters.iter().map(row));
        }
        rows.extend(self.default_waits().into_iter().map(|setting| {
            let eight = Waiter::SideBySide(setting, IDLE_CONSUMERS);
            Waiting::row(eight, 0, self.window() * IDLE_WINDOWS, self.ring)
        }));
        rows
    }

    /// Returns the rows of single events to one and to several consumers, through a ring and through a bare word.
    fn single_events(&self) -> Vec<Row<SingleEvents>> {
        let silences = self.window().as_secs_f64() / SILENCE.as_secs_f64();
        let events = silences.ceil().max(1.0) as u32;
        let bare = Bare::ALL.iter().map(|bare| Carrier::Bare(*bare));
        let rings = self.default_waits().into_iter().map(Carrier::Lapwing);
        let carriers = rings.chain(bare).collect::<Vec<_>>();
        let rows = LISTENERS.iter().flat_map(|&listeners| {
            let run = AfterIdle { listeners, events, silence: SILENCE };
            carriers.iter().map(move |carrier| SingleEvents::row(*carrier, run))
        });
        rows.collect()
    }
}

/// Runs the experiment as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &IdleArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.json.as_deref())?;
    let Roster { entries, missing } = arguments.roster();
    let records = measure(arguments, &entries, Progress::new)?;
    session.end(&VIEW, records, missing)
}

/// Runs each of `entries` under each load, and the single events.
fn measure(
    arguments: &IdleArguments,
    entries: &[Entry],
    progress: impl Fn(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let mut records = runner::measure(arguments.waiting(entries), arguments.runs, &progress)?;
    records.extend(runner::measure(arguments.single_events(), arguments.runs, &progress)?);
    for record in &mut records {
        let delays = record.delays.drain(..).map(Percentiles::without_curve);
        record.delays = delays.collect();
    }
    Ok(records)
}

/// Returns the record of Lapwing with this `setting` and this many parallel consumers, and one sender.
fn own_record(experiment: &str, setting: Setting, consumers: usize) -> Record {
    let mut record = Record::new(experiment, OWN, setting.threads(1, consumers));
    record.wait = Some(setting.wait.name().to_owned());
    record.placement = Some(setting.placement.to_string());
    record
}

/// Returns the records of loads, and those of single events.
fn parts<'a>(records: &[&'a Record]) -> (Vec<&'a Record>, Vec<&'a Record>) {
    records.iter().partition(|record| record.text(Key::TOPOLOGY) != SINGLE_EVENT)
}

/// Returns the number of waiting consumers and their graph.
fn graph(record: &Record) -> String {
    let how = if record.text(Key::TOPOLOGY) == "pipeline" { "in a row" } else { "side by side" };
    format!("{} {how}", record.text(Key::CONSUMERS))
}

fn tables(records: &[&Record]) -> Vec<Table> {
    let (loads, events) = parts(records);
    let tables = [(of_loads(&loads), loads), (of_events(&events), events)];
    tables.into_iter().filter(|(_, rows)| !rows.is_empty()).map(|(table, _)| table).collect()
}

fn of_loads(records: &[&Record]) -> Table {
    let columns = vec![
        column::label("events/s", OFFERED),
        column::contender(),
        column::setting().leaves(4),
        Column::words("consumers", graph),
        column::median("CPU %", WAITING_CPU, column::same),
        column::median("wake-ups/s", WAKES, column::same),
        column::median("involuntary/s", figure::INVOLUNTARY, column::same).leaves(2),
        delays::way("p50 ns", |way| way.p50_ns),
        delays::way("p99 ns", |way| way.p99_ns).leaves(3),
        column::median("sender CPU %", SENDER_CPU, column::same).leaves(1),
    ];
    Table::of("Threads that wait", records, columns)
}

fn of_events(records: &[&Record]) -> Table {
    let times = |figure| {
        Column::numbers("x bare", move |record| {
            times_bare(records, record, figure).map(text::rounded)
        })
    };
    let columns = vec![
        Column::words("through", |record| record.contender.clone()),
        column::setting().leaves(1),
        column::number("consumers", Key::CONSUMERS),
        column::median("half, ns", HALF, column::same),
        times(HALF),
        column::median("last, ns", LAST, column::same),
        times(LAST),
    ];
    Table::of("A single event after an idle period", records, columns)
}

/// Returns the median of the per-round ratios of a `figure` to that of the bare wake-up that has the lowest delay to
/// half of as many threads.
fn times_bare(records: &[&Record], record: &Record, figure: &str) -> Option<f64> {
    let half = |record: &Record| record.median(HALF).unwrap_or(f64::INFINITY);
    let bare = records.iter().filter(|one| one.contender == BARE && one.cell == record.cell);
    let bare = bare.min_by(|one, other| half(one).total_cmp(&half(other)))?;
    median(record.each(figure).zip(bare.each(figure)).map(|(own, bare)| own / bare))
}

fn charts(records: &[&Record]) -> Vec<Chart> {
    let (loads, _) = parts(records);
    let mut groups = Vec::<(String, Vec<Bar>)>::new();
    for record in loads {
        let Some(value) = record.median(WAITING_CPU) else { continue };
        let bar = Bar {
            name: format!("{} {}, {}", record.contender, record.setting(), graph(record)),
            value,
            range: record.range(WAITING_CPU),
            is_own: record.is_own(),
        };
        let heading = format!("{} events per second", record.text(OFFERED));
        match groups.iter_mut().find(|(known, _)| *known == heading) {
            Some((_, bars)) => bars.push(bar),
            None => groups.push((heading, vec![bar])),
        }
    }
    if groups.is_empty() {
        return Vec::new();
    }
    let caption = "CPU time of the process without its sender, in percent of one CPU; shorter is better. The bar is \
                   the median run, the thin line spans all runs.";
    let bars = Bars { unit: "percent of one CPU".to_owned(), groups };
    vec![Chart::bars(VIEW.experiment, caption, bars)]
}

fn notes(records: &[&Record]) -> Vec<String> {
    let (loads, events) = parts(records);
    let of_loads = "CPU %: of one CPU, the whole process without its sender; wake-ups: how often the other threads went to sleep; \
         involuntary: how often they lost the CPU or yielded it; p50 and p99: from when an event was to be sent to its \
         end";
    let of_events = "single event: from its publication after an idle period until half of the consumers, and the last of them, \
         have it; bare: a word and the system's wake-up, the faster of its ways is the limit; ratios are the medians \
         of those of each round";
    let notes = [(loads, of_loads), (events, of_events)].into_iter();
    notes.filter(|(rows, _)| !rows.is_empty()).map(|(_, note)| note.to_owned()).collect()
}
