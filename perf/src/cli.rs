//! The command line, and what is refused before anything runs. A later benchmark is a further
//! [`Command`].

use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, value_parser};

use crate::contenders::{Contender, ContenderName, WaitName};
use crate::harness::Schedule;
use crate::increments::Case;
use crate::topologies::Topology;
use crate::workload::{EventBytes, MAX_EVENTS, Publish};

/// The largest ring, in slots: Lapwing's own bound.
const MAX_RING_SLOTS: usize = 1 << 30;
/// The most memory for one ring or one queue, in bytes. A diamond has four queues.
const MAX_RING_BYTES: usize = 1 << 30;
/// The longest run to ask for, in seconds.
const MAX_SECONDS: f64 = 3_600.0;
/// Time of one run of `--quick`.
const QUICK_RUN: Duration = Duration::from_millis(100);

/// The performance laboratory of Lapwing.
///
/// Without a subcommand: a quick evaluation of the five configurations of the Disruptor paper,
/// Lapwing and four queues side by side. Every run checks its answer; a wrong answer is an error,
/// not a speed.
#[derive(Debug, Parser)]
#[command(name = "lapwing", version)]
pub(crate) struct Cli {
    /// What to measure; the quick evaluation if absent.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The benchmarks.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Events per second in the paper's five configurations, contenders side by side
    ///
    /// Runs of all contenders are interleaved in rounds, in a shuffled order; a first round warms
    /// up and is not counted. Reported are the median of the rounds, their range, the median of the
    /// per-round ratio to the baseline (bounded-queue), and the mean number of events that a
    /// consumer is handed at once. Threads are not pinned.
    Throughput(ThroughputArguments),

    /// What an increment of a counter costs, with and without contention: Table 1 of the paper
    ///
    /// Runs of all cases are interleaved in rounds, in a shuffled order; a first round warms up and
    /// is not counted. Reported are nanoseconds from one increment to the next: the median of the
    /// rounds, their range, and the median of the per-round ratio to one thread without any
    /// protection. Threads are not pinned. Every run checks that no increment was lost.
    Contention(ContentionArguments),

    /// How long a number takes to another thread: over two bare words, and through each contender
    ///
    /// One thread sends a number and waits for it to come back before it sends the next. Two words
    /// in memory are the limit of the machine; the same program in C++ and in Java is compiled and
    /// run where `g++` and `javac` are there. Runs are interleaved in rounds, in a shuffled order; a
    /// first round warms up and is not counted. Reported are nanoseconds one way: half of the mean
    /// of a run, the median of the rounds, their range, and the per-round ratio to the two words.
    /// Threads are not pinned. Every run checks that every number came back.
    PingPong(PingPongArguments),
}

/// The flags of `lapwing contention`.
#[derive(Args, Debug)]
pub(crate) struct ContentionArguments {
    /// Cases to run, separated by commas; all of them if absent
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    case: Vec<Case>,

    #[command(flatten)]
    pub(crate) schedule: ScheduleArguments,
}

/// The flags of `lapwing ping-pong`.
#[derive(Args, Debug)]
pub(crate) struct PingPongArguments {
    /// Contenders to run beside the bare exchange, separated by commas; all seven if absent
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    contender: Vec<ContenderName>,

    /// Wait strategies of Lapwing's ends, separated by commas: a row for each; all six if absent.
    /// Other contenders wait in their own way
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    wait: Vec<WaitName>,

    #[command(flatten)]
    pub(crate) schedule: ScheduleArguments,
}

/// How often and how long, and where the result is written.
#[derive(Args, Debug)]
pub(crate) struct ScheduleArguments {
    /// Events of one run; by default short pilots find the number for each row
    #[arg(long, value_name = "N", conflicts_with = "seconds_per_run")]
    #[arg(value_parser = value_parser!(u32).range(1..=i64::from(MAX_EVENTS)))]
    events: Option<u32>,

    /// Time that one run should take, in seconds
    #[arg(long, value_name = "S", default_value = "0.5", value_parser = seconds)]
    seconds_per_run: Duration,

    /// Runs of each row that count
    #[arg(long, value_name = "N", default_value_t = 7)]
    #[arg(value_parser = value_parser!(u32).range(1..=1_000))]
    runs: u32,

