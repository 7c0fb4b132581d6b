//! The command line.

use std::time::Duration;

use clap::{Parser, Subcommand};

use crate::choose::Wanted;

/// The shortest interval: a snapshot takes microseconds, but the ring's threads fetch their cache lines
/// back after each.
const SHORTEST: Duration = Duration::from_millis(50);
/// The longest interval.
const LONGEST: Duration = Duration::from_secs(3600);

/// Tools for the rings of Lapwing.
#[derive(Debug, Parser)]
#[command(name = "lapwing", version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show a ring of another process: its graph, its rates, and what limits it or has stopped it.
    ///
    /// The ring must be built with `.observable("name")`. It is opened for reading only. Each snapshot
    /// costs its threads a few cache misses. This works also if the process is stopped, hangs in a
    /// handler, or was killed. Without a name, the only ring is shown, or a list if there are several.
    ///
    /// The environment variable LAPWING_DIR names the folder of the rings' files, for this program as
    /// for the ring's. Without it, the folder is /dev/shm/lapwing-UID.
    ///
    /// The exit status is 0, 1 if there is no such ring or it cannot be read, and 2 for a wrong
    /// argument.
    #[command(
        after_help = "Keys: up/down or j/k choose or scroll, Enter shows a ring, Esc goes back, \
                            n shows the newer ring of a restarted process, q quits."
    )]
    Top(Top),
}

/// What to show, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Top {
    /// The name of a ring, or a process id. A number is taken as a process id unless a ring has it as
    /// its name.
    #[arg(value_name = "NAME|PID")]
    pub(crate) wanted: Option<String>,
    /// The time between two snapshots: 50ms to 1h, with ms, s, m or h.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    pub(crate) interval: Duration,
    /// Take two snapshots one interval apart, print the result and exit. This is the default if the
    /// output is not a terminal and --json is not given.
    #[arg(long)]
    pub(crate) once: bool,
    /// Print a line for each ring and interval, each a JSON object, until each ring was dropped or its
    /// process has ended; with --once, one object for each ring.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Top {
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted(self.wanted.clone())
    }
}

/// Reads a time such as `500ms`, `1.5s` or `2m`.
fn interval(text: &str) -> Result<Duration, String> {
    let allowed = "50ms to 1h is allowed, such as 500ms, 1.5s or 2m";
    let digits = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "" => return Err(format!("the unit is missing; {allowed}")),
        _ => return Err(format!("{unit:?} is no unit; {allowed}")),
    };
    let number = number.trim().parse::<f64>().map_err(|_| format!("no number; {allowed}"))?;
    let interval = Duration::try_from_secs_f64(number * seconds).ok();
    let is_allowed = |interval: &Duration| (SHORTEST..=LONGEST).contains(interval);
    interval.filter(is_allowed).ok_or_else(|| format!("out of range; {allowed}"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn an_interval_has_a_unit_and_bounds() {
        for (text, milliseconds) in [("50ms", 50), ("1s", 1_000), ("1.5s", 1_500), ("2m", 120_000)]
        {
            assert_eq!(interval(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        assert_eq!(interval("1h"), Ok(LONGEST));
        for text in ["", "s", "1", "49ms", "2h", "-1s", "1x", "nans", "1 e9s", "infs"] {
            assert!(interval(text).is_err(), "{text}");
        }
    }
}
