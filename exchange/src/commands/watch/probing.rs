//! Probes: commands at a steady rate that the exchange rejects, and how long the answers take.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use exchange::client;
use exchange::gateway::wire::Order;
use exchange::types::{AccountId, Cancel, Command, OrderId, PackedCommand, SymbolId};

use super::feed::Feed;

/// The answer to a probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    /// From the time when the probe should be sent to its answer.
    pub(super) delay: Duration,
    /// The number of its command.
    pub(super) sequence: u64,
}

/// Starts the threads that send and receive. They end with the feed.
pub(super) fn start(address: &str, per_second: u32) -> io::Result<Feed<Probe>> {
    let (mut sender, receiver) = client::connect(address)?;
    let start = Instant::now();
    // A probe that is sent late counts from when it should be sent.
    let due = move |tag: u64| Duration::from_secs(tag - 1) / per_second;
    let feed = Feed::start(receiver, move |answer| {
        let is_probe = answer.tag > 0;
        let delay = || start.elapsed().saturating_sub(due(answer.tag));
        is_probe.then(|| Probe { delay: delay(), sequence: answer.sequence })
    })?;
    let send = move || {
        for tag in 1.. {
            thread::sleep(due(tag).saturating_sub(start.elapsed()));
            if sender.send(&[Order { tag, command: probe() }]).is_err() {
                break;
            }
        }
    };
    thread::Builder::new().name("probes".into()).spawn(send)?;
    Ok(feed)
}

/// A command that changes nothing: no account has this number.
fn probe() -> PackedCommand {
    let (account, symbol, order) = (AccountId(u32::MAX), SymbolId(u32::MAX), OrderId(0));
    PackedCommand::from(&Command::Cancel(Cancel { account, symbol, order }))
}
