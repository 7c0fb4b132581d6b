//! The book of a symbol, rebuilt from a session of market data.

use std::error::Error;
use std::fmt;

use super::Levels;
use crate::gateway::wire::Answer;
use crate::types::{Level, Report, SymbolId, SymbolSpec, Trade, UnpackError};

/// Rebuilds the book of one symbol from a snapshot and the changes after it.
#[derive(Clone, Debug)]
pub struct Follower {
    symbol: SymbolId,
    terms: Option<SymbolSpec>,
    levels: Levels,
    /// The number of the last change that the levels contain.
    number: u64,
    is_complete: bool,
}

/// What a record of market data was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// A part of the snapshot.
    Snapshot,
    /// The change of a level.
    Level(Level),
    /// A trade.
    Trade(Trade),
}

/// Why a record does not continue the book. A new subscription begins with a new snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FollowError {
    /// Changes are missing, or came twice.
    Gap {
        /// The number of the next change.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// The bytes are not a report.
    Unpack(UnpackError),
    /// The report has no place in the market data of this symbol.
    Misplaced,
}

impl Follower {
    /// Creates a follower that waits for the snapshot of `symbol`.
    #[must_use]
    pub fn new(symbol: SymbolId) -> Self {
        Self { symbol, terms: None, levels: Levels::default(), number: 0, is_complete: false }
    }

    /// Returns the symbol.
    #[must_use]
    pub fn symbol(&self) -> SymbolId {
        self.symbol
    }

    /// Returns the bounds of the book; `None` until the symbol exists.
    #[must_use]
    pub fn terms(&self) -> Option<&SymbolSpec> {
        self.terms.as_ref()
    }

    /// Returns the levels. They are those of the exchange once the snapshot is complete.
    #[must_use]
    pub fn levels(&self) -> &Levels {
        &self.levels
    }

    /// Whether all of the snapshot has come.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Applies the next record.
    ///
    /// # Errors
    ///
    /// [`FollowError`] if the record does not continue the book. The levels then stay as they were.
    pub fn follow(&mut self, answer: &Answer) -> Result<Update, FollowError> {
        let report = answer.report.unpack().map_err(FollowError::Unpack)?;
        if !self.is_complete {
            return self.fill(answer, &report);
        }
        let (expected, found) = (self.number + 1, answer.tag);
        if found != expected {
            return Err(FollowError::Gap { expected, found });
        }
        let update = match report {
            Report::Level(level) if level.symbol == self.symbol => {
                self.levels.set(level);
                Update::Level(level)
            }
            Report::Trade(trade) if trade.symbol == self.symbol => Update::Trade(trade),
            _ => return Err(FollowError::Misplaced),
        };
        self.number = found;
        Ok(update)
    }

    /// Applies a record of the snapshot: the bounds of the book, then its levels.
    fn fill(&mut self, answer: &Answer, report: &Report) -> Result<Update, FollowError> {
        match (self.terms, report) {
            (None, Report::SymbolAdded(terms)) if terms.symbol == self.symbol => {
                (self.terms, self.number) = (Some(*terms), answer.tag);
            }
            (Some(_), Report::Level(level)) if level.symbol == self.symbol => {
                if answer.tag != self.number {
                    let (expected, found) = (self.number, answer.tag);
                    return Err(FollowError::Gap { expected, found });
                }
                self.levels.set(*level);
            }
            _ => return Err(FollowError::Misplaced),
        }
        self.is_complete = answer.is_last == 1;
        Ok(Update::Snapshot)
    }
}

impl fmt::Display for FollowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gap { expected, found } => {
                write!(f, "changes are missing: expected={expected}, found={found}")
            }
            Self::Unpack(error) => error.fmt(f),
            Self::Misplaced => f.write_str("a report has no place in this market data"),
        }
    }
}

