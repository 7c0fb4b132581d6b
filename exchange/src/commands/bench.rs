//! `exchange bench`: delays and throughput without a network, in one process.
//!
//! The program that measures exchange-core reads the same commands: see `exchange/rival/`.

use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use exchange::flows::mix::{Flow, Mix};
use exchange::service::{Entry, Input, Output, Service, Settings};
use exchange::types::{Command, PackedCommand};
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
    /// Rounds before the one that counts.
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
    let flow = Mix { commands: arguments.commands, ..Mix::default() }.flow();
    if let Some(file) = &arguments.dump {
        let commands = flow.into_commands();
        let packed: Vec<PackedCommand> = commands.iter().map(PackedCommand::from).collect();
        return Ok(std::fs::write(file, bytemuck::cast_slice(&packed))?);
    }
    let mut line = String::new();
    for _ in 0..=arguments.warm_ups {
        line = round(arguments, &flow)?;
    }
    println!("{line}");
    Ok(())
}

/// Measures one round on a new exchange. Returns a line of JSON.
fn round(arguments: &Arguments, flow: &Flow) -> Result<String> {
    let parent = arguments.folder.clone().unwrap_or_else(std::env::temp_dir);
    let folder = tempfile::tempdir_in(parent)?;
    let mut settings = Settings::default();
    settings.folder = arguments.journal.then(|| folder.path().to_owned());
    let start = Instant::now();
    let (done, measured) = channel();
    let answers = Measure { start, left: flow.commands.len(), delays: Delays::new(), done };
    let (service, mut entry) = Service::open(settings)?.start(answers, Ignore)?;
    for command in flow.preparation() {
        publish(&mut entry, command, 0, Duration::ZERO)?;
    }
    // The book is filled, and all stages wait.
    std::thread::sleep(Duration::from_millis(100));
    let begun = start.elapsed();
    for (index, command) in flow.commands.iter().enumerate() {
        let intended = match arguments.rate {
            0.0 => begun,
            rate => begun + Duration::from_secs_f64(index as f64 / rate),
        };
        while start.elapsed() < intended {
            std::hint::spin_loop();
        }
        publish(&mut entry, command, index as u64 + 1, intended)?;
    }
    let (delays, end) = measured.recv()?;
    drop(entry);
    service.shutdown()?;
    let per_second = flow.commands.len() as f64 / (end - begun).as_secs_f64();
    Ok(format!(
        "{{\"exchange\": \"lapwing\", \"journal\": {}, \"commands\": {}, \"per_second\": {per_second:.0}, \
         \"p50\": {}, \"p90\": {}, \"p99\": {}, \"p99.9\": {}, \"p99.99\": {}, \"max\": {}}}",
        arguments.journal,
        flow.commands.len(),
        delays.at(0.5),
        delays.at(0.9),
        delays.at(0.99),
        delays.at(0.999),
        delays.at(0.9999),
        delays.longest(),
    ))
}

/// Publishes a command that should be sent at `intended`. Tag 0 is not measured.
fn publish(entry: &mut Entry, command: &Command, tag: u64, intended: Duration) -> Result<()> {
    let received_ns = intended.as_nanos() as u64;
    let input = Input { command: PackedCommand::from(command), tag, received_ns, session: 0 };
    entry.publish(|slot| *slot = input)?;
    Ok(())
}

/// Measures the delay of each command up to its last report.
struct Measure {
    start: Instant,
    /// Commands without an answer.
    left: usize,
    delays: Delays,
    done: Sender<(Delays, Duration)>,
}

impl EventHandler<Output> for Measure {
    fn on_event(&mut self, output: &Output, _: Sequence, _: bool) {
        if output.is_last == 0 || output.tag == 0 {
            return;
        }
        let now = self.start.elapsed();
        self.delays.add(now.saturating_sub(Duration::from_nanos(output.received_ns)));
        self.left -= 1;
        if self.left == 0 {
            // The round has ended early if nothing receives it.
            let _ = self.done.send((self.delays.clone(), now));
        }
    }
}

/// Takes no part.
struct Ignore;

impl EventHandler<Output> for Ignore {
    fn on_event(&mut self, _: &Output, _: Sequence, _: bool) {}
}
