//! `exchange replicated`: a leader is killed under load, its follower takes over, and must be as a
//! plain exchange is after the same commands.
//!
//! ```text
//! leader ──────────── kill -9
//!   ^ │ ships           |
//!   │ v                 v
//!   │ follower ──── "promote": compare ─────────────── end
//!   │                        ^ the rest                 |
//! client ────────────────────┴────────────────────>     v  compare
//! ```

mod parts;
mod round;

use std::time::Duration;

pub(crate) use self::parts::CannotRun;
use self::parts::{Driver, build};
use self::round::Round;
use super::Result;
use super::deadline::within;
use super::flight::commands_of_two;

/// A check that takes longer has a part that hangs. The build has no limit.
const LIMIT: Duration = Duration::from_secs(60);

/// How much is checked.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Commands per second.
    #[arg(long, default_value_t = Self::default().rate)]
    rate: f64,
    /// Seconds before each of two kills, and about as many after each takeover.
    #[arg(long, default_value_t = Self::default().seconds)]
    seconds: f64,
    /// The seed of the flow.
    #[arg(long, default_value_t = Self::default().seed)]
    seed: u64,
}

impl Default for Arguments {
    fn default() -> Self {
        Self { rate: 10_000.0, seconds: 6.0, seed: 1 }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { rate, seconds, seed } = *arguments;
    let replica = build()?;
    let commands = commands_of_two(rate, seconds, seed);
    println!("exchange replicated: {rate} commands per second, {seconds} s to each kill");
    within(LIMIT, |progress| {
        progress.wait_for("the media driver");
        let driver = Driver::start()?;
        let longest = Duration::from_secs_f64(seconds);
        let round =
            Round { replica: &replica, driver: &driver, commands: &commands, rate, longest };
        for acknowledge in ["follower", "journal"] {
            progress.wait_for(format!("the round with --acknowledge {acknowledge}"));
            println!("\nanswers wait for the journal of the {}", name_of(acknowledge));
            round.run(acknowledge)?;
        }
        println!("\npassed: every report and all states are those of the plain exchange");
        Ok(())
    })
}

fn name_of(acknowledge: &str) -> &str {
    if acknowledge == "journal" { "leader only" } else { "follower, too" }
}
