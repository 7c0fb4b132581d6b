//! `lapwing-lab oversubscribed`: several producers, and several consumers that share the events, on the CPUs of this
//! machine.

use std::time::Duration;

use clap::{Args, value_parser};
use lapwing_lab_stats::median;

use super::session::Session;
use crate::contenders::{Contender, ContenderName, Entry, Roster, Shares};
use crate::flags::{ContenderArguments, ScheduleArguments, values};
use crate::load::sharing::{Crowd, Sharing};
use crate::measure::crew::{Answers, RunError};
use crate::measure::error::Error;
use crate::measure::progress::Progress;
use crate::measure::runner::{self, Measured, Row, Subject};
use crate::measure::schedule::Schedule;
use crate::record::{Key, Missing, OWN, Record, by, by_cell, compare, fastest, in_rounds};
use crate::view::{Bar, Bars, Chart, Table, View, column, text};

/// How its records are shown.
pub(super) const VIEW: View = View {
    experiment: "oversubscribed",
    title: "More threads than CPUs",
    lead: "Several producers, and several consumers that share the events: exactly one consumer handles each event. A \
           line is a cell, 3P-2C is three producers and two consumers. Figures are nanoseconds from one event to the \
           next over all producers, as the median of the runs. Lapwing has one ring with a group of workers.",
    tables,
    charts,
    notes,
};

/// The length of one run with `--quick`. There are many cells.
const QUICK_RUN: Duration = Duration::from_millis(50);
/// The reason why a contender does not take part.
const CANNOT: &str = "events shared among its consumers are not measured";
/// The label of the number of producers.
const PRODUCERS: Key = Key::new("producers");
/// The fact with the number of waits of which the fastest was measured, if there are several.
const WAITS_TRIED: Key = Key::new("waits_tried");
/// The cell that others are compared with.
const ONE_TO_ONE: Crowd = Crowd { producers: 1, consumers: 1 };

/// The help of `--wait`.
const WAIT_HELP: &str = "Wait strategies of Lapwing, separated by commas; each adds a column. Each rival runs with the \
                         fastest of its own in each cell";

/// The flags of `lapwing-lab oversubscribed`.
#[derive(Args, Debug)]
#[command(mut_arg("contender", |contender| contender.help(contender_help())))]
#[command(mut_arg("wait", |wait| wait.help(WAIT_HELP)))]
pub(crate) struct OversubscribedArguments {
    /// Numbers of producers, separated by commas; each is combined with each number of consumers
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "1,2,4,8")]
    #[arg(value_parser = value_parser!(u32).range(1..=64))]
    producers: Vec<u32>,

    /// Numbers of consumers that share the events, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "1,2,4,8")]
    #[arg(value_parser = value_parser!(u32).range(1..=64))]
    consumers: Vec<u32>,

    #[command(flatten)]
    contenders: ContenderArguments,

    /// Slots of the ring and of the queue; a power of two
    #[arg(long, value_name = "N", default_value_t = 65_536, value_parser = values::ring)]
    ring: usize,

    #[command(flatten)]
    schedule: ScheduleArguments,
}

impl OversubscribedArguments {
    /// Returns the cells, each once, ordered by producers, then by consumers.
    fn crowds(&self) -> Vec<Crowd> {
        let consumers = values::each_once(&self.consumers, &[]);
        let producers = values::each_once(&self.producers, &[]).into_iter();
        let row =
            |producers| consumers.iter().map(move |&consumers| Crowd { producers, consumers });
        producers.flat_map(row).collect()
    }

    /// Returns the requested contenders that share events over a ring of this many slots, each once.
    fn roster(&self) -> Roster {
        let is_quick = self.schedule.is_quick();
        let all = if is_quick { ContenderName::few() } else { ContenderName::all() };
        let names = self.contenders.names(&all);
        let mut roster = Roster::of(&names, &self.contenders.settings());
        let refusals = roster.entries.iter().filter_map(|entry| refusal(entry, self.ring));
        roster.missing.extend(refusals);
        roster.entries.retain(|entry| refusal(entry, self.ring).is_none());
        roster
    }

    /// Returns the number, length and placement of runs.
    fn schedule(&self) -> Schedule {
        let schedule = self.schedule.schedule();
        let run_time = if self.schedule.is_quick() { QUICK_RUN } else { schedule.run_time };
        Schedule { run_time, ..schedule }
    }