    /// A tenth of a second for each run: ten to fifteen seconds in all
    #[arg(long, conflicts_with_all = ["events", "seconds_per_run"])]
    quick: bool,

    /// Writes the machine and every run to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

impl ContentionArguments {
    /// The cases asked for, each once.
    pub(crate) fn cases(&self) -> Vec<Case> {
        each_once(&self.case, &Case::ALL)
    }
}

impl PingPongArguments {
    /// The contenders asked for, each once.
    pub(crate) fn contenders(&self) -> Vec<Box<dyn Contender>> {
        let waits = each_once(&self.wait, &WaitName::ALL);
        let contenders = each_once(&self.contender, &ContenderName::ALL).into_iter();
        contenders.flat_map(|contender| contender.enlist(&waits)).collect()
    }
}

impl ScheduleArguments {
    /// How many runs, and how long.
    pub(crate) fn schedule(&self) -> Schedule {
        let run_time = if self.quick { QUICK_RUN } else { self.seconds_per_run };
        Schedule { runs: self.runs, run_time, events: self.events }
    }
}

/// Each of `asked` once, in its order; `all` if nothing is asked for.
pub(crate) fn each_once<T: Copy + PartialEq>(asked: &[T], all: &[T]) -> Vec<T> {
    let source = if asked.is_empty() { all } else { asked };
    let mut once = Vec::with_capacity(source.len());
    for item in source {
        if !once.contains(item) {
            once.push(*item);
        }
    }
    once
}

/// The flags of `lapwing throughput`.
#[derive(Args, Debug)]
pub(crate) struct ThroughputArguments {
    /// Configurations to run, separated by commas; all five if absent
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) topology: Vec<Topology>,

    /// Contenders to run, separated by commas; all seven if absent
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) contender: Vec<ContenderName>,

    /// Events of one run; by default short pilots find the number for each row
    #[arg(long, value_name = "N", conflicts_with = "seconds_per_run")]
    #[arg(value_parser = value_parser!(u32).range(1..=i64::from(MAX_EVENTS)))]
    pub(crate) events: Option<u32>,

    /// Time that one run should take, in seconds
    #[arg(long, value_name = "S", default_value = "1", value_parser = seconds)]
    pub(crate) seconds_per_run: Duration,

    /// Runs of each row that count
    #[arg(long, value_name = "N", default_value_t = 7)]
    #[arg(value_parser = value_parser!(u32).range(1..=1_000))]
    pub(crate) runs: u32,

    /// Slots of the ring, and of every queue: a power of two
    #[arg(long, value_name = "N", default_value_t = 65_536, value_parser = ring)]
    pub(crate) ring: usize,

    /// Size of one event; every word is written by the producer and read by every consumer
    #[arg(long, value_enum, default_value = "8")]
    pub(crate) event_bytes: EventBytes,

    /// How Lapwing publishes: `one` event or `batch:N` events at a time. Queues have no batch: they
    /// send the N events one by one
    #[arg(long, value_name = "one|batch:N", default_value = "one")]
    pub(crate) publish: Publish,

    /// Wait strategies of Lapwing's consumers and producers, separated by commas: a row for each.
    /// Other contenders wait in their own way
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "LIST",
        default_value = "adaptive"
    )]
    pub(crate) wait: Vec<WaitName>,

    /// Writes the machine and every run to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

impl Cli {
    /// Parses the arguments of this process; a bad one ends it with a message and exit code 2.
    pub(crate) fn parse_or_exit() -> Self {
        let cli = Self::parse();
        match cli.check() {
            Ok(()) => cli,
            Err(error) => error.exit(),
        }
    }

    /// Checks what concerns more than one argument.
    fn check(&self) -> Result<(), clap::Error> {
        match &self.command {
            None | Some(Command::Contention(_) | Command::PingPong(_)) => Ok(()),
            Some(Command::Throughput(arguments)) => arguments
                .check()
                .map_err(|message| Self::command().error(ErrorKind::ValueValidation, message)),
        }
    }
}

