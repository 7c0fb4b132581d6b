//! `lapwing async`: channels and broadcasts whose ends are async tasks, a thread that wakes a task, and tasks that
//! wait for nothing.

mod tables; // a line for each contender of a cell

use std::time::Duration;

use clap::{Args, ValueEnum, value_parser};

use super::session::Session;
use crate::contenders::tasks::{Kind, Setting, TaskEnds};
use crate::flags::{TimedArguments, values};
use crate::load::tasks::stream::{LOST, Way};
use crate::measure::crew::RunError;
use crate::measure::error::Error;
use crate::measure::progress::Progress;
use crate::measure::runner::{self, Length, Measured, Row, Subject, known};
use crate::record::{Key, Record, compare, figure};
use crate::view::{View, no_charts};

/// How its records are shown.
pub(super) const VIEW: View = View {
    experiment: "async",
    title: "Ends that async tasks await",
    lead: "Numbers from tasks to tasks on a tokio runtime with a thread for each CPU: to each receiver of a broadcast, \
           or from several senders to one receiver, one by one or in batches by those that can. A broadcast that \
           loses values for slow receivers counts what arrived. Then the time from the call of a thread until the \
           task that it wakes runs, and the CPU time of tasks that wait for nothing.",
    tables: tables::of,
    charts: no_charts,
    notes: tables::notes,
};

/// The length of one run without `--quick`, in milliseconds.
const RUN_MS: u32 = 200;
/// Most values that a sender sends together.
const BATCH: usize = 64;
/// The label of what is measured.
const LOAD: Key = Key::new("load");
/// The label of how values are handed over.
const WAY: Key = Key::new("way");
/// The label of the number of receivers of a broadcast, of senders of a channel, or of waiting tasks.
const ENDS: Key = Key::new("ends");
/// The label of the slots of each channel.
const CAPACITY: Key = Key::new("capacity");
/// The delays of wake-ups.
const WAKE_UP: &str = "wake-up";

/// The flags of `lapwing async`.
#[derive(Args, Debug)]
pub(crate) struct TasksArguments {
    /// What to measure, separated by commas. Default: all
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    load: Vec<Load>,

    /// Slots of each channel, separated by commas; powers of two
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "1024")]
    #[arg(value_parser = values::ring)]
    capacity: Vec<usize>,

    /// Receivers of a broadcast, and senders of a channel, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "1,3,8")]
    #[arg(value_parser = value_parser!(u32).range(1..=256))]
    ends: Vec<u32>,

    /// Tasks that wait for nothing
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    #[arg(value_parser = value_parser!(u32).range(1..=100_000))]
    idle_tasks: u32,

    /// Contenders to run, separated by commas. Default: all
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    contender: Vec<TaskEnds>,

    #[command(flatten)]
    timed: TimedArguments,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Load {
    /// One sender, and receivers that get each value
    Broadcast,
    /// Senders, and one receiver
    Channel,
    /// A thread that wakes a task
    WakeUp,
    /// Tasks that wait for nothing
    Idle,
}

/// The work of a cell.
#[derive(Clone, Copy, Debug)]
enum Work {
    Stream(Kind, Setting),
    WakeUps(Duration),
    Idle(usize, Duration),
}

impl TasksArguments {
    /// Returns the work of each cell.
    fn works(&self) -> Vec<Work> {
        let run_time = self.timed.run_time(RUN_MS);
        let mut works = Vec::new();
        for load in values::each_once(&self.load, Load::value_variants()) {
            match load {
                Load::Broadcast => works.extend(self.streams(Kind::Broadcast)),
                Load::Channel => works.extend(self.streams(Kind::Channel)),
                Load::WakeUp => works.push(Work::WakeUps(run_time)),
                Load::Idle => works.push(Work::Idle(self.idle_tasks as usize, run_time)),
            }
        }
        works
    }