    /// Returns a row for each of `entries` in each cell.
    fn rows<'a>(&self, entries: &'a [Entry]) -> Vec<Row<SharedRun<'a>>> {
        let (schedule, ring) = (self.schedule(), self.ring);
        let of_cell = |crowd| {
            // The runner settles the number of events.
            let sharing = Sharing { crowd, events: 1, ring, placement: schedule.placement };
            let row = move |entry| Row::new(SharedRun::new(entry, sharing), schedule.length());
            entries.iter().map(row)
        };
        self.crowds().into_iter().flat_map(of_cell).collect()
    }
}

/// Returns the help of `--contender`.
fn contender_help() -> String {
    let few = ContenderName::few().into_iter().map(ContenderName::name).collect::<Vec<_>>();
    let (last, others) = few.split_last().expect("Lapwing is one of them");
    format!(
        "Contenders to run, separated by commas; if absent, all that can share events, or with `--quick` {} and {last}",
        others.join(", ")
    )
}

/// Returns the reason why `entry` does not take part, if there is one.
fn refusal(entry: &Entry, ring: usize) -> Option<Missing> {
    let reason = |contender: &dyn Contender| {
        let Some(shares) = contender.sharing() else { return Some(CANNOT.to_owned()) };
        let fewest = shares.fewest_slots();
        (ring < fewest).then(|| format!("its ring has at least {fewest} slots: slots={ring}"))
    };
    entry.candidates.iter().find_map(|candidate| {
        let contender = candidate.name().to_owned();
        reason(candidate.as_ref()).map(|reason| Missing { contender, reason })
    })
}

/// One contender in one cell.
struct SharedRun<'a> {
    entry: &'a Entry,
    /// The setting that it runs with.
    chosen: usize,
    /// The shared work. The runner sets the number of events.
    sharing: Sharing,
    /// The right answers.
    expected: Answers,
}

impl<'a> SharedRun<'a> {
    const fn new(entry: &'a Entry, sharing: Sharing) -> Self {
        Self { entry, chosen: 0, sharing, expected: Answers::new() }
    }

    fn contender(&self) -> &dyn Contender {
        self.entry.candidates[self.chosen].as_ref()
    }
}

impl Subject for SharedRun<'_> {
    fn record(&self) -> Record {
        let Sharing { crowd: Crowd { producers, consumers }, ring, placement, .. } = self.sharing;
        let threads = self.contender().threads(producers as usize, consumers as usize);
        let tried = self.settings();
        let mut record = self
            .contender()
            .record(VIEW.experiment, threads)
            .in_cell(PRODUCERS, producers)
            .in_cell(Key::CONSUMERS, consumers)
            .in_cell(Key::RING, ring)
            .in_cell(Key::EVENT_BYTES, size_of::<u64>())
            .with_fact(WAITS_TRIED, (tried > 1).then_some(tried));
        record.pinned = placement.pins(threads);
        record
    }

    fn settings(&self) -> usize {
        self.entry.candidates.len()
    }

    fn choose(&mut self, setting: usize) {
        self.chosen = setting;
    }

    /// Computes the answers of `events`.
    fn prepare(&mut self, events: u32) {
        self.sharing.events = events;
        self.expected = self.sharing.expected();
    }

    fn run(&self, events: u32) -> Result<Measured, Error> {
        let (topology, contender) = (VIEW.experiment, self.contender().name());
        let failed = |source| Error::Run { topology, contender, source };
        let cannot = || RunError::Build(CANNOT.to_owned());
        let shares = self.contender().sharing().ok_or_else(cannot).map_err(failed)?;
        let pass = Shares::share(shares, &self.sharing).map_err(failed)?;
        let pass = pass.checked(topology, contender, events, &self.expected)?;
        Ok(Measured::speed(&pass, events, 1))
    }
}

/// Runs the experiment as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &OversubscribedArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.schedule.json.as_deref())?;
    let Roster { entries, missing } = arguments.roster();
    let records = measure(arguments, &entries, Progress::new)?;
    session.end(&VIEW, records, missing)
}

