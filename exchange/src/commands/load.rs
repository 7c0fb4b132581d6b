//! `exchange load`: commands at a steady rate.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use exchange::flows::mix::Mix;
use exchange::types::Report;

use super::Result;
use super::flight::Flight;
use super::secret::LoginArguments;

/// Where to send, and how much.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The address of the exchange.
    #[arg(long, default_value = "127.0.0.1:7411")]
    address: String,
    /// Commands per second.
    #[arg(long, default_value_t = 10_000.0)]
    rate: f64,
    /// Seconds to send for.
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// The operator's, since the flow opens a book and accounts.
    #[command(flatten)]
    login: LoginArguments,
    /// The seed of the flow. An exchange rejects the orders of a flow that it has seen.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { rate, seconds, seed, .. } = *arguments;
    let count = (rate * seconds) as usize;
    let commands = Mix { seed, commands: count.max(1), ..Mix::default() }.flow().into_commands();
    let address = resolve(&arguments.address)?;
    let longest = Duration::MAX;
    let login = arguments.login.read()?;
    let flight = Flight {
        commands: &commands,
        first_tag: 1,
        rate,
        longest,
        login: login.as_ref(),
        pace: None,
    };
    let landed = flight.fly(address, || {})?;
    let trades = landed.trades();
    let rejected = landed.count(|report| matches!(report, Report::Rejected { .. }));
    println!(
        "{} commands in {:.1} s, {trades} trades, {rejected} rejected",
        landed.sent,
        landed.time.as_secs_f64(),
    );
    println!("from intended send time to last answer: {}", landed.delays);
    Ok(())
}

fn resolve(address: &str) -> Result<SocketAddr> {
    let mut found = address.to_socket_addrs()?;
    found.next().ok_or_else(|| format!("no such address: {address}").into())
}