    /// Returns the streams between ends of a kind.
    fn streams(&self, kind: fn(usize) -> Kind) -> Vec<Work> {
        let run_time = self.timed.run_time(RUN_MS);
        let mut streams = Vec::new();
        for is_in_batches in [false, true] {
            for slots in values::each_once(&self.capacity, &[]) {
                let batches = Way::Batches(BATCH.min(slots) as u64);
                let way = if is_in_batches { batches } else { Way::OneByOne };
                for ends in values::each_once(&self.ends, &[]) {
                    let setting = Setting { slots, way, run_time };
                    streams.push(Work::Stream(kind(ends as usize), setting));
                }
            }
        }
        streams
    }

    /// Returns a row for each contender that does the work of a cell.
    fn rows(&self) -> Vec<Row<TaskRun>> {
        let contenders = values::each_once(&self.contender, TaskEnds::value_variants());
        let of_work = |work: Work| {
            let does = contenders.iter().copied().filter(move |ends| work.is_done_by(*ends));
            does.map(move |ends| Row::new(TaskRun { ends, work }, Length::Own))
        };
        self.works().into_iter().flat_map(of_work).collect()
    }
}

impl Work {
    fn is_done_by(self, ends: TaskEnds) -> bool {
        match self {
            Self::Stream(kind, _) => ends.stream(kind).is_some(),
            Self::WakeUps(_) => ends.wake_ups().is_some(),
            Self::Idle(..) => ends.idle().is_some(),
        }
    }
}

/// One contender in one cell.
struct TaskRun {
    ends: TaskEnds,
    work: Work,
}

impl TaskRun {
    fn stream(&self, kind: Kind, setting: Setting) -> Result<Measured, Error> {
        let (Kind::Broadcast(number) | Kind::Channel(number)) = kind;
        let stream = self.ends.stream(kind).expect("the row is of one that streams");
        let streamed = stream(number, setting).map_err(|source| self.failed(source))?;
        if streamed.is_complete() {
            let (elapsed, figures) = (streamed.elapsed, streamed.figures());
            return Ok(Measured { elapsed, figures, delays: Vec::new() });
        }
        let found = streamed.received.iter();
        let found = found.flat_map(|(received, lost)| [received.count, *lost, received.sum]);
        let expected = vec![streamed.sent.count, streamed.sent.sum];
        Err(self.wrong(streamed.sent.count, expected, found.collect()))
    }

    fn failed(&self, source: RunError) -> Error {
        Error::Run { topology: VIEW.experiment, contender: self.ends.name(), source }
    }

    fn wrong(&self, events: u64, expected: Vec<u64>, found: Vec<u64>) -> Error {
        let (topology, contender) = (VIEW.experiment, self.ends.name());
        let events = u32::try_from(events).unwrap_or(u32::MAX);
        Error::WrongAnswer { topology, contender, events, expected, found }
    }

    fn wake_ups(&self, run_time: Duration) -> Result<Measured, Error> {
        let wake_ups = self.ends.wake_ups().expect("the row is of one that wakes");
        let delays = wake_ups(run_time).map_err(|source| self.failed(source))?;
        let delays = vec![(WAKE_UP, delays)];
        Ok(Measured { elapsed: run_time, figures: known([]), delays })
    }

    fn idle(&self, tasks: usize, window: Duration) -> Result<Measured, Error> {
        let idle = self.ends.idle().expect("the row is of one that waits");
        let (used, ended) = idle(tasks, window).map_err(|source| self.failed(source))?;
        if ended != tasks as u64 {
            return Err(self.wrong(0, vec![tasks as u64], vec![ended]));
        }
        let cpus = used.map(|used| used.as_secs_f64() / window.as_secs_f64());
        let figures = known([(figure::CPUS, cpus)]);
        Ok(Measured { elapsed: window, figures, delays: Vec::new() })
    }
}

