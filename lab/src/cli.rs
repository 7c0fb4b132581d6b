//! The command line, and what is refused before anything runs. A further benchmark is a further
//! [`Command`]; its flags stand beside it.

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

#[cfg(unix)]
use crate::commands::aeron::AeronArguments;
use crate::commands::campaign::CampaignArguments;
use crate::commands::channels::ChannelsArguments;
use crate::commands::channels::one_cpu::OneCpuArguments;
use crate::commands::contention::ContentionArguments;
use crate::commands::dispatch::DispatchArguments;
use crate::commands::idle::IdleArguments;
#[cfg(unix)]
use crate::commands::journal::JournalArguments;
use crate::commands::latency::LatencyArguments;
use crate::commands::limits::LimitsArguments;
use crate::commands::neighbours::NeighboursArguments;
use crate::commands::oversubscribed::OversubscribedArguments;
use crate::commands::perftest::PerftestArguments;
use crate::commands::ping_pong::PingPongArguments;
#[cfg(target_os = "linux")]
use crate::commands::processes::ProcessesArguments;
use crate::commands::sweep::SweepArguments;
use crate::commands::tasks::TasksArguments;
use crate::commands::throughput::ThroughputArguments;
use crate::view::ReportArguments;

/// The performance laboratory of Lapwing.
///
/// Each subcommand is a benchmark of Lapwing beside its rivals. Every run checks its answer; a wrong answer is an
/// error, not a speed. The quick evaluation is another program: `cargo run --release` in the repository.
#[derive(Debug, Parser)]
#[command(name = "lapwing-lab", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// What to measure.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The benchmarks, and the report of them.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Events per second in the paper's five graphs, contenders side by side
    ///
    /// Runs of all contenders are interleaved in rounds, in a shuffled order. A first round warms up
    /// and is not counted. The table shows the median of the rounds, their range, the CPUs used, and
    /// the mean length of a batch. It also shows the median of the per-round ratio to the baseline
    /// with its 95 % interval. The baseline is bounded-queue, or the last contender if that does not
    /// run. A rival with several wait strategies runs with the fastest of them.
    Throughput(ThroughputArguments),

    /// What an increment of a counter costs, with and without contention: Table 1 of the paper
    ///
    /// Runs of all cases are interleaved in rounds, in a shuffled order. A first round warms up and
    /// is not counted. The table shows nanoseconds from one increment to the next: the median of the
    /// rounds, their range, and the median of the per-round ratio to one thread without any
    /// protection. Every run checks that no increment was lost.
    Contention(ContentionArguments),

    /// How long a number takes to another thread: over two bare words, and through each contender
    ///
    /// One thread sends a number and waits for it to come back before it sends the next. Two words
    /// in memory are the limit of the machine, and a bare cursor and slot each way that of events
    /// which lie side by side; the words in C++ and in Java are compiled and run where `g++` and
    /// `javac` are there. Runs are interleaved in rounds, in a shuffled order. A first round warms
    /// up and is not counted. The table shows nanoseconds one way: half of the mean of a run, the
    /// median of the rounds, their range, and the per-round ratio to the two words. Every run
    /// checks that every number came back.
    PingPong(PingPongArguments),

    /// How long an event takes through three stages at a given rate: Table 3 of the paper
    ///
    /// A sender has an event due each microsecond. A delay begins when the event was due, not when it
    /// was sent, so a late sender does not hide delays (no coordinated omission). Runs of all
    /// contenders are interleaved in rounds, in a shuffled order. A first round warms up and is not
    /// counted. The table shows percentiles over all runs, in nanoseconds, of the whole path and of
    /// each hop. Beside them are those of one thread that hands nothing over. Every run checks that
    /// every event arrived in order.
    Latency(LatencyArguments),

    /// Delays through three stages at rates from idle to overload
    ///
    /// Measures what `latency` measures, at one rate after the other. The curve of a contender ends
    /// at the first rate that it cannot sustain.
    Sweep(SweepArguments),

    /// The order-dispatch pipeline: strategies, one orchestrator, gateways that hold each order
    ///
    /// Six techniques carry the contended hand-offs of a trading engine's round trip. Each order has
    /// eight stamps; reported are seven segments, the round trip, and the round trip without the time at
    /// the venue (`rt-venue`), as percentiles of each run and their median over runs. Runs are interleaved
    /// in rounds, in a shuffled order. A first round warms up and is not counted. Every run checks
    /// that each order came back once, and the report says whether the load was what it should be. On a
    /// machine with few CPUs roles share threads, and the report says so.
    Dispatch(DispatchArguments),

    /// One to eight producers and one to eight consumers that share the events, on the CPUs there are
    ///
    /// Each event is handled by exactly one of the consumers. Lapwing has a ring with a group of workers and
    /// its default settings in every cell. Runs of a cell's contenders are interleaved in rounds, in a
    /// shuffled order. A first round warms up and is not counted. The table shows nanoseconds from one event
    /// to the next: the median of the rounds, the fastest contender, how much longer Lapwing takes, and how
    /// much longer than with one producer and one consumer. Every run checks that each event was
    /// handled once.
    Oversubscribed(OversubscribedArguments),

    /// Bounded channels under load: on a quiet machine, beside busy threads, and on one CPU
    ///
    /// One to eight senders send to one receiver until the time of a run is over. They send words, 64
    /// bytes or strings. Values also go there and back one at a time, over two channels of one slot.
    /// Each cell runs on a quiet machine, beside busy threads of another process, and with all its
    /// threads on one CPU. Runs of a cell's contenders are interleaved in rounds, in a shuffled
    /// order. A first round warms up and is not counted. The table shows the median rate with its
    /// quartiles, the median of the per-round ratio to the best rival, CPUs used and context
    /// switches. Every run checks that every value arrived once.
    Channels(ChannelsArguments),

    /// Channels and broadcasts between async tasks; a thread that wakes a task; tasks that wait
    ///
    /// Tasks send numbers to tasks until the time of a run is over, on a tokio runtime with a thread for each
    /// CPU: a broadcast to one to eight receivers, and one to eight senders to one receiver; one by one, and in
    /// batches by those that can. Runs of a cell's contenders are interleaved in rounds, in a shuffled order. A
    /// first round warms up and is not counted. The table shows the median rate, the median of the per-round
    /// ratio to the best rival that loses nothing, the share of values that a broadcast has overwritten, and CPUs
    /// used. Every run checks that every value arrived once or was counted as lost. Wake-ups are those of a
    /// sleeping runtime by a thread.
    Async(TasksArguments),

    /// The paper's five configurations beside busy threads of another process
    ///
    /// None, one, two or four threads of another process compute without end, so the system takes CPUs away in the middle
    /// of a run. Runs of a cell's contenders are interleaved in rounds, in a shuffled order. A first round warms up and is
    /// not counted. Lapwing has its default strategy, with a thread for each consumer and with its automatic placement; a
    /// rival has the fastest of its ways to wait, found beside the same threads. The table shows the median rate with its
    /// quartiles, the median of the per-round ratio to the first of the cell, CPUs used and context switches. Every run
    /// checks its answer.
    Neighbours(NeighboursArguments),

    /// What waiting costs: CPU time, wake-ups and delays of each wait strategy
    ///
    /// Three stages in a row run under each of Lapwing's strategies at each rate. Eight consumers
    /// wait while nothing is published. Single events follow idle periods of a tenth of a second,
    /// beside a bare wake of as many threads. The sender sleeps between events, and its CPU time is
    /// not counted. Runs are interleaved in rounds, in a shuffled order. A first round warms up and
    /// is not counted. Every run checks that every event arrived in order.
    Idle(IdleArguments),

    /// Events from one process to others, through shared memory, sockets and pipes
    ///
    /// One process sends to one or three others, each of which gets each event; events also go
    /// there and back one at a time, back to back and after pauses; and all processes wait without
    /// events. Lapwing's ring between threads of one process is beside them, to show what the way
    /// to another process costs. Each run has processes and memory of its own, and what is left of
    /// them is removed. Runs of a cell's contenders are interleaved in rounds, in a shuffled order.
    /// A first round warms up and is not counted. Streams show the median rate, the range and the
    /// per-round ratio to lapwing-shared; a rival with several ways to wait has the fastest of
    /// them. Round trips show half of one, which is the time of one way. Every run checks that each
    /// reader computed the right answer. Aeron's IPC needs Java and Maven.
    #[cfg(target_os = "linux")]
    Processes(ProcessesArguments),

    /// One process of a run of `processes`: the command starts it itself
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    ProcessEnd {
        /// What all processes of the run agree on, as JSON
        setup: String,
    },

    /// Events through Aeron to another thread: Lapwing's rings at both ends, and the bare client
    ///
    /// By shared memory and by UDP on the loopback interface. Passes are interleaved in rounds. The table
    /// shows the median rate, the median of the per-round ratio to the bare client with packed messages,
    /// and delays at 20,000 events per second. Every pass checks number, order and sum of its events. It
    /// builds `lapwing-aeron` and needs its tools: Java, clang, a C compiler, libbsd, CMake 3.30. Without
    /// them it says what is missing, and the exit code is 77.
    #[cfg(unix)]
    Aeron(AeronArguments),

    /// What is in a journal of `lapwing-journal`: checks it, prints its frames or its sizes
    ///
    /// It reads only, and needs no lock. Damage is an error with file and offset. The benchmark is
    /// another program: `cargo run --release -p lapwing-lab-journal`.
    #[cfg(unix)]
    Journal(JournalArguments),

    /// What this machine can do at all: the limits that every other table can be compared with
    ///
    /// The bare exchange of a number between two threads, one way; streams of events of 8, 32, 64 and
    /// 256 bytes between two threads, in blocks, with the size of block and buffer that is fastest
    /// here; one thread that publishes and polls through a ring; and the same work without a ring.
    /// Every event is written and folded as in `throughput --topology unicast`, and every run checks
    /// its answer.
    Limits(LimitsArguments),

    /// LMAX's own performance tests, by their names and with their parameters
    ///
    /// Rings, batches, wait strategies of the consumers, and what counts as an operation are those of
    /// LMAX's Disruptor 4.0; the number of events is too with `--full`. Runs of all tests are interleaved
    /// in rounds, in a shuffled order. A first round warms up and is not counted. The table shows the median
    /// of the rounds, their range, and how large the batches were. Every run checks its sums.
    Perftest(PerftestArguments),

    /// A run of `channels` on one CPU: the command starts it itself
    #[command(hide = true)]
    OneCpuRun(OneCpuArguments),

    /// Threads that compute until the command that started this one ends
    #[command(hide = true)]
    BusyThreads {
        /// How many
        #[arg(value_parser = clap::value_parser!(u32).range(1..=64))]
        count: u32,
    },

    /// One page with plots, from the JSON files of the other commands
    ///
    /// Reads every `*.json` of FOLDER and writes `report.html` there: one file, no network, in light
    /// and dark; and beside it each plot as an SVG file. What is not in the folder is left out, with
    /// the command that would measure it. A file that cannot be used is an error.
    Report(ReportArguments),

    /// Every benchmark, one after the other, into one folder, and the report over it
    ///
    /// About an hour; a quarter of one with `--quick`. Ctrl-C ends the benchmark under way, and what
    /// was measured until then is reported.
    All(CampaignArguments),
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
            Command::Throughput(arguments) => arguments
                .check()
                .map_err(|message| Self::command().error(ErrorKind::ValueValidation, message)),
            #[cfg(target_os = "linux")]
            Command::Processes(arguments) => arguments
                .check()
                .map_err(|message| Self::command().error(ErrorKind::ValueValidation, message)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contenders::{ContenderName, WaitName};
    use crate::load::topologies::Topology;

    /// Parses and checks `lapwing-lab throughput` with `flags`.
    fn throughput(flags: &[&str]) -> Result<ThroughputArguments, String> {
        let arguments = ["lapwing", "throughput"].iter().chain(flags);
        let cli = Cli::try_parse_from(arguments).map_err(|error| error.to_string())?;
        cli.check().map_err(|error| error.to_string())?;
        match cli.command {
            Command::Throughput(arguments) => Ok(arguments),
            _ => unreachable!("the subcommand is given"),
        }
    }

    #[test]
    fn definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_arguments_mean_the_help() {
        let help = Cli::try_parse_from(["lapwing"]).unwrap_err().to_string();
        for command in ["throughput", "report", "all"] {
            assert!(help.contains(command), "{help}");
        }
    }

    #[test]
    fn lists_are_separated_by_commas() {
        let arguments = throughput(&[
            "--topology=unicast,diamond",
            "--contender=lapwing,crossbeam-arrayqueue",
            "--wait=busy-spin,blocking",
            "--placement=own,auto,1",
        ])
        .unwrap();

        assert_eq!(arguments.topology, [Topology::Unicast, Topology::Diamond]);
        assert_eq!(
            arguments.contenders.contender,
            ["lapwing", "crossbeam-arrayqueue"].map(ContenderName::of)
        );
        assert_eq!(arguments.contenders.wait, [WaitName::BusySpin, WaitName::Blocking]);
        let placements = arguments.contenders.setting.placement.iter().map(ToString::to_string);
        assert!(placements.eq(["own", "auto", "1"]));
    }

    #[test]
    fn bad_values_are_refused_with_their_reason() {
        let cases: [(&[&str], &str); 16] = [
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
            (&["--placement=0"], "a number of threads in 1..=64"),
            (&["--placement=own,"], "expected `own`, `auto`"),
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
