//! `lapwing-lab channels`: bounded channels under load, on an idle machine, beside busy threads of another process, and
//! on one CPU.

pub(crate) mod one_cpu; // a run in a process that has one CPU
mod tables; // a line for each cell, or for each contender if each send was timed

use clap::{ArgAction, Args, ValueEnum, value_parser};

use super::session::Session;
use crate::contenders::channels::{Load, Payload, Shape};
use crate::contenders::{Channel, ChannelName, WaitName};
use crate::flags::{TimedArguments, values};
use crate::load::traffic::{Timing, Traffic};
use crate::measure::error::Error;
use crate::measure::progress::Progress;
use crate::measure::runner::{self, Length, Measured, Row, Subject};
use crate::record::{Key, Missing, Record, compare, fastest};
use crate::view::{View, no_charts};

/// How its records are shown.
pub(super) const VIEW: View = View {
    experiment: "channels",
    title: "Channels under load",
    lead: "Values from senders to one receiver over a bounded channel, and round trips of values, one at a time. The \
           machine is quiet, or another process has busy threads, or all threads of a run share one CPU. Rates are \
           medians of the runs, ratios are medians of the ratios within a round. Switches are voluntary and \
           involuntary ones of all threads, and a stalled run is below a tenth of the median.",
    tables: tables::of,
    charts: no_charts,
    notes: tables::notes,
};

/// The length of one run without `--quick`, in milliseconds.
const RUN_MS: u32 = 100;
/// Senders of the tails: more than there are CPUs, and many more.
const TAIL_SENDERS: [u32; 2] = [8, 200];
/// Slots of the tails.
const TAIL_CAPACITY: usize = 8;
/// The label of the other load of the machine.
const BESIDE: Key = Key::new("beside");
/// The label of the direction of the values, and of whether each send is timed.
const TRAFFIC: Key = Key::new("traffic");
/// The label of the number of senders.
const SENDERS: Key = Key::new("senders");
/// The label of the slots of each channel.
const CAPACITY: Key = Key::new("capacity");
/// The label of the payload.
const PAYLOAD: Key = Key::new("payload");
/// The counted traffic of a cell in which each send is timed.
const TAILS: &str = "tails";

/// The flags of `lapwing-lab channels`.
#[derive(Args, Debug)]
pub(crate) struct ChannelsArguments {
    /// Slots of the channel, separated by commas; powers of two
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "1,16,128,1024,16384")]
    #[arg(value_parser = values::ring)]
    capacity: Vec<usize>,

    /// Numbers of senders, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "1,3,8")]
    #[arg(value_parser = value_parser!(u32).range(1..=256))]
    senders: Vec<u32>,

    /// Payloads, separated by commas. Default: all three
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    payload: Vec<Payload>,

    /// Other load of the machine, separated by commas: none, busy threads of another process, or
    /// none with all threads of the run on one CPU
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "LIST",
        default_value = "quiet,busy,one-cpu"
    )]
    beside: Vec<Beside>,

    /// Threads of the other process in a busy run
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u32).range(1..=64))]
    busy_threads: u32,

    /// Contenders to run, separated by commas. Default: all
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    contender: Vec<ChannelName>,

    /// Wait strategies of both ends of Lapwing's channel, separated by commas; each adds a row
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "LIST",
        default_value = "adaptive"
    )]
    wait: Vec<WaitName>,

    /// Whether to measure round trips as well, one value at a time, over two channels of one slot
    #[arg(long, value_name = "true|false", default_value_t = true, action = ArgAction::Set)]
    round_trips: bool,

    /// Times each send instead: 8 and 200 senders on 8 slots. Reports the longest send and how
    /// evenly senders are served
    #[arg(long, conflicts_with_all = ["capacity", "senders", "round_trips"])]
    tails: bool,

    #[command(flatten)]
    timed: TimedArguments,
}

/// The other load of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Beside {
    /// Nothing.
    Quiet,
    /// Busy threads of another process.
    Busy,
    /// No other load. All threads of the run share one CPU.
    OneCpu,
}

impl Beside {
    /// Returns the name on the command line and in every report.
    const fn name(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Busy => "busy",
            Self::OneCpu => "one-cpu",
        }
    }
}

