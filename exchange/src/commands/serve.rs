//! `exchange serve`: the exchange until its standard input ends.

use std::io::{self, Read};
use std::path::PathBuf;
use std::time::Instant;

use exchange::Exchange;
use exchange::gateway::Gateway;
use exchange::service::{Service, Settings};

use super::Result;

/// Where the exchange listens, and what it keeps.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The address to listen at. Port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:7411")]
    address: String,
    /// The folder of journal and snapshots. Without one, nothing is kept.
    #[arg(long)]
    folder: Option<PathBuf>,
    /// Commands from one snapshot to the next.
    #[arg(long, default_value_t = 1_000_000)]
    snapshot_every: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut settings = Settings::default();
    settings.folder.clone_from(&arguments.folder);
    settings.snapshot_every = arguments.snapshot_every;
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
    io::stdin().read_to_end(&mut Vec::new())?;
    let state = gateway.shutdown()?.state();
    println!("ended: commands={} hash={:016x}", state.commands, state.hash());
    Ok(())
}
