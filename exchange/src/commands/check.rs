//! `exchange check`: the exchange is killed under load, recovers, and must be as a plain exchange is
//! after the same commands.
//!
//! ```text
//! serve ──────────────── kill -9        serve ───────────────── end
//!   ^ commands at a rate   |  recover     ^  the rest              |
//!   |                      v  and compare |                        v  compare
//! client ──────────────────────────────────────────────────────────────────>
//! ```

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command as Process;
use std::thread;
use std::time::{Duration, Instant};

use exchange::Exchange;
use exchange::market::Levels;
use exchange::service::{Service, Settings};
use exchange::types::Command;

use super::Result;
use super::deadline::{Progress, within};
use super::flight::{Flight, Landed, Pace, commands_of_two};
use super::market_side::{SYMBOL, Subscriber};
use super::plain_side::Plain;
use super::program::Program;

/// Commands from one snapshot to the next: recovery needs a snapshot and a part of the journal.
const SNAPSHOT_EVERY: u64 = 50_000;
/// What the check takes at most, if the time to the kill leaves enough of it.
const LIMIT: Duration = Duration::from_secs(60);
/// What the check takes at most besides the time before and after the kill.
const ALLOWANCE: Duration = Duration::from_secs(20);
/// What is left after either part for the recovery, or for the end of the check.
const RESERVE: Duration = Duration::from_secs(10);
/// How long commands are sent at least.
const SHORTEST: Duration = Duration::from_secs(1);

/// How much is checked.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Commands per second, if the machine manages so many.
    #[arg(long, default_value_t = Self::default().rate)]
    rate: f64,
    /// Seconds before the kill, and as many after the recovery.
    #[arg(long, default_value_t = Self::default().seconds)]
    seconds: f64,
    /// The seed of the flow.
    #[arg(long, default_value_t = Self::default().seed)]
    seed: u64,
}

impl Default for Arguments {
    fn default() -> Self {
        Self { rate: 10_000.0, seconds: 20.0, seed: 1 }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let longest = Duration::try_from_secs_f64(arguments.seconds)?;
    let limit = LIMIT.max(longest.saturating_mul(2).saturating_add(ALLOWANCE));
    let end = Instant::now() + limit;
    within(limit, |progress| check(arguments, longest, end, progress))
}

fn check(
    arguments: &Arguments,
    longest: Duration,
    end: Instant,
    progress: &Progress,
) -> Result<()> {
    let Arguments { rate, seconds, seed } = *arguments;
    progress.wait_for("the commands to send");
    let commands = commands_of_two(rate, seconds, seed);
    let folder = tempfile::tempdir()?;
    println!(
        "exchange check: up to {} commands at {rate} per second, {seconds} s to the kill",
        commands.len()
    );
    let mut plain = Plain::default();

    progress.wait_for("the start of the exchange");
    let mut server = Server::start(folder.path())?;
    let subscriber = Subscriber::start(server.address)?;
    progress.wait_for("answers before the kill");
    let pace = Pace::new(progress);
    let longest = longest.min(left(end).saturating_sub(2 * RESERVE) / 2).max(SHORTEST);
    let flight =
        Flight { commands: &commands, first_tag: 1, rate, longest, login: None, pace: Some(&pace) };
    let before = fly(&flight, &mut plain, server.address, || server.program.kill())?;
    before.print("before the kill");
    progress.wait_for("the end of the market data");
    let market_data = subscriber.join()?;

    progress.wait_for("the recovery");
    let recovered = recover(folder.path(), &commands, &mut plain, &before)?;
    let changes = market_data.compare(&plain, 0, Levels::default())?;
    println!("            {changes} changes of market data, none of a command that is lost");

    progress.wait_for("the restart of the exchange");
    let mut server = Server::start(folder.path())?;
    println!("restarted   {}", server.recovered);
    let levels = plain.levels(SYMBOL);
    let subscriber = Subscriber::start(server.address)?;
    progress.wait_for("answers after the restart");
    let (rest, first) = (&commands[recovered..], recovered as u64);
    let pace = Pace::new(progress);
    let (first_tag, pace) = (first + 1, Some(&pace));
    let longest = longest.min(left(end).saturating_sub(RESERVE)).max(SHORTEST);
    let flight = Flight { commands: rest, first_tag, rate, longest, login: None, pace };
    let after = fly(&flight, &mut plain, server.address, || {})?;
    after.print("after it");
    progress.wait_for("the end of the exchange");
    let unknown = &commands[plain.count()..recovered + after.sent];
    plain.finish("after the restart", unknown, &after, &mut server.program)?;
    let market_data = subscriber.join()?;
    let changes = market_data.compare_all(&plain, first, levels)?;
    println!("            {changes} changes of market data, and the levels of the book");
    println!(
        "passed: every report, both states and all market data are those of the plain exchange\n\
         not seen: a missing sync. A process that is killed loses nothing that it has written; a \
         power cut does, which the tests of the journal simulate"
    );
    Ok(())
}

/// Returns the time up to `end`. A busy machine has taken longer for what came before.
fn left(end: Instant) -> Duration {
    end.saturating_duration_since(Instant::now())
}

/// Flies, while the plain exchange carries out the commands that are answered.
fn fly(
    flight: &Flight<'_>,
    plain: &mut Plain,
    address: SocketAddr,
    at_end: impl FnOnce(),
) -> Result<Landed> {
    let pace = flight.pace.expect("a check has a pace");
    thread::scope(|scope| {
        let following = scope.spawn(|| plain.follow(flight.commands, pace));
        let landed = flight.fly(address, at_end);
        pace.end();
        following.join().expect("the plain exchange does not panic");
        Ok(landed?)
    })
}

/// Recovers what the killed exchange has left, and compares it. Returns the number of commands that it
/// has.
fn recover(
    folder: &Path,
    commands: &[Command],
    plain: &mut Plain,
    before: &Landed,
) -> Result<usize> {
    let begun = Instant::now();
    let mut settings = Settings::default();
    settings.folder = Some(folder.to_owned());
    let opened = Service::open(settings)?;
    let time = begun.elapsed();
    let state = opened.engine().state();
    let count = state.commands as usize;
    let found = opened.recovery();
    println!(
        "recovered   {count} of {} commands in {} ms: snapshot {}, {} replayed, {} bytes cut",
        before.sent,
        time.as_millis(),
        found.snapshot,
        found.replayed,
        found.cut_bytes,
    );
    let unknown = commands.get(plain.count()..count).ok_or("an answered command is lost")?;
    plain.carry_out(unknown);
    // Every answer that left the exchange, and so every acknowledged command, is there.
    plain.compare("before the kill", &before.answers)?;
    if state != plain.exchange.state() {
        return Err("the recovered state is not that of the plain exchange".into());
    }
    println!("            hash {:016x}, equal to that of the plain exchange", state.hash());
    Ok(count)
}

/// An exchange in a process of its own.
struct Server {
    program: Program,
    address: SocketAddr,
    recovered: String,
}

impl Server {
    fn start(folder: &Path) -> Result<Self> {
        let mut process = Process::new(std::env::current_exe()?);
        process
            .args(["serve", "--address", "127.0.0.1:0", "--snapshot-every"])
            .arg(SNAPSHOT_EVERY.to_string())
            .arg("--folder")
            .arg(folder);
        let mut program = Program::start("exchange", &mut process)?;
        let recovered = program.line("recovered: ")?;
        let address = program.line("listening: ")?.parse()?;
        Ok(Self { program, address, recovered })
    }
}
