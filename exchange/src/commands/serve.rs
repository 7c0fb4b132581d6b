//! `exchange serve`: the exchange until a signal, the end of a piped input, or the failure of a stage.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use exchange::Exchange;
use exchange::ends::{Termination, input_ends_program};
use exchange::gateway::{self, Gateway};
use exchange::service::{Service, Settings};

use super::Result;
use crate::output::announce;

/// How often the program checks whether a stage has failed, or a signal has come.
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
    #[command(flatten)]
    gateway: GatewayArguments,
}

/// How many clients the gateway serves, and what it keeps for them.
#[derive(Debug, clap::Args)]
struct GatewayArguments {
    /// Sessions at a time. By default 1000, or what the limit of file descriptors allows if less.
    #[arg(long)]
    sessions: Option<usize>,
    /// Seconds after which a client that may send commands, and sends nothing, is disconnected. 0 is
    /// no limit. An empty line, or a heartbeat of the binary protocol, shows that a client is there.
    #[arg(long, default_value_t = 300)]
    idle_limit: u64,
    /// The file of secrets, which `exchange secret` makes. Without one, each client may send all
    /// commands, and only this machine is served.
    #[arg(long)]
    secrets: Option<PathBuf>,
    /// Answers that may wait for a client. One that lets more wait is disconnected.
    #[arg(long, default_value_t = 65_536)]
    queue: usize,
}

impl GatewayArguments {
    fn settings(&self) -> gateway::Settings {
        let mut settings = gateway::Settings::default();
        settings.sessions = self.sessions.unwrap_or(settings.sessions);
        settings.idle_limit = (self.idle_limit > 0).then(|| Duration::from_secs(self.idle_limit));
        settings.queue = self.queue;
        settings.secrets.clone_from(&self.secrets);
        settings
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut settings = Settings::default();
    settings.folder.clone_from(&arguments.folder);
    settings.snapshot_every = arguments.snapshot_every;
    settings.memory = arguments.memory;
    let termination = Termination::watch()?;
    let begun = Instant::now();
    let opened = Service::open(settings)?;
    let found = opened.recovery().clone();
    for path in &found.damaged {
        eprintln!("exchange: left out a damaged snapshot: {}", path.display());
    }
    announce(format_args!(
        "recovered: snapshot={} replayed={} cut_bytes={} ms={}",
        found.snapshot,
        found.replayed,
        found.cut_bytes,
        begun.elapsed().as_millis(),
    ));
    let gateway = Gateway::start_with(opened, &*arguments.address, arguments.gateway.settings())?;
    announce(format_args!("listening: {}", gateway.address()));
    wait(&gateway, &termination)?;
    let state = gateway.shutdown()?.state();
    announce(format_args!("ended: commands={} hash={:016x}", state.commands, state.hash()));
    Ok(())
}

/// Waits until the program shall end, or the exchange has failed.
fn wait(gateway: &Gateway, termination: &Termination) -> Result<()> {
    let has_ended = watch_input()?;
    // Relaxed: it carries nothing.
    while !gateway.has_failed() && !termination.is_asked() && !has_ended.load(Ordering::Relaxed) {
        thread::sleep(PAUSE);
    }
    Ok(())
}

/// Returns a flag that is set at the end of the standard input, if that ends the program. The thread
/// that sets it ends with the program.
fn watch_input() -> io::Result<Arc<AtomicBool>> {
    let has_ended = Arc::new(AtomicBool::new(false));
    if input_ends_program() {
        let flag = Arc::clone(&has_ended);
        let read = move || {
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            flag.store(true, Ordering::Relaxed);
        };
        thread::Builder::new().name("input".into()).spawn(read)?;
    }
    Ok(has_ended)
}
