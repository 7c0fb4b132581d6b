//! Probes: commands at a steady rate that the exchange rejects, and how long the answers take.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use exchange::client;
use exchange::gateway::wire::Order;
use exchange::gateway::{Actor, Login};
use exchange::types::{AccountId, Cancel, Command, OrderId, PackedCommand, SymbolId};

use super::feed::Feed;
use super::link::Target;

/// The answer to a probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    /// From the time when the probe should be sent to its answer.
    pub(super) delay: Duration,
    /// The number of its command.
    pub(super) sequence: u64,
}

/// Starts the threads that send and receive. They end with the feed.
pub(super) fn start(target: &Target) -> io::Result<Feed<Probe>> {
    let Target { address, login, probes: per_second } = target.clone();
    let (mut sender, receiver) = client::connect_as(&*address, login.as_ref())?;
    let command = probe(login.as_ref());
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
            if sender.send(&[Order { tag, command }]).is_err() {
                break;
            }
        }
    };
    thread::Builder::new().name("probes".into()).spawn(send)?;
    Ok(feed)
}

/// A command that changes nothing: no symbol has this number, and no account but one that logs in.
fn probe(login: Option<&Login>) -> PackedCommand {
    let account = match login.map(|login| login.actor) {
        Some(Actor::Account(account)) => account,
        _ => AccountId(u32::MAX),
    };
    let (symbol, order) = (SymbolId(u32::MAX), OrderId(0));
    PackedCommand::from(&Command::Cancel(Cancel { account, symbol, order }))
}
