//! `exchange bench`: delays and throughput without a network, in one process.
//!
//! The program that measures exchange-core reads the same commands: see `exchange/rival/`.

use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use exchange::flows::mix::{Flow, Mix};
use exchange::service::{Entry, Input, Output, Service, Settings};
use exchange::types::{Command, PackedCommand, Report};
use lapwing::{EventHandler, Sequence};

use super::Result;
use super::delays::Delays;

/// What is measured.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Commands per second. 0 sends as fast as the exchange takes them.
    #[arg(long, default_value_t = 0.0)]
    rate: f64,
    /// Commands of a round.
    #[arg(long, default_value_t = 1_000_000)]
    commands: usize,
    /// Rounds before the one that counts, as fast as the exchange takes the commands.
    #[arg(long, default_value_t = 1)]
    warm_ups: usize,
    /// Write and sync each command before its answer.
    #[arg(long)]
    journal: bool,
    /// The folder of the journal. The default is the system's folder for temporary files.
    #[arg(long)]
    folder: Option<PathBuf>,
    /// Write the commands to this file, for a rival, and measure nothing.
    #[arg(long)]
    dump: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let flow = Mix { commands: arguments.commands, is_one_sided: true, ..Mix::default() }.flow();
    if let Some(file) = &arguments.dump {
        let commands = flow.into_commands();
        let packed: Vec<PackedCommand> = commands.iter().map(PackedCommand::from).collect();
        return Ok(std::fs::write(file, bytemuck::cast_slice(&packed))?);
    }
    for _ in 0..arguments.warm_ups {
        round(arguments, &flow, 0.0)?;
    }
    println!("{}", round(arguments, &flow, arguments.rate)?);
    Ok(())
}

/// Measures one round on a new exchange, at `rate` commands per second. Returns a line of JSON.
fn round(arguments: &Arguments, flow: &Flow, rate: f64) -> Result<String> {
    let parent = arguments.folder.clone().unwrap_or_else(std::env::temp_dir);
    let folder = tempfile::tempdir_in(parent)?;
    let mut settings = Settings::default();
    settings.folder = arguments.journal.then(|| folder.path().to_owned());
    let start = Instant::now();
    let (done, measured) = channel();
    let answers = Measure { start, left: flow.commands.len(), answers: Answers::new(), done };
    let (service, mut entry) = Service::open(settings)?.start(answers, Ignore)?;
    for command in flow.preparation() {
        publish(&mut entry, command, 0, Duration::ZERO)?;
    }
    // The book is filled, and all stages wait.
    std::thread::sleep(Duration::from_millis(100));
    let begun = start.elapsed();
    for (index, command) in flow.commands.iter().enumerate() {
        let intended = match rate {
            0.0 => begun,
            _ => begun + Duration::from_secs_f64(index as f64 / rate),
        };
        while start.elapsed() < intended {
            std::hint::spin_loop();
        }
        publish(&mut entry, command, index as u64 + 1, intended)?;
    }
    let (answers, end) = measured.recv()?;
    drop(entry);
    service.shutdown()?;
    Ok(answers.json(arguments.journal, flow.commands.len(), end - begun))
}

/// Publishes a command that should be sent at `intended`. Tag 0 is not measured.
fn publish(entry: &mut Entry, command: &Command, tag: u64, intended: Duration) -> Result<()> {
    let received_ns = intended.as_nanos() as u64;
    let input = Input { command: PackedCommand::from(command), tag, received_ns, session: 0 };
    entry.publish(|slot| *slot = input)?;
    Ok(())
}

/// What the answers to all commands say.
#[derive(Debug, Clone)]
struct Answers {
    delays: Delays,
    refused: u64,
    trades: u64,
    /// The lots of all trades.
    traded: u64,
}

impl Answers {
    fn new() -> Self {
        Self { delays: Delays::new(), refused: 0, trades: 0, traded: 0 }
    }

    fn add(&mut self, report: Report) {
        match report {
            Report::Rejected { .. } => self.refused += 1,
            Report::Trade(trade) => {
                self.trades += 1;
                self.traded += u64::from(trade.quantity);
            }
            _ => {}
        }
    }

    /// A line of JSON. Times are in nanoseconds.
    fn json(&self, has_journal: bool, commands: usize, time: Duration) -> String {
        let Self { delays, refused, trades, traded } = self;
        format!(
            "{{\"exchange\": \"lapwing\", \"journal\": {has_journal}, \"commands\": {commands}, \
             \"refused\": {refused}, \"trades\": {trades}, \"traded\": {traded}, \
             \"per_second\": {:.0}, \"p50\": {}, \"p90\": {}, \"p99\": {}, \"p99.9\": {}, \
             \"p99.99\": {}, \"max\": {}}}",
            commands as f64 / time.as_secs_f64(),
            delays.at(0.5),
            delays.at(0.9),
            delays.at(0.99),
            delays.at(0.999),
            delays.at(0.9999),
            delays.longest(),
        )
    }
}

/// Measures the delay of each command up to its last report.
struct Measure {
    start: Instant,
    /// Commands without an answer.
    left: usize,
    answers: Answers,
    done: Sender<(Answers, Duration)>,
}

impl EventHandler<Output> for Measure {
    fn on_event(&mut self, output: &Output, _: Sequence, _: bool) {
        if output.tag == 0 {
            return;
        }
        self.answers.add(output.report.unpack().expect("the engine packs valid reports"));
        if output.is_last == 0 {
            return;
        }
        let now = self.start.elapsed();
        self.answers.delays.add(now.saturating_sub(Duration::from_nanos(output.received_ns)));
        self.left -= 1;
        if self.left == 0 {
            // The round has ended early if nothing receives it.
            let _ = self.done.send((self.answers.clone(), now));
        }
    }
}

/// Takes no part.
struct Ignore;

impl EventHandler<Output> for Ignore {
    fn on_event(&mut self, _: &Output, _: Sequence, _: bool) {}
}