impl Subject for TaskRun {
    fn record(&self) -> Record {
        let (load, way, ends, slots) = match self.work {
            Work::Stream(kind, Setting { slots, way, .. }) => {
                let (load, ends) = match kind {
                    Kind::Broadcast(receivers) => ("broadcast", receivers),
                    Kind::Channel(senders) => ("channel", senders),
                };
                let way = if way == Way::OneByOne { "one by one" } else { "batches" };
                (load, way, ends, slots)
            }
            Work::WakeUps(_) => ("wake-up", "one by one", 1, 1),
            Work::Idle(tasks, _) => ("idle", "", tasks, 1),
        };
        Record::new(VIEW.experiment, self.ends.name(), ends + 1)
            .in_cell(LOAD, load)
            .in_cell(WAY, way)
            .in_cell(ENDS, ends)
            .in_cell(CAPACITY, slots)
    }

    /// Runs for the time of the row, and checks that every value arrived or was counted as lost.
    fn run(&self, _events: u32) -> Result<Measured, Error> {
        match self.work {
            Work::Stream(kind, setting) => self.stream(kind, setting),
            Work::WakeUps(run_time) => self.wake_ups(run_time),
            Work::Idle(tasks, window) => self.idle(tasks, window),
        }
    }
}

/// Runs the experiment as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &TasksArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.timed.json.as_deref())?;
    let records = measure(arguments, Progress::new)?;
    session.end(&VIEW, records, Vec::new())
}

/// Runs each contender in each cell, and compares it with the fastest rival of the cell that loses no value.
fn measure(
    arguments: &TasksArguments,
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let mut records = runner::measure(arguments.rows(), arguments.timed.rounds(), progress)?;
    compare(&mut records, best_rival);
    Ok(records)
}

/// Selects the fastest rival that lost no value.
fn best_rival(cell: &[&Record]) -> Option<usize> {
    let is_rival = |record: &Record| !record.is_own() && record.range(LOST) == Some((0.0, 0.0));
    let rivals = (0..cell.len()).filter(|index| is_rival(cell[*index]));
    rivals.max_by(|one, other| cell[*one].rate().total_cmp(&cell[*other].rate()))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::machine::Machine;
    use crate::view::terminal;

    fn records(flags: &str) -> Vec<Record> {
        let line = format!("lapwing async --rounds 2 --run-ms 2 {flags}");
        let Command::Async(arguments) = Cli::parse_from(line.split_whitespace()).command else {
            panic!("it is another command")
        };
        measure(&arguments, |_| Progress::Silent).unwrap()
    }

    #[test]
    fn the_fastest_rival_that_loses_nothing_is_the_baseline() {
        let record = |contender, rate: f64, lost: f64| {
            let mut record = Record::new("async", contender, 2);
            record.runs.push(known([(figure::PER_SECOND, Some(rate)), (LOST, Some(lost))]));
            record
        };
        let cell = [
            record("lapwing", 9.0, 0.0),
            record("asyncband", 2.0, 0.0),
            record("async-broadcast", 3.0, 0.0),
            record("tokio-broadcast", 8.0, 0.1),
        ];
        assert_eq!(best_rival(&cell.iter().collect::<Vec<_>>()), Some(2));
        assert_eq!(best_rival(&[&cell[0], &cell[3]]), None);
    }

    #[test]
    fn a_batch_is_at_most_the_ring() {
        let records = records("--load broadcast --ends 2 --capacity 16");
        assert_eq!(records.len(), 8); // four contenders in two ways
        assert!(records.iter().all(|record| record.rate() > 0.0));
    }

    #[test]
    fn each_load_has_a_table() {
        let flags = "--ends 2 --idle-tasks 10 --contender lapwing,tokio-mpsc,asyncband";
        let records = records(flags);
        let text = terminal::render(&VIEW, &records, &[], &Machine::detect());
        for part in ["Streams", "Wake-ups", "Idle tasks", "geometric mean", "lapwing"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
