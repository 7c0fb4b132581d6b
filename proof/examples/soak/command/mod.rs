//! The command and its processes.
//!
//! ```text
//! supervisor ──(SIGSTOP, SIGCONT)──> child ──> watch                       stalls and hangs
//!     ^                                |  └──> weather                     CPUs and busy threads
//!     └────────── wire ────────────────┘  └──> lapwing_proof::threads      one episode after the other
//! ```
//!
//! Everything that is drawn comes from one seed.

mod child; // the process that does the work
mod memory; // memory growth
mod report; // what is printed
mod supervisor; // the parent of the child
mod watch; // stalls and hangs
mod weather; // CPUs taken away, busy threads
mod wire; // lines from the child to its parent

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fs, process};

use clap::{Args, Parser, Subcommand};
use lapwing_lab_stats::{BusyThreads, end_with_parent};

use self::report::Record;

/// Longest soak, in minutes: a week.
const MOST_MINUTES: f64 = 7.0 * 24.0 * 60.0;
/// The exit code of an interrupted command, as a shell reports it.
const INTERRUPTED: u8 = 130;

/// Whether Ctrl-C was pressed.
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Runs random rings and channels under load and faults, and checks each event
///
/// A child process builds one ring after the other, and channels: graphs, workers, consumers that join,
/// taps. Loads, capacities, wait strategies and faults are drawn from a seed. Handlers stall, fail and
/// panic; rings halt, close and start again; claims and producers are dropped; the process is stopped,
/// and loses CPUs. Consumers check every event for loss, repetition, order and content. A line each
/// minute has the figures so far. A violation, a hang of 30 s, or memory that grows makes exit code 1,
/// with the seed and the episode that repeat it.
#[derive(Parser, Debug)]
#[command(name = "soak", args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct Cli {
    #[command(flatten)]
    soak: Option<Soak>,
    #[command(subcommand)]
    part: Option<Part>,
}

#[derive(Args, Debug)]
struct Soak {
    /// How long; a fraction is allowed
    #[arg(long, value_name = "N", value_parser = minutes)]
    minutes: Duration,

    /// The seed of every ring, load and fault. Default: random, and printed
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Repeats one episode, with the seed and the number that a violation has printed
    #[arg(long, value_name = "N", requires = "seed")]
    episode: Option<u64>,

    /// Stores the figures
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A process that the command starts itself.
#[derive(Subcommand, Debug)]
enum Part {
    /// Does the work
    #[command(hide = true)]
    Child(Task),
    /// Computes without end in some threads
    #[command(hide = true)]
    BusyThreads { count: u32 },
}

/// What the child has to do.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq)]
struct Task {
    /// The seed of everything.
    #[arg(long)]
    seed: u64,
    /// The only episode, again and again.
    #[arg(long)]
    episode: Option<u64>,
    /// For how long.
    #[arg(long)]
    milliseconds: u64,
}

impl Task {
    const fn time(&self) -> Duration {
        Duration::from_millis(self.milliseconds)
    }

    /// Returns the command line of the child that does it.
    fn command_line(&self) -> Vec<String> {
        let Self { seed, episode, milliseconds } = self;
        let mut words = vec!["child".to_owned(), format!("--seed={seed}")];
        words.push(format!("--milliseconds={milliseconds}"));
        words.extend(episode.map(|episode| format!("--episode={episode}")));
        words
    }
}

pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    let ended = match (cli.part, cli.soak) {
        (Some(Part::Child(task)), _) => end_with_parent().and_then(|()| child::run(task)),
        (Some(Part::BusyThreads { count }), _) => BusyThreads::serve(count),
        (None, Some(soak)) => return run(&soak),
        (None, None) => unreachable!("clap asks for the minutes"),
    };
    if let Err(error) = ended {
        note(format_args!("soak: {error}"));
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn run(soak: &Soak) -> ExitCode {
    match try_run(soak) {
        Ok(Ok(())) if IS_INTERRUPTED.load(Ordering::Relaxed) => ExitCode::from(INTERRUPTED),
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(violation)) => {
            note(format_args!("soak: {violation}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            note(format_args!("soak: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs the soak, and prints its report. Returns what is wrong.
fn try_run(soak: &Soak) -> io::Result<Result<(), String>> {
    // The file is checked before a run of hours.
    soak.json.as_ref().map_or(Ok(()), |path| fs::write(path, ""))?;
    listen();
    let seed = soak.seed.unwrap_or_else(|| fastrand::u64(..));
    print(&format!("soak: --seed {seed}"))?;
    let milliseconds = soak.minutes.as_millis() as u64;
    let result = supervisor::run(Task { seed, episode: soak.episode, milliseconds })?;
    print(&report::table(seed, &result))?;
    if let Some(path) = &soak.json {
        let record = serde_json::to_string_pretty(&Record::new(seed, &result))?;
        fs::write(path, record + "\n")?;
    }
    Ok(match result.violation {
        Some(violation) => Err(violation),
        None if report::leaks(&result.state) => Err(format!("memory grows; --seed {seed}")),
        None => Ok(()),
    })
}

/// Handles Ctrl-C: the first one ends the soak and prints its report, the second one ends the
/// process at once. If the system refuses, the first one does.
fn listen() {
    let _refused = ctrlc::set_handler(|| {
        if IS_INTERRUPTED.swap(true, Ordering::Relaxed) {
            process::exit(i32::from(INTERRUPTED));
        }
    });
}

/// Parses a positive number of minutes.
fn minutes(text: &str) -> Result<Duration, String> {
    let minutes = text.parse::<f64>().map_err(|error| error.to_string())?;
    if minutes > 0.0 && minutes <= MOST_MINUTES {
        Ok(Duration::from_secs_f64(minutes * 60.0))
    } else {
        Err(format!("expected a number above 0, at most {MOST_MINUTES}"))
    }
}

/// Prints a line. Does not end if the reader of the output has exited, such as `head`.
fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match writeln!(output, "{text}").and_then(|()| output.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Prints to standard error, if that is possible.
fn note(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_child_does_the_task_that_it_was_given() {
        for episode in [None, Some(7)] {
            let task = Task { seed: u64::MAX, episode, milliseconds: 1_500 };
            let mut line = vec!["soak".to_owned()];
            line.extend(task.command_line());
            let Some(Part::Child(given)) = Cli::try_parse_from(line).unwrap().part else {
                panic!("another part")
            };
            assert_eq!(given, task);
        }
    }

    #[test]
    fn a_time_is_needed_and_one_that_is_no_time_is_refused() {
        assert_eq!(minutes("0.5"), Ok(Duration::from_secs(30)));
        for text in ["0", "-1", "NaN", "1e9", "soon"] {
            assert!(minutes(text).is_err(), "{text}");
        }
        assert!(Cli::try_parse_from(["soak"]).is_err());
        assert!(Cli::try_parse_from(["soak", "--minutes=1", "--episode=3"]).is_err(), "no seed");
        assert!(Cli::try_parse_from(["soak", "--minutes=1"]).is_ok_and(|cli| cli.soak.is_some()));
    }
}