/// Runs each of `entries` in each cell, and compares it with the fastest of the cell.
fn measure(
    arguments: &OversubscribedArguments,
    entries: &[Entry],
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let mut records =
        runner::measure(arguments.rows(entries), arguments.schedule().runs, progress)?;
    compare(&mut records, fastest);
    Ok(records)
}

/// What a column of the table is about: a contender, or one setting of a contender that has a row for each.
struct Runner {
    contender: String,
    /// `None` if there is one row of it in each cell, whatever its setting is.
    setting: Option<String>,
}

impl Runner {
    /// Returns those of `records`, in their order.
    fn of(records: &[&Record]) -> Vec<Self> {
        let mut runners = Vec::new();
        for (contender, rows) in by(records, |record| record.contender.clone()) {
            let has_several = by_cell(&rows).iter().any(|cell| cell.len() > 1);
            if has_several {
                let settings = by(&rows, Record::setting).into_iter();
                runners.extend(settings.map(|(setting, _)| Self {
                    contender: contender.clone(),
                    setting: Some(setting),
                }));
            } else {
                runners.push(Self { contender, setting: None });
            }
        }
        runners
    }

    fn heading(&self) -> String {
        match &self.setting {
            Some(setting) => format!("{} {setting}", self.contender),
            None => self.contender.clone(),
        }
    }

    fn has(&self, record: &Record) -> bool {
        let is_of = |setting: &String| *setting == record.setting();
        record.contender == self.contender && self.setting.as_ref().is_none_or(is_of)
    }

    /// Returns its record among those of a cell.
    fn find<'a>(&self, records: &[&'a Record]) -> Option<&'a Record> {
        records.iter().copied().find(|record| self.has(record))
    }
}

/// Returns the numbers of producers and consumers.
fn crowd(record: &Record) -> String {
    format!("{}P-{}C", record.text(PRODUCERS), record.text(Key::CONSUMERS))
}

/// Returns the row of `runner` with one producer and one consumer over as many slots as in `record`.
fn alone<'a>(records: &[&'a Record], runner: &Runner, record: &Record) -> Option<&'a Record> {
    let is_alone = |other: &&&Record| {
        let fits = crowd(other) == ONE_TO_ONE.to_string();
        fits && other.label(Key::RING) == record.label(Key::RING) && runner.has(other)
    };
    records.iter().find(is_alone).copied()
}

fn tables(records: &[&Record]) -> Vec<Table> {
    let runners = Runner::of(records);
    let own = runners.iter().find(|runner| runner.contender == OWN);
    let own_name = own.map_or_else(|| OWN.to_owned(), Runner::heading);
    let mut numbers = vec!["slots".to_owned()];
    numbers.extend(runners.iter().map(Runner::heading));
    numbers.extend([
        "first".to_owned(),
        format!("{own_name} x first"),
        format!("{own_name} x 1P-1C"),
    ]);
    let numbers = numbers.iter().map(String::as_str).collect::<Vec<_>>();
    let mut table = Table::empty("", &["ns per event"], &numbers);
    for cell in by_cell(records) {
        table.add(false, line(records, &cell, &runners, own));
    }
    // The slots, then the rivals from the right.
    let rivals = runners.iter().rev().filter(|runner| runner.contender != OWN).map(Runner::heading);
    let optional = ["slots".to_owned()].into_iter().chain(rivals).collect::<Vec<_>>();
    vec![table.leaving(&optional.iter().map(String::as_str).collect::<Vec<_>>())]
}

/// Returns the line of one cell.
fn line(
    records: &[&Record],
    cell: &[&Record],
    runners: &[Runner],
    own: Option<&Runner>,
) -> Vec<String> {
    let or_none = |text: Option<String>| text.unwrap_or_else(|| text::NONE.to_owned());
    let mut line = vec![crowd(cell[0]), cell[0].text(Key::RING)];
    line.extend(runners.iter().map(|runner| or_none(runner.find(cell).map(nanoseconds))));

    let first = fastest(cell).and_then(|first| runners.iter().find(|one| one.has(cell[first])));
    line.push(or_none(first.map(Runner::heading)));

    let times_as_long = |ratio: f64| text::rounded(1.0 / ratio);
    let own = own.and_then(|runner| Some((runner, runner.find(cell)?)));
    let to_first = own.and_then(|(_, own)| Some(own.ratio.as_ref()?.median));
    let to_alone =
        own.and_then(|(runner, own)| median(in_rounds(own, alone(records, runner, own)?)));
    line.extend([to_first, to_alone].map(|ratio| or_none(ratio.map(times_as_long))));
    line
}

