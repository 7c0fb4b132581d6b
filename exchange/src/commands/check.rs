//! `exchange check`: the exchange is killed under load, recovers, and must be as a plain exchange is
//! after the same commands.
//!
//! ```text
//! serve ──────────────── kill -9        serve ───────────────── end
//!   ^ commands at a rate   |  recover     ^  the rest              |
//!   |                      v  and compare |                        v  compare
//! client ──────────────────────────────────────────────────────────────────>
//! ```

use std::io::{BufRead, BufReader, Lines};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command as Process, Stdio};
use std::time::{Duration, Instant};

use exchange::Exchange;
use exchange::flows::mix::Mix;
use exchange::gateway::wire::Answer;
use exchange::plain::PlainExchange;
use exchange::service::{Service, Settings};
use exchange::types::{Command, PackedReport, Report};

use super::Result;
use super::flight::{Flight, Landed};

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
    let commands = Mix { seed, commands: (2.0 * rate * seconds) as usize, ..Mix::default() }
        .flow()
        .into_commands();
    let folder = tempfile::tempdir()?;
    println!(
        "exchange check: {} commands at {rate} per second, {seconds} s to the kill",
        commands.len()
    );

    let mut server = Server::start(folder.path())?;
    let longest = Duration::from_secs_f64(seconds);
    let flight = Flight { commands: &commands, first_tag: 1, rate, longest };
    let before = flight.fly(server.address, || server.kill())?;
    report("before the kill", &before);

    let mut plain = Plain::default();
    let recovered = recover(folder.path(), &commands, &mut plain, &before)?;

    let mut server = Server::start(folder.path())?;
    println!("restarted   {}", server.recovered);
    let rest = &commands[recovered..];
    let first_tag = recovered as u64 + 1;
    let flight = Flight { commands: rest, first_tag, rate, longest: Duration::MAX };
    let after = flight.fly(server.address, || {})?;
    report("after it", &after);
    plain.carry_out(rest);
    plain.compare("after the restart", &after.answers)?;
    if after.delays.count() != rest.len() as u64 {
        return Err("a command was not answered".into());
    }
    let ended = server.end()?;
    let expected = plain.ended();
    println!("at the end  {ended}");
    if ended != expected {
        return Err(format!("the plain exchange differs: {expected}").into());
    }
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

fn report(name: &str, landed: &Landed) {
    println!(
        "{name}: {} commands sent, {} answered in {:.1} s, {} trades",
        landed.sent,
        landed.delays.count(),
        landed.time.as_secs_f64(),
        landed.trades(),
    );
    println!("            from intended send time to last answer: {}", landed.delays);
}

/// The plain exchange, and what it has reported.
#[derive(Default)]
struct Plain {
    exchange: PlainExchange,
    /// The number of its commands.
    carried_out: u64,
    /// The reports with the sequences of their commands.
    reports: Vec<(u64, PackedReport)>,
}

impl Plain {
    fn carry_out(&mut self, commands: &[Command]) {
        for command in commands {
            let sequence = self.carried_out;
            self.carried_out += 1;
            let reports = &mut self.reports;
            let mut sink = |report: Report| reports.push((sequence, PackedReport::from(&report)));
            self.exchange.apply(command, &mut sink);
        }
    }

    /// Compares answers in a row with the reports from the first of their commands on.
    fn compare(&self, when: &str, answers: &[Answer]) -> Result<()> {
        let Some(first) = answers.first() else {
            return Err(format!("no answer {when}").into());
        };
        let start = self.reports.partition_point(|&(sequence, _)| sequence < first.sequence);
        let expected = self.reports[start..].iter();
        if expected.len() < answers.len() {
            return Err(format!("an answer {when} is to a command that is lost").into());
        }
        for (answer, &(sequence, report)) in answers.iter().zip(expected) {
            // The client has sent all commands, so tags and sequences agree.
            if (answer.tag, answer.sequence, answer.report) != (sequence + 1, sequence, report) {
                return Err(format!("command {sequence} has another answer {when}").into());
            }
        }
        Ok(())
    }

    fn ended(&self) -> String {
        let state = self.exchange.state();
        format!("ended: commands={} hash={:016x}", state.commands, state.hash())
    }
}

/// An exchange in a process of its own.
struct Server {
    process: Child,
    /// Its end ends the exchange.
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    address: SocketAddr,
    recovered: String,
}

impl Server {
    fn start(folder: &Path) -> Result<Self> {
        let mut process = Process::new(std::env::current_exe()?)
            .args(["serve", "--address", "127.0.0.1:0", "--snapshot-every"])
            .arg(SNAPSHOT_EVERY.to_string())
            .arg("--folder")
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = process.stdin.take();
        let stdout = process.stdout.take().expect("the output is piped");
        let mut lines = BufReader::new(stdout).lines();
        let mut line = |name: &str| -> Result<String> {
            let line = lines.next().ok_or("the exchange did not start")??;
            let value = line.strip_prefix(name).ok_or_else(|| format!("unexpected: {line}"))?;
            Ok(value.to_owned())
        };
        let recovered = line("recovered: ")?;
        let address = line("listening: ")?.parse()?;
        Ok(Self { process, stdin, lines, address, recovered })
    }

    /// Kills it as a crash would: it runs no more code.
    fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Lets it end, and returns its last line.
    fn end(&mut self) -> Result<String> {
        drop(self.stdin.take());
        let line = self.lines.next().ok_or("the exchange did not end well")??;
        let status = self.process.wait()?;
        if status.success() {
            Ok(line)
        } else {
            Err(format!("the exchange ended: {status}").into())
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
