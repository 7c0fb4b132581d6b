//! What `exchange watch` shows, without a terminal and without a socket.
//!
//! - [`View`]: records go in, and the time.
//! - [`Screen`]: a view as cells of a terminal, or as text.

mod delays;
mod rates;
mod screen;

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use crate::gateway::wire::Answer;
use crate::market::{FollowError, Follower, Update};
use crate::types::{SymbolId, Trade};

pub use self::delays::Delays;
pub use self::rates::{Counts, Rates};
pub use self::screen::Screen;

/// Trades that are kept. No terminal has more lines.
const MOST_TRADES: usize = 500;

/// All that is known of an exchange, with one symbol selected.
#[derive(Clone, Debug)]
pub struct View {
    address: String,
    symbols: BTreeSet<SymbolId>,
    follower: Follower,
    /// The last one first.
    trades: VecDeque<Trade>,
    counts: Counts,
    rates: Rates,
    delays: Delays,
    gaps: u64,
    /// Why there is no connection.
    loss: Option<String>,
}

impl View {
    /// Creates a view that knows nothing yet.
    #[must_use]
    pub fn new(address: String, symbol: SymbolId) -> Self {
        Self {
            address,
            symbols: BTreeSet::new(),
            follower: Follower::new(symbol),
            trades: VecDeque::new(),
            counts: Counts::default(),
            rates: Rates::default(),
            delays: Delays::default(),
            gaps: 0,
            loss: None,
        }
    }

    /// Returns the book of the selected symbol.
    #[must_use]
    pub fn follower(&self) -> &Follower {
        &self.follower
    }

    /// Returns the delays of the probes.
    #[must_use]
    pub fn delays(&self) -> &Delays {
        &self.delays
    }

    /// Returns how often changes were missing.
    #[must_use]
    pub fn gaps(&self) -> u64 {
        self.gaps
    }

    /// Returns why there is no connection.
    #[must_use]
    pub fn loss(&self) -> Option<&str> {
        self.loss.as_deref()
    }

    /// Applies a record of the market data of the selected symbol.
    ///
    /// # Errors
    ///
    /// [`FollowError`] if it does not continue the book. [`select`](Self::select) begins again.
    pub fn follow(&mut self, answer: &Answer) -> Result<(), FollowError> {
        let update = self.follower.follow(answer).inspect_err(|error| {
            self.gaps += u64::from(matches!(error, FollowError::Gap { .. }));
        })?;
        self.see_command(answer.sequence);
        match update {
            Update::Snapshot => {}
            Update::Level(_) => self.counts.changes += 1,
            Update::Trade(trade) => {
                self.counts.trades += 1;
                self.trades.truncate(MOST_TRADES - 1);
                self.trades.push_front(trade);
            }
        }
        Ok(())
    }

    /// Notes that the exchange has this symbol.
    pub fn add_symbol(&mut self, symbol: SymbolId) {
        self.symbols.insert(symbol);
    }

    /// Notes how long the exchange took to answer a probe, and the number of its command.
    pub fn add_delay(&mut self, delay: Duration, sequence: u64) {
        self.delays.add(delay);
        self.see_command(sequence);
    }

    /// Notes the time since the start. Rates follow from it.
    pub fn tick(&mut self, now: Duration) {
        self.rates.tick(now, self.counts);
    }

    /// Begins with the snapshot of a symbol: of another one, or again of the same.
    pub fn select(&mut self, symbol: SymbolId) {
        if symbol != self.follower.symbol() {
            self.trades.clear();
            self.rates = Rates::default();
        }
        self.follower = Follower::new(symbol);
        self.loss = None;
    }

    /// Notes that the connection is lost. The view stays as it was.
    pub fn lose(&mut self, reason: String) {
        self.loss = Some(reason);
    }

    /// Returns the symbol before the selected one; before the first one the last one.
    #[must_use]
    pub fn previous_symbol(&self) -> Option<SymbolId> {
        let before = self.symbols.range(..self.follower.symbol()).next_back();
        before.or(self.symbols.last()).copied()
    }

    /// Returns the symbol after the selected one; after the last one the first one.
    #[must_use]
    pub fn next_symbol(&self) -> Option<SymbolId> {
        let mut after = self.symbols.iter().filter(|&&symbol| symbol > self.follower.symbol());
        after.next().or(self.symbols.first()).copied()
    }

    fn see_command(&mut self, sequence: u64) {
        self.counts.commands = self.counts.commands.max(sequence + 1);
    }
}

#[cfg(test)]
mod tests;