impl ThroughputArguments {
    /// Checks that a batch fits the ring and the ring fits the memory.
    fn check(&self) -> Result<(), String> {
        let ring = self.ring;
        if let Publish::Batch(size) = self.publish
            && size.get() > ring
        {
            return Err(format!(
                "`--publish batch:{size}` does not fit `--ring {ring}`: a batch has 1..={ring} \
                 events"
            ));
        }
        let event_bytes = self.event_bytes.bytes();
        let ring_bytes = ring * event_bytes;
        if ring_bytes > MAX_RING_BYTES {
            let most_slots = MAX_RING_BYTES / event_bytes;
            return Err(format!(
                "`--ring {ring}` of {event_bytes} bytes takes {ring_bytes} bytes: at most \
                 {most_slots} slots of this size"
            ));
        }
        Ok(())
    }
}

/// Parses the slots of a ring.
fn ring(text: &str) -> Result<usize, String> {
    let slots = text.parse::<usize>().map_err(|error| error.to_string())?;
    if slots.is_power_of_two() && slots <= MAX_RING_SLOTS {
        Ok(slots)
    } else {
        Err(format!("expected a power of two in 1..={MAX_RING_SLOTS}"))
    }
}

/// Parses a positive, finite number of seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().map_err(|error| error.to_string())?;
    if seconds > 0.0 && seconds <= MAX_SECONDS {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(format!("expected a number above 0, at most {MAX_SECONDS}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses and checks `lapwing throughput` with `flags`.
    fn throughput(flags: &[&str]) -> Result<ThroughputArguments, String> {
        let arguments = ["lapwing", "throughput"].iter().chain(flags);
        let cli = Cli::try_parse_from(arguments).map_err(|error| error.to_string())?;
        cli.check().map_err(|error| error.to_string())?;
        match cli.command {
            Some(Command::Throughput(arguments)) => Ok(arguments),
            _ => unreachable!("the subcommand is given"),
        }
    }

    #[test]
    fn definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_arguments_mean_the_quick_evaluation() {
        let cli = Cli::try_parse_from(["lapwing"]).unwrap();
        assert!(cli.command.is_none());
    }

    #[test]
    fn lists_are_separated_by_commas() {
        let arguments = throughput(&[
            "--topology=unicast,diamond",
            "--contender=lapwing,crossbeam-arrayqueue",
            "--wait=busy-spin,blocking",
        ])
        .unwrap();

        assert_eq!(arguments.topology, [Topology::Unicast, Topology::Diamond]);
        assert_eq!(
            arguments.contender,
            [ContenderName::Lapwing, ContenderName::CrossbeamArrayQueue]
        );
        assert_eq!(arguments.wait, [WaitName::BusySpin, WaitName::Blocking]);
    }

    #[test]
    fn bad_values_are_refused_with_their_reason() {
        let cases: [(&[&str], &str); 14] = [
            (&["--events=0"], "0 is not in 1..=4294967295"),
            (&["--events=4294967296"], "4294967296 is not in 1..=4294967295"),
            (&["--events=many"], "invalid digit"),
            (&["--events=5", "--seconds-per-run=2"], "cannot be used with"),
            (&["--runs=0"], "0 is not in 1..=1000"),
            (&["--ring=0"], "power of two"),
            (&["--ring=1000"], "power of two"),
            (&["--ring=134217728", "--event-bytes=256"], "at most 4194304 slots"),
            (&["--event-bytes=9"], "[possible values: 8, 32, 64, 256]"),
            (&["--publish=batch:0"], "expected `one` or `batch:N`"),
            (&["--publish=batch:9", "--ring=8"], "a batch has 1..=8 events"),
            (&["--wait=never"], "[possible values: adaptive,"),
            (&["--topology="], "possible values: unicast,"),
            (&["--seconds-per-run=NaN"], "expected a number above 0"),
        ];
        for (flags, reason) in cases {
            let message = throughput(flags).unwrap_err();
            assert!(message.contains(reason), "flags={flags:?} message={message}");
        }
    }

    #[test]
    fn bounds_themselves_are_allowed() {
        for flags in [
            ["--events=1", "--ring=1"],
            ["--events=4294967295", "--ring=134217728"],
            ["--publish=batch:8", "--ring=8"],
        ] {
            assert!(throughput(&flags).is_ok(), "flags={flags:?}");
        }
    }
}
