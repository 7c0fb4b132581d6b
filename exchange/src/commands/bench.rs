//! `exchange bench`: delays and throughput without a network, in one process.
//!
//! The program that measures exchange-core reads the same commands: see `exchange/rival/`.

use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use exchange::flows::mix::{Flow, Mix};
use exchange::service::{Entry, Input, Output, Service, Settings};
use exchange::types::{Command, PackedCommand};
use hdrhistogram::Histogram;
use lapwing::{EventHandler, Sequence};

use super::Result;

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
        let all = [flow.opening, flow.fill, flow.commands].concat();
        let packed: Vec<PackedCommand> = all.iter().map(PackedCommand::from).collect();
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
    let answers = Measure { start, left: flow.commands.len(), delays: delays(), done };
    let (service, mut entry) = Service::open(settings)?.start(answers, Ignore)?;
    for command in flow.opening.iter().chain(&flow.fill) {
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
    let at = |quantile| delays.value_at_quantile(quantile);
    Ok(format!(
        "{{\"exchange\": \"lapwing\", \"journal\": {}, \"commands\": {}, \"per_second\": {per_second:.0}, \
         \"p50\": {}, \"p90\": {}, \"p99\": {}, \"p99.9\": {}, \"p99.99\": {}, \"max\": {}}}",
        arguments.journal,
        flow.commands.len(),
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999),
        at(0.9999),
        delays.max(),
    ))
}

/// Publishes a command that should be sent at `intended`. Tag 0 is not measured.
fn publish(entry: &mut Entry, command: &Command, tag: u64, intended: Duration) -> Result<()> {
    let received_ns = intended.as_nanos() as u64;
    let input = Input { command: PackedCommand::from(command), tag, received_ns, session: 0 };
    entry.publish(|slot| *slot = input)?;
    Ok(())
}

fn delays() -> Histogram<u64> {
    Histogram::new_with_max(60_000_000_000, 3).expect("the bounds are valid")
}

/// Measures the delay of each command up to its last report.
struct Measure {
    start: Instant,
    /// Commands without an answer.
    left: usize,
    delays: Histogram<u64>,
    done: Sender<(Histogram<u64>, Duration)>,
}

impl EventHandler<Output> for Measure {
    fn on_event(&mut self, output: &Output, _: Sequence, _: bool) {
        if output.is_last == 0 || output.tag == 0 {
            return;
        }
        let now = self.start.elapsed();
        let delay = (now.as_nanos() as u64).saturating_sub(output.received_ns);
        self.delays.saturating_record(delay);
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
