//! The flags of `lapwing soak`, and those of its child process.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::child::Task;

/// Longest soak, in minutes: a week.
const MOST_MINUTES: f64 = 7.0 * 24.0 * 60.0;

/// The flags of `lapwing soak`.
#[derive(Args, Debug)]
pub(crate) struct SoakArguments {
    /// How long; a fraction is allowed
    #[arg(long, value_name = "N", value_parser = minutes)]
    pub(super) minutes: Duration,

    /// The seed of every ring, load and fault. Default: random, and printed
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,

    /// Repeats one episode, with the seed and the number that a violation has printed
    #[arg(long, value_name = "N", requires = "seed")]
    pub(super) episode: Option<u64>,

    /// Stores the figures. `lapwing report` does not read this file
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
}

/// The flags of the child process.
#[derive(Args, Debug)]
pub(crate) struct SoakChildArguments {
    #[arg(long)]
    seed: u64,
    #[arg(long)]
    episode: Option<u64>,
    #[arg(long)]
    milliseconds: u64,
}

impl SoakChildArguments {
    /// Returns what the child has to do.
    pub(super) const fn task(&self) -> Task {
        let time = Duration::from_millis(self.milliseconds);
        Task { seed: self.seed, only: self.episode, time }
    }
}

/// Returns the command line of the child that does `task`.
pub(super) fn command_line(subcommand: &str, task: &Task) -> Vec<String> {
    let mut words = vec![
        subcommand.to_owned(),
        format!("--seed={}", task.seed),
        format!("--milliseconds={}", task.time.as_millis()),
    ];
    words.extend(task.only.map(|episode| format!("--episode={episode}")));
    words
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    #[test]
    fn the_child_does_the_task_that_it_was_given() {
        for only in [None, Some(7)] {
            let task = Task { seed: u64::MAX, only, time: Duration::from_millis(1_500) };
            let mut line = vec!["lapwing".to_owned()];
            line.extend(command_line(super::super::SUBCOMMAND, &task));
            let cli = Cli::try_parse_from(line).unwrap();
            let Command::SoakChild(arguments) = cli.command else { panic!("another subcommand") };
            assert_eq!(format!("{:?}", arguments.task()), format!("{task:?}"));
        }
    }

    #[test]
    fn a_time_that_is_no_time_is_refused() {
        assert_eq!(minutes("0.5"), Ok(Duration::from_secs(30)));
        for text in ["0", "-1", "NaN", "1e9", "soon"] {
            assert!(minutes(text).is_err(), "{text}");
        }
    }
}