impl Error for FollowError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{AccountId, OrderId, OrderRef, PackedReport, Side};

    const SYMBOL: SymbolId = SymbolId(3);
    const TERMS: SymbolSpec = SymbolSpec { symbol: SYMBOL, lowest: 1, highest: 99, max_orders: 10 };

    fn level(side: Side, price: u32, quantity: u64) -> Level {
        let orders = u32::from(quantity > 0);
        Level { symbol: SYMBOL, side, price, quantity, orders }
    }

    fn trade() -> Trade {
        let nobody = OrderRef { account: AccountId(0), order: OrderId(0) };
        Trade {
            symbol: SYMBOL,
            maker: nobody,
            taker: nobody,
            taker_side: Side::Buy,
            price: 50,
            quantity: 2,
            maker_open: 0,
            taker_open: 0,
            taker_limit: 0,
        }
    }

    fn record(tag: u64, is_last: u64, report: &Report) -> Answer {
        Answer { tag, sequence: 0, is_last, report: PackedReport::from(report) }
    }

    /// A follower after a snapshot of change 7, with an ask of 5 at 50.
    fn follower() -> Follower {
        let mut follower = Follower::new(SYMBOL);
        follower.follow(&record(7, 0, &Report::SymbolAdded(TERMS))).unwrap();
        assert!(!follower.is_complete());
        let ask = Report::Level(level(Side::Sell, 50, 5));
        assert_eq!(follower.follow(&record(7, 1, &ask)), Ok(Update::Snapshot));
        assert!(follower.is_complete());
        follower
    }

    #[test]
    fn a_snapshot_and_changes_make_the_book() {
        let mut follower = follower();
        let (bid, less) = (level(Side::Buy, 49, 4), level(Side::Sell, 50, 3));
        assert_eq!(follower.follow(&record(8, 0, &Report::Level(bid))), Ok(Update::Level(bid)));
        let traded = follower.follow(&record(9, 0, &Report::Trade(trade())));
        assert_eq!(traded, Ok(Update::Trade(trade())));
        follower.follow(&record(10, 0, &Report::Level(less))).unwrap();
        assert!(follower.levels().bids().eq([&bid]));
        assert!(follower.levels().asks().eq([&less]));
        follower.follow(&record(11, 0, &Report::Level(level(Side::Sell, 50, 0)))).unwrap();
        assert_eq!(follower.levels().asks().count(), 0);
    }

    #[test]
    fn the_snapshot_of_an_empty_book_is_complete() {
        let mut follower = Follower::new(SYMBOL);
        follower.follow(&record(1, 1, &Report::SymbolAdded(TERMS))).unwrap();
        assert!(follower.is_complete());
        assert_eq!(follower.terms(), Some(&TERMS));
    }

    #[test]
    fn a_missing_or_repeated_change_is_an_error_and_changes_nothing() {
        for found in [7, 9] {
            let mut follower = follower();
            let before = follower.levels().clone();
            let gone = Report::Level(level(Side::Sell, 50, 0));
            let error = follower.follow(&record(found, 0, &gone)).unwrap_err();
            assert_eq!(error, FollowError::Gap { expected: 8, found });
            assert_eq!(*follower.levels(), before);
            let text = format!("changes are missing: expected=8, found={found}");
            assert_eq!(error.to_string(), text);
        }
    }

    #[test]
    fn reports_of_other_symbols_and_kinds_are_errors() {
        let other = Level { symbol: SymbolId(4), ..level(Side::Buy, 1, 1) };
        let account = Report::AccountAdded(AccountId(1));
        for report in [Report::Level(other), account, Report::SymbolAdded(TERMS)] {
            let error = follower().follow(&record(8, 0, &report)).unwrap_err();
            assert_eq!(error, FollowError::Misplaced, "{report:?}");
        }
        // A level before the bounds of the book.
        let early = Report::Level(level(Side::Buy, 1, 1));
        let error = Follower::new(SYMBOL).follow(&record(1, 0, &early)).unwrap_err();
        assert_eq!(error, FollowError::Misplaced);
    }
}