impl ChannelsArguments {
    /// Returns the requested contenders, each once; Lapwing once for each strategy.
    fn channels(&self) -> Vec<Channel> {
        let waits = values::each_once(&self.wait, &[]);
        let with = |name: ChannelName| {
            let waits = if name.is_own() { &waits[..] } else { &waits[..1] };
            waits.iter().map(move |&wait| Channel { name, wait })
        };
        values::each_once(&self.contender, &ChannelName::all()).into_iter().flat_map(with).collect()
    }

    /// Returns what is sent, each load once.
    fn loads(&self) -> Vec<Load> {
        values::each_once(&self.payload, &Payload::ALL)
            .into_iter()
            .flat_map(|payload| self.loads_of(payload))
            .collect()
    }

    fn loads_of(&self, payload: Payload) -> Vec<Load> {
        let timing = Timing { run_time: self.timed.run_time(RUN_MS), times_sends: self.tails };
        let load = |shape, capacity| Load { shape, capacity, payload, timing };
        let one_way = |senders: u32, capacity| load(Shape::OneWay(senders as usize), capacity);
        if self.tails {
            return TAIL_SENDERS.map(|senders| one_way(senders, TAIL_CAPACITY)).into();
        }
        let senders = values::each_once(&self.senders, &[]);
        let of_capacity = |capacity| senders.iter().map(move |&senders| one_way(senders, capacity));
        let capacities = values::each_once(&self.capacity, &[]);
        let round_trips = self.round_trips.then(|| load(Shape::RoundTrips, 1));
        capacities.into_iter().flat_map(of_capacity).chain(round_trips).collect()
    }

    /// Returns a row for each channel in each cell that it supports.
    fn rows(&self) -> Vec<Row<ChannelRun>> {
        let mut rows = Vec::new();
        for beside in values::each_once(&self.beside, &[]) {
            let busy_threads = if beside == Beside::Busy { self.busy_threads } else { 0 };
            for load in self.loads() {
                let channels = self.channels().into_iter();
                let fits =
                    channels.filter(|channel| channel.refusal(load.shape, load.capacity).is_none());
                let run = |channel| ChannelRun { channel, load, beside, busy_threads };
                rows.extend(fits.map(|channel| Row::new(run(channel), Length::Own)));
            }
        }
        rows
    }

    /// Returns the contenders that do not support some cell, with the first reason of each.
    fn missing(&self) -> Vec<Missing> {
        let refusal = |channel: Channel| {
            let mut loads = self.loads().into_iter();
            let reason = loads.find_map(|load| channel.refusal(load.shape, load.capacity))?;
            let contender = format!("{} in some cells", channel.name.name());
            Some(Missing { contender, reason: reason.to_owned() })
        };
        self.channels().into_iter().filter_map(refusal).collect()
    }
}

/// One contender in one cell.
struct ChannelRun {
    channel: Channel,
    load: Load,
    beside: Beside,
    /// Busy threads of another process: 0 unless the cell runs beside them.
    busy_threads: u32,
}

impl Subject for ChannelRun {
    fn record(&self) -> Record {
        let Load { shape, capacity, payload, timing } = self.load;
        let (traffic, senders) = match shape {
            Shape::OneWay(senders) if timing.times_sends => (TAILS, senders),
            Shape::OneWay(senders) => ("one way", senders),
            Shape::RoundTrips => ("round trips", 1),
        };
        let contender = self.channel.name.name();
        let mut record = Record::new(VIEW.experiment, contender, shape.threads())
            .in_cell(BESIDE, self.beside.name())
            .in_cell(Key::BUSY_THREADS, self.busy_threads)
            .in_cell(TRAFFIC, traffic)
            .in_cell(SENDERS, senders)
            .in_cell(CAPACITY, capacity)
            .in_cell(PAYLOAD, payload.name());
        record.wait = Some(self.channel.wait().to_owned());
        record
    }

    fn busy_threads(&self) -> u32 {
        self.busy_threads
    }

