//! An exchange that ships its input.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use exchange::engine::Engine;
use exchange::gateway::Gateway;
use exchange::service::{Confirmed, ServiceError};

use crate::Result;
use crate::local::Local;
use crate::process;
use crate::progress::Progress;
use crate::resending::Resending;
use crate::shipping::Shipping;
use crate::streams::Meeting;

pub use crate::acknowledge::Acknowledge;

/// How long a leader that ends waits for its follower.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// Where the leader listens, what its answers wait for, its exchange, and where its follower is.
#[derive(Debug, Clone, clap::Args)]
pub struct Arguments {
    /// The address to listen at. Port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:7411")]
    pub address: String,
    /// Which journals must have synced a command before its client gets the answer.
    #[arg(long, value_enum, default_value = "follower")]
    pub acknowledge: Acknowledge,
    /// The exchange.
    #[command(flatten)]
    pub local: Local,
    /// The streams.
    #[command(flatten)]
    pub meeting: Meeting,
}

/// Serves clients until SIGTERM, SIGINT or the end of a piped standard input.
///
/// # Errors
///
/// The exchange does not start or has failed, or the follower cannot be heard.
pub fn run(arguments: &Arguments) -> Result<()> {
    let lines = process::lines()?;
    let opened = arguments.local.open()?;
    let next = opened.next_sequence();
    process::print_recovery(opened.recovery(), next);
    let progress = Arc::new(Progress::new(next));
    let confirmed = Arc::new(Confirmed::new(next));

    let shared = Arc::clone(&progress);
    let mut shipping = Shipping::new(&arguments.meeting, arguments.acknowledge, shared)?;
    let id = shipping.id();
    let mut opened = opened.after_synced(move |inputs, first| Ok(shipping.ship(inputs, first)));
    if arguments.acknowledge == Acknowledge::Follower {
        opened = opened.confirmed_by(Arc::clone(&confirmed));
    }
    let opened = arguments.local.print_states(opened);

    let stop = Arc::new(AtomicBool::new(false));
    let journal = arguments.local.folder.join("journal");
    let (noted, shared) = (Arc::clone(&confirmed), Arc::clone(&progress));
    let resending = Resending::new(id, &arguments.meeting, journal, noted, shared)?;
    let gateway = arguments.local.serve(opened, &arguments.address)?;
    let hearing = {
        let stop = Arc::clone(&stop);
        thread::Builder::new().name("follower".into()).spawn(move || resending.run(&stop))?
    };
    process::serve(&gateway, &lines, || hearing.is_finished());
    if hearing.is_finished() {
        // No further confirmation arrives.
        progress.end();
        confirmed.give_up();
    }
    let ended = end(gateway, &confirmed, &progress);
    stop.store(true, Ordering::Release);
    // If this thread has failed, the exchange fails because confirmations are missing.
    hearing
        .join()
        .unwrap_or_else(|_| Err("the thread that hears the follower has panicked".into()))?;
    process::print_end(&ended?);
    Ok(())
}

/// Ends the exchange, without its follower if that does not answer.
fn end(
    gateway: Gateway,
    confirmed: &Confirmed,
    progress: &Progress,
) -> std::result::Result<Engine, ServiceError> {
    thread::scope(|scope| {
        let (done, ended) = channel::<()>();
        scope.spawn(move || give_up_late(&ended, confirmed, progress));
        let ended = gateway.shutdown();
        drop(done);
        ended
    })
}

fn give_up_late(ended: &Receiver<()>, confirmed: &Confirmed, progress: &Progress) {
    if ended.recv_timeout(LAST_WAIT) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
        progress.end();
        confirmed.give_up();
    }
}
