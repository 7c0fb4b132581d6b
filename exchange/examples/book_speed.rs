//! Measures how long commands take, on one thread and without a ring: risk, matching and reports.
//!
//! Usage: `cargo run --release -p exchange --example book_speed [LOBSTER_MESSAGE_FILE]`

use std::env;
use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::time::{Duration, Instant};

use exchange::Exchange;
use exchange::engine::Engine;
use exchange::flows::lobster::Recording;
use exchange::flows::mix::{Flow, Mix};
use exchange::plain::PlainExchange;
use exchange::types::{Command, PackedReport, Report};
use lapwing_lab_stats::{median, range};
use rustix::time::{ClockId, clock_gettime};

/// Passes over the flow, of which the median counts.
const ROUNDS: usize = 7;
/// The plain exchange adds up all orders for each check, so it gets few commands.
const PLAIN_COMMANDS: usize = 20_000;

/// What a pass has seen. Two exchanges with the same commands must see the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    reports: u64,
    trades: u64,
    bytes: u64,
}

impl Seen {
    fn add(&mut self, report: &Report) {
        self.reports += 1;
        self.trades += u64::from(matches!(report, Report::Trade(_)));
        let packed = PackedReport::from(report);
        let words: &[u64; 7] = bytemuck::cast_ref(&packed);
        self.bytes = words.iter().fold(self.bytes, |sum, word| sum.rotate_left(5) ^ word);
    }
}

/// Returns the CPU time of this thread. What other programs use is no part of it.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("CPU time is not negative")
}

/// Returns what a pass has seen and its nanoseconds of CPU time per command.
fn pass(exchange: &mut impl Exchange, flow: &Flow, commands: &[Command]) -> (Seen, f64) {
    for command in flow.preparation() {
        exchange.apply(command, &mut |_| ());
    }
    let mut seen = Seen::default();
    let begin = cpu_time();
    for command in commands {
        exchange.apply(command, &mut |report| seen.add(&report));
    }
    let spent = cpu_time() - begin;
    (seen, spent.as_nanos() as f64 / commands.len() as f64)
}

/// Returns the nanoseconds of each command, sorted. They include those of reading the clock.
fn each_command(flow: &Flow) -> Vec<u64> {
    let mut engine = Engine::default();
    for command in flow.preparation() {
        engine.apply(command, &mut |_| ());
    }
    let mut seen = Seen::default();
    let time = |command| {
        let begin = Instant::now();
        engine.apply(command, &mut |report| seen.add(&report));
        u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    };
    let mut all: Vec<_> = flow.commands.iter().map(time).collect();
    all.sort_unstable();
    all
}

fn measure(name: &str, flow: &Flow) {
    let few = &flow.commands[..PLAIN_COMMANDS.min(flow.commands.len())];
    let (expected, plain_ns) = pass(&mut PlainExchange::default(), flow, few);
    let (found, _) = pass(&mut Engine::default(), flow, few);
    assert_eq!(found, expected, "both exchanges must report the same");

    let mut rounds = Vec::new();
    let mut seen = Seen::default();
    for _ in 0..ROUNDS {
        let (pass_seen, ns) = pass(&mut Engine::default(), flow, &flow.commands);
        seen = pass_seen;
        rounds.push(ns);
    }
    let ns = median(&rounds).expect("there are rounds");
    let (least, most) = range(&rounds).expect("there are rounds");
    let each = each_command(flow);
    let at = |share: f64| each[((each.len() - 1) as f64 * share) as usize];
    println!(
        "{name}: {} commands, {} reports, {} trades",
        flow.commands.len(),
        seen.reports,
        seen.trades
    );
    println!(
        "  engine {ns:6.1} ns per command, {:5.1} M/s ({:.1} to {:.1} ns)",
        1e3 / ns,
        least,
        most
    );
    println!(
        "  each, by the clock: 50 % {} ns, 99 % {}, 99.9 % {}, 99.99 % {}, longest {}",
        at(0.5),
        at(0.99),
        at(0.999),
        at(0.9999),
        at(1.0)
    );
    println!("  plain  {plain_ns:6.0} ns per command");
}

fn main() -> Result<(), Box<dyn Error>> {
    for (name, reduces) in [("published mix", false), ("mix of 0.5.3", true)] {
        measure(name, &Mix { reduces, ..Mix::default() }.flow());
    }
    if let Some(path) = env::args_os().nth(1) {
        let recording = Recording::read(BufReader::new(File::open(path)?))?;
        let commands = recording.steps.iter().map(|step| step.command).collect();
        measure("recording", &Flow { opening: recording.opening, fill: Vec::new(), commands });
    }
    Ok(())
}