/// Returns the median, and the wait of a rival that tried several.
fn nanoseconds(record: &Record) -> String {
    let median = text::rounded(column::nanoseconds(record.rate()));
    match (record.number(WAITS_TRIED), &record.wait) {
        (Some(_), Some(wait)) => format!("{median} {wait}"),
        _ => median,
    }
}

/// Returns the bars of Lapwing and of its fastest rival in each cell.
fn charts(records: &[&Record]) -> Vec<Chart> {
    let group = |cell: Vec<&Record>| {
        let (owns, rivals): (Vec<_>, Vec<_>) = cell.iter().partition(|record| record.is_own());
        let best = fastest(&rivals).map(|index| rivals[index]);
        let bars = owns
            .into_iter()
            .chain(best)
            .map(|record| Bar::of(record, column::nanoseconds))
            .collect();
        (crowd(cell[0]), bars)
    };
    let bars = Bars {
        unit: "nanoseconds per event".to_owned(),
        groups: by_cell(records).into_iter().map(group).collect(),
    };
    let caption = "Nanoseconds from one event to the next over all producers; shorter is better. Each cell has Lapwing \
                   and its fastest rival. The thin line spans the fastest and the slowest run.";
    vec![Chart::bars(VIEW.experiment, caption, bars)]
}

fn notes(records: &[&Record]) -> Vec<String> {
    let ran = |name: &str| records.iter().any(|record| record.contender == name);
    let tried = records.iter().copied().filter(|record| record.number(WAITS_TRIED).is_some());
    let tried = by(&tried.collect::<Vec<_>>(), |record| record.contender.clone());
    let tried = tried.into_iter().map(|(contender, _)| contender).collect::<Vec<_>>();
    let handles_its_own =
        ["disruptor", "lmax"].into_iter().filter(|name| ran(name)).collect::<Vec<_>>();
    let notes = [
        ran(OWN).then(|| {
            format!(
                "x first: the time of an event of {OWN} relative to that of the first of the line; x 1P-1C: relative \
                 to its own with one producer and one consumer"
            )
        }),
        ran("std-mpsc").then(|| {
            "std-mpsc: each consumer has a channel of its own, and producers send to the channels in turn"
                .to_owned()
        }),
        (!handles_its_own.is_empty()).then(|| {
            let names = handles_its_own.join(" and ");
            format!("{names}: each consumer sees all events and handles its own")
        }),
        (!tried.is_empty()).then(|| {
            format!("the wait after a figure is the fastest of several: {}", tried.join(", "))
        }),
    ];
    notes.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::contenders::Setting;
    use crate::machine::Machine;
    use crate::record::figure;
    use crate::view::terminal;

    fn arguments(flags: &str) -> OversubscribedArguments {
        let line = format!("lapwing oversubscribed {flags}");
        let Command::Oversubscribed(arguments) = Cli::parse_from(line.split_whitespace()).command
        else {
            panic!("it is another command")
        };
        arguments
    }

    /// Returns the records of a few events with these flags, over a ring of 64 that wraps.
    fn records(flags: &str) -> Result<Vec<Record>, Error> {
        let arguments = arguments(&format!("--ring 64 --runs 2 --events 1000 {flags}"));
        measure(&arguments, &arguments.roster().entries, |_| Progress::Silent)
    }

    fn rendered(records: &[Record]) -> String {
        terminal::render(&VIEW, records, &[], &Machine::detect())
    }

    #[test]
    fn every_contender_with_one_setting_hands_each_event_to_one_consumer() {
        let shares = |entry: &Entry| match &entry.candidates[..] {
            [only] => only.sharing().is_some(),
            _ => false,
        };
        let names = ContenderName::all().into_iter().filter(|name| {
            !name.is_process() && name.enlist(&[Setting::default()]).unwrap().iter().all(shares)
        });
        let names = names.map(ContenderName::name).collect::<Vec<_>>();
        let flags = format!("--producers 1,8 --consumers 1,5,8 --contender {}", names.join(","));
        let records = records(&flags).unwrap();
        assert_eq!(records.len(), names.len() * 6);
        let (text, rows) = (rendered(&records), records.len());
        let verified = format!("all verified: {rows} rows, {} runs", 2 * rows);
        assert!(text.contains("8P-5C") && text.contains(&verified), "{text}");
        assert!(text.contains("std-mpsc: each consumer has a channel of its own"), "{text}");
    }

    #[test]
    fn a_handler_of_a_rival_disruptor_handles_its_own_events() {
        for name in ["disruptor", "lmax"].map(ContenderName::of) {
            let roster = Roster::of(&[name], &[]);
            for candidate in roster.entries.iter().flat_map(|entry| &entry.candidates) {
                for crowd in [ONE_TO_ONE, Crowd { producers: 3, consumers: 5 }] {
                    let placement = Default::default();
                    let sharing = Sharing { crowd, events: 300, ring: 512, placement };
                    let pass = candidate.sharing().unwrap().share(&sharing).unwrap();
                    assert_eq!(pass.answers, sharing.expected(), "{}", candidate.wait());
                }
            }
        }
    }

    #[test]
    fn a_contender_that_cannot_share_is_missing_with_the_reason() {
        let roster = arguments("--ring 2 --contender rtrb,disruptor,std-mpsc").roster();
        assert_eq!(roster.entries.len(), 1);
        let reasons = roster.missing.iter().map(|missing| missing.reason.as_str());
        assert!(reasons.eq([CANNOT, "its ring has at least 64 slots: slots=2"]));
    }

    #[test]
    fn an_event_that_is_lost_has_no_speed() {
        let error = records("--contender wrong-answer").unwrap_err().to_string();
        let start = "wrong answer, so no speed: topology=oversubscribed contender=wrong-answer";
        assert!(error.starts_with(start), "{error}");
    }

    #[test]
    fn a_line_compares_with_the_first_of_the_cell_and_with_one_to_one() {
        let rates = |contender: &str, consumers: u32, per_second: f64| {
            let mut record = Record::new(VIEW.experiment, contender, 2)
                .in_cell(PRODUCERS, 1_u32)
                .in_cell(Key::CONSUMERS, consumers)
                .in_cell(Key::RING, 64_u32);
            record.wait = Some("spin".to_owned());
            record.runs = vec![[(figure::PER_SECOND.to_owned(), per_second)].into()];
            record
        };
        let mut records = vec![
            rates(OWN, 1, 1e8),
            rates("disruptor", 1, 5e7).with_fact(WAITS_TRIED, Some(4_u32)),
            rates(OWN, 2, 2e7),
            rates("disruptor", 2, 5e7).with_fact(WAITS_TRIED, Some(4_u32)),
        ];
        compare(&mut records, fastest);
        let table = &tables(&records.iter().collect::<Vec<_>>())[0];
        let cells = table.rows.iter().map(|row| row.cells.join("|")).collect::<Vec<_>>();
        assert_eq!(cells[0], "1P-1C|64|10.0|20.0 spin|lapwing|1.00|1.00");
        assert_eq!(cells[1], "1P-2C|64|50.0|20.0 spin|disruptor|2.50|5.00");
        let text = rendered(&records);
        assert!(text.contains("the fastest of several: disruptor"), "{text}");
        assert!(!text.contains("std-mpsc"), "{text}");
        let drawn = charts(&records.iter().collect::<Vec<_>>())[0].svg().unwrap();
        assert!(drawn.contains("1P-2C") && drawn.contains("disruptor spin"));
    }

    #[test]
    fn each_setting_of_lapwing_has_a_column_and_its_threads() {
        let flags = "--producers 3 --consumers 5 --contender lapwing,std-mpsc --wait adaptive,blocking --placement own,1";
        let records = records(flags).unwrap();
        assert_eq!(
            records.iter().map(|record| record.threads).collect::<Vec<_>>(),
            [8, 4, 8, 4, 8]
        );
        let table = &tables(&records.iter().collect::<Vec<_>>())[0];
        let names = table.headings.iter().map(|heading| &*heading.name).collect::<Vec<_>>();
        let settings = ["adaptive", "adaptive 1", "blocking", "blocking 1"];
        assert_eq!(names[2..6], settings.map(|setting| format!("lapwing {setting}")));
        assert_eq!(names[8], "lapwing adaptive x first");
    }
}
