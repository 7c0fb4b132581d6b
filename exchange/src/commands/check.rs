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
use std::time::{Duration, Instant};

use exchange::Exchange;
use exchange::service::{Service, Settings};
use exchange::types::Command;

use super::Result;
use super::flight::{Flight, Landed, commands_of_two};
use super::plain_side::Plain;
use super::program::Program;

/// Commands from one snapshot to the next: recovery needs a snapshot and a part of the journal.
const SNAPSHOT_EVERY: u64 = 50_000;

/// How much is checked.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Commands per second.
    #[arg(long, default_value_t = Self::default().rate)]
    rate: f64,
    /// Seconds before the kill, and about as many after the recovery.
    #[arg(long, default_value_t = Self::default().seconds)]
    seconds: f64,
    /// The seed of the flow.
    #[arg(long, default_value_t = Self::default().seed)]
    seed: u64,
}

impl Default for Arguments {
    fn default() -> Self {
        Self { rate: 10_000.0, seconds: 25.0, seed: 1 }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { rate, seconds, seed } = *arguments;
    let commands = commands_of_two(rate, seconds, seed);
    let folder = tempfile::tempdir()?;
    println!(
        "exchange check: {} commands at {rate} per second, {seconds} s to the kill",
        commands.len()
    );

    let mut server = Server::start(folder.path())?;
    let longest = Duration::from_secs_f64(seconds);
    let flight = Flight { commands: &commands, first_tag: 1, rate, longest, login: None };
    let before = flight.fly(server.address, || server.program.kill())?;
    before.print("before the kill");

    let mut plain = Plain::default();
    let recovered = recover(folder.path(), &commands, &mut plain, &before)?;

    let mut server = Server::start(folder.path())?;
    println!("restarted   {}", server.recovered);
    let rest = &commands[recovered..];
    let first_tag = recovered as u64 + 1;
    let flight = Flight { commands: rest, first_tag, rate, longest: Duration::MAX, login: None };
    let after = flight.fly(server.address, || {})?;
    after.print("after it");
    plain.finish("after the restart", rest, &after, &mut server.program)?;
    println!("passed: every report and both states are those of the plain exchange");
    Ok(())
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
    plain.carry_out(&commands[..count]);
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
