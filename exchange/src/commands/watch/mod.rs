//! `exchange watch`: book, trades, traffic and delays of a running exchange.
//!
//! The view is a client like any other. It rebuilds the book from market data. For the delays it sends
//! probes: cancellations of an order that cannot exist. The exchange rejects them, but they pass
//! through the gateway, the ring, the journal and the engine as each command does.

mod feed;
mod link;
mod probing;
mod terminal;

use std::io::{self, IsTerminal};
use std::thread;
use std::time::{Duration, Instant};

use exchange::types::SymbolId;
use exchange::view::{Screen, View};

use super::Result;
use super::secret::LoginArguments;
use link::{Link, Target};

/// How long `--once` waits for the book and the first probes.
const PATIENCE: Duration = Duration::from_secs(10);
/// Probes that `--once` waits for.
const FIRST_PROBES: usize = 10;
/// How often `--once` looks for records.
const PAUSE: Duration = Duration::from_millis(10);

/// What to watch.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The address of the exchange.
    #[arg(default_value = "127.0.0.1:7411")]
    address: String,
    /// The symbol that is shown first.
    #[arg(long, default_value_t = 0)]
    symbol: u32,
    /// Probes per second, at most 1000. Each is a command in the journal. 0 sends none.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(..=1000))]
    probes: u32,
    #[command(flatten)]
    login: LoginArguments,
    /// Print one screen as text, and end.
    #[arg(long)]
    once: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let is_terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
    if !arguments.once && !is_terminal {
        return Err("input or output is no terminal: --once prints one screen as text".into());
    }
    let Arguments { address, symbol, probes, .. } = arguments;
    let mut view = View::new(address.clone(), SymbolId(*symbol));
    let target =
        Target { address: address.clone(), login: arguments.login.read()?, probes: *probes };
    let link = Link::open(target, SymbolId(*symbol))
        .map_err(|error| format!("cannot connect to {address}: {error}"))?;
    if arguments.once { print_once(&mut view, link, *probes) } else { terminal::show(view, link) }
}

fn print_once(view: &mut View, mut link: Link, probes: u32) -> Result<()> {
    let begun = Instant::now();
    loop {
        link.update(view);
        view.tick(begun.elapsed());
        if let Some(reason) = view.loss() {
            return Err(format!("connection lost: {reason}").into());
        }
        let has_probes = probes == 0 || view.delays().count() >= FIRST_PROBES;
        if view.follower().is_complete() && has_probes {
            break;
        }
        if begun.elapsed() > PATIENCE {
            let symbol = view.follower().symbol().0;
            let missing = match view.follower().is_complete() {
                true => "answers to the probes".to_owned(),
                false => format!("book of symbol {symbol}"),
            };
            return Err(format!("no {missing} within {} s", PATIENCE.as_secs()).into());
        }
        thread::sleep(PAUSE);
    }
    print!("{}", Screen::new(view, false).to_text());
    Ok(())
}
