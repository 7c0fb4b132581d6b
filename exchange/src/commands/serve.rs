//! `exchange serve`: the exchange until its standard input ends, or a stage fails.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use exchange::Exchange;
use exchange::gateway::Gateway;
use exchange::service::{Service, Settings};

use super::Result;

/// How often the program checks whether a stage has failed.
const PAUSE: Duration = Duration::from_millis(50);

/// Where the exchange listens, and what it keeps.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The address to listen at. Port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:7411")]
    address: String,
    /// The folder of journal and snapshots. Without one, nothing is kept.
    #[arg(long)]
    folder: Option<PathBuf>,
    /// MiB that all books, accounts and positions may take, with the copies for snapshots and market
    /// data. The default is that of the folder, at first 1024. Sessions take memory besides.
    #[arg(long)]
    memory: Option<u32>,
    /// Commands from one snapshot to the next.
    #[arg(long, default_value_t = 1_000_000)]
    snapshot_every: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut settings = Settings::default();
    settings.folder.clone_from(&arguments.folder);
    settings.snapshot_every = arguments.snapshot_every;
    settings.memory = arguments.memory;
    let begun = Instant::now();
    let opened = Service::open(settings)?;
    let found = opened.recovery().clone();
    for path in &found.damaged {
        eprintln!("exchange: left out a damaged snapshot: {}", path.display());
    }
    println!(
        "recovered: snapshot={} replayed={} cut_bytes={} ms={}",
        found.snapshot,
        found.replayed,
        found.cut_bytes,
        begun.elapsed().as_millis(),
    );
    let gateway = Gateway::start(opened, &*arguments.address)?;
    println!("listening: {}", gateway.address());
    wait(&gateway)?;
    let state = gateway.shutdown()?.state();
    println!("ended: commands={} hash={:016x}", state.commands, state.hash());
    Ok(())
}

/// Waits until the standard input ends, or the exchange has failed.
fn wait(gateway: &Gateway) -> Result<()> {
    let input = watch_input()?;
    loop {
        match input.recv_timeout(PAUSE) {
            Err(RecvTimeoutError::Timeout) if !gateway.has_failed() => {}
            _ => return Ok(()),
        }
    }
}

/// Returns a channel that ends with the standard input. Its thread ends with the program.
fn watch_input() -> io::Result<Receiver<()>> {
    let (ended, input) = channel();
    let read = move || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        drop(ended);
    };
    thread::Builder::new().name("input".into()).spawn(read)?;
    Ok(input)
}