    /// Runs for the time of the load, and checks that every value arrived.
    fn run(&self, _events: u32) -> Result<Measured, Error> {
        let (topology, contender) = (VIEW.experiment, self.channel.name.name());
        let traffic = match self.beside {
            Beside::OneCpu => one_cpu::run(self.channel, &self.load),
            Beside::Quiet | Beside::Busy => self.channel.run(&self.load),
        };
        let traffic = traffic.map_err(|source| Error::Run { topology, contender, source })?;
        let Traffic { elapsed, figures, sent, received } = traffic;
        if sent == received {
            return Ok(Measured { elapsed, figures, delays: Vec::new() });
        }
        let events = u32::try_from(sent[0]).unwrap_or(u32::MAX);
        let (expected, found) = (sent.to_vec(), received.to_vec());
        Err(Error::WrongAnswer { topology, contender, events, expected, found })
    }
}

/// Runs the experiment as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &ChannelsArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.timed.json.as_deref())?;
    let records = measure(arguments, Progress::new)?;
    session.end(&VIEW, records, arguments.missing())
}

/// Runs each channel in each cell, and compares it with the fastest of the cell.
fn measure(
    arguments: &ChannelsArguments,
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let mut records = runner::measure(arguments.rows(), arguments.timed.rounds(), progress)?;
    compare(&mut records, fastest);
    Ok(records)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::load::traffic::LONGEST_SEND_NS;
    use crate::machine::Machine;
    use crate::view::terminal;

    /// Returns the arguments of two short rounds with these flags.
    fn arguments(flags: &str) -> ChannelsArguments {
        let line = format!("lapwing channels --rounds 2 --run-ms 2 --payload word {flags}");
        let Command::Channels(arguments) = Cli::parse_from(line.split_whitespace()).command else {
            panic!("it is another command")
        };
        arguments
    }

    fn records(arguments: &ChannelsArguments) -> Result<Vec<Record>, Error> {
        measure(arguments, |_| Progress::Silent)
    }

    fn rendered(records: &[Record], missing: &[Missing]) -> String {
        terminal::render(&VIEW, records, missing, &Machine::detect())
    }

    #[test]
    fn a_line_compares_with_the_best_rival() {
        let flags = "--beside quiet --senders 2 --capacity 4 --contender lapwing,std-mpsc,kanal";
        let records = records(&arguments(flags)).unwrap();
        assert_eq!(records.len(), 6);
        assert!(records.iter().all(|record| record.runs.len() == 2 && record.rate() > 0.0));
        assert_eq!((records[0].threads, records[0].number(Key::EVENTS)), (3, None));
        let text = rendered(&records, &[]);
        assert!(text.contains("| quiet") && text.contains("round trips"), "{text}");
        assert!(text.contains(" of 2 cells, and not more than 10 % slower"), "{text}");
        assert!(text.contains("all verified: 6 rows, 12 runs"), "{text}");
    }

    #[test]
    fn tails_have_a_line_for_each_contender() {
        let records =
            records(&arguments("--tails --beside quiet --contender lapwing,flume")).unwrap();
        assert!(records.iter().all(|record| record.median(LONGEST_SEND_NS) > Some(0.0)));
        let text = rendered(&records, &[]);
        assert!(
            text.contains("lapwing adaptive") && text.contains("least : most served"),
            "{text}"
        );
    }

    #[test]
    fn a_contender_that_refuses_a_cell_runs_in_the_others() {
        let flags = "--beside quiet --senders 2,1 --capacity 1 --round-trips false --contender gil,std-mpsc";
        let arguments = arguments(flags);
        let records = records(&arguments).unwrap();
        let cells = records.iter().map(|record| (&*record.contender, record.number(SENDERS)));
        let expected = [("std-mpsc", Some(2.0)), ("gil", Some(1.0)), ("std-mpsc", Some(1.0))];
        assert!(cells.eq(expected), "{records:?}");
        let text = rendered(&records, &arguments.missing());
        assert!(text.contains("not run: gil in some cells: its channel of one slot"), "{text}");
    }

    #[test]
    fn a_value_that_is_lost_has_no_speed() {
        let flags = "--beside quiet --senders 2 --capacity 4 --contender wrong-answer";
        let error = records(&arguments(flags)).unwrap_err().to_string();
        let start = "wrong answer, so no speed: topology=channels contender=wrong-answer";
        assert!(error.starts_with(start), "{error}");
    }
}
