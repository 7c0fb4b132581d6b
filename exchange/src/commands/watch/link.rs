//! The connections of a view. A lost one is opened again.

use std::io;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use exchange::client;
use exchange::gateway::Login;
use exchange::gateway::wire::Answer;
use exchange::market::FollowError;
use exchange::types::{Report, SymbolId};
use exchange::view::View;

use super::feed::Feed;
use super::probing::{self, Probe};

/// How long a lost connection stays lost.
const PAUSE: Duration = Duration::from_secs(1);
/// Records that are applied at once. Then the screen is drawn, and keys are read.
const LARGEST_UPDATE: usize = 100_000;

/// The connections to an exchange, or the way to them.
pub(super) struct Link {
    target: Target,
    state: State,
}

/// An exchange, and how it is probed.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) address: String,
    /// For the probes. Market data needs none.
    pub(super) login: Option<Login>,
    /// Probes per second.
    pub(super) probes: u32,
}

enum State {
    Open(Connections),
    Opening(Receiver<io::Result<Connections>>),
    Lost(Instant),
}

/// A connection for each kind of record.
struct Connections {
    book: Feed<Answer>,
    symbols: Feed<SymbolId>,
    probes: Option<Feed<Probe>>,
}

impl Link {
    /// Connects.
    pub(super) fn open(target: Target, symbol: SymbolId) -> io::Result<Self> {
        let state = State::Open(Connections::open(&target, symbol)?);
        Ok(Self { target, state })
    }

    /// Shows a symbol from its snapshot on.
    pub(super) fn select(&mut self, view: &mut View, symbol: SymbolId) {
        view.select(symbol);
        self.state = self.opening(symbol);
    }

    /// Connects on a thread, since the exchange may not answer.
    fn opening(&self, symbol: SymbolId) -> State {
        let (done, opening) = channel();
        let target = self.target.clone();
        // The result is of no use if another symbol was selected meanwhile.
        thread::spawn(move || done.send(Connections::open(&target, symbol)));
        State::Opening(opening)
    }

    /// Brings a view up to date. Never waits.
    pub(super) fn update(&mut self, view: &mut View) {
        let symbol = view.follower().symbol();
        match &self.state {
            State::Open(connections) => match connections.update(view) {
                Ok(true) => {}
                Ok(false) => self.select(view, symbol),
                Err(error) => self.lose(view, &error),
            },
            State::Opening(opening) => match opening.try_recv() {
                Ok(Ok(connections)) => {
                    view.select(symbol);
                    self.state = State::Open(connections);
                }
                Ok(Err(error)) => self.lose(view, &error),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => self.state = State::Lost(Instant::now()),
            },
            State::Lost(since) if since.elapsed() >= PAUSE => self.state = self.opening(symbol),
            State::Lost(_) => {}
        }
    }

    fn lose(&mut self, view: &mut View, error: &io::Error) {
        view.lose(error.to_string());
        self.state = State::Lost(Instant::now());
    }
}

impl Connections {
    fn open(target: &Target, symbol: SymbolId) -> io::Result<Self> {
        let address = &*target.address;
        let book = Feed::start(client::subscribe(address, symbol.0)?, Some)?;
        let symbols =
            Feed::start(client::symbols(address)?, |answer| match answer.report.unpack() {
                Ok(Report::SymbolAdded(terms)) => Some(terms.symbol),
                _ => None,
            })?;
        let probes = (target.probes > 0).then(|| probing::start(target)).transpose()?;
        Ok(Self { book, symbols, probes })
    }

    /// Applies what has come. Returns false if the book must begin again with a snapshot.
    fn update(&self, view: &mut View) -> io::Result<bool> {
        while let Some(symbol) = self.symbols.next()? {
            view.add_symbol(symbol);
        }
        for _ in 0..LARGEST_UPDATE {
            let Some(answer) = self.book.next()? else { break };
            match view.follow(&answer) {
                Ok(()) => {}
                Err(FollowError::Gap { .. }) => return Ok(false),
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        if let Some(probes) = &self.probes {
            while let Some(probe) = probes.next()? {
                view.add_delay(probe.delay, probe.sequence);
            }
        }
        Ok(true)
    }
}
