//! The whole state in a canonical form: equal states are equal values, however they were reached.
//!
//! Slab positions, free lists and hash seeds are not part of it. What follows from the orders, such as
//! reserved cash, is a part of it, so that a state in which the two disagree is seen.

mod check;
mod snapshot;

use crate::types::{
    AccountId, DEFAULT_MEMORY, Limits, OrderId, OrderRef, Price, Quantity, Side, SymbolId,
    SymbolSpec,
};

pub use check::StateError;
pub use snapshot::SnapshotError;

/// The state after a number of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The number of commands that have led to this state.
    pub commands: u64,
    /// The limit of the memory, in MiB.
    pub memory: u32,
    /// The books, by ascending symbol.
    pub books: Vec<BookState>,
    /// The accounts, by ascending id.
    pub accounts: Vec<AccountState>,
}

impl Default for State {
    fn default() -> Self {
        Self { commands: 0, memory: DEFAULT_MEMORY, books: Vec::new(), accounts: Vec::new() }
    }
}

/// A book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookState {
    /// The symbol and its bounds.
    pub spec: SymbolSpec,
    /// The bids in the order in which they trade.
    pub bids: Vec<RestingOrder>,
    /// The asks in the order in which they trade.
    pub asks: Vec<RestingOrder>,
}

impl BookState {
    /// Returns all orders with their sides, those of a side in the order in which they trade.
    pub fn orders(&self) -> impl Iterator<Item = (Side, &RestingOrder)> {
        let bids = self.bids.iter().map(|order| (Side::Buy, order));
        bids.chain(self.asks.iter().map(|order| (Side::Sell, order)))
    }
}

/// An order in a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestingOrder {
    /// The order and its account.
    pub id: OrderRef,
    /// The limit.
    pub price: Price,
    /// What may still trade, at least 1.
    pub open: Quantity,
    /// What has traded.
    pub filled: Quantity,
}

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountState {
    /// The account.
    pub id: AccountId,
    /// All cash, reserved or free.
    pub cash: i64,
    /// The cash that open buy orders reserve.
    pub reserved: u64,
    /// The sum of price times quantity over all open orders.
    pub open_notional: u64,
    /// The last used order id, 0 before the first.
    pub last_order: OrderId,
    /// What the account may do.
    pub limits: Limits,
    /// The positions by ascending symbol. One without lots and open orders is left out.
    pub positions: Vec<PositionState>,
}

/// What an account has of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositionState {
    /// The symbol.
    pub symbol: SymbolId,
    /// Lots: positive is long, negative is short.
    pub lots: i64,
    /// The sum of the open quantities of buy orders.
    pub open_buy: u64,
    /// The sum of the open quantities of sell orders.
    pub open_sell: u64,
}

impl PositionState {
    /// Returns a position without lots and open orders.
    #[must_use]
    pub const fn empty(symbol: SymbolId) -> Self {
        Self { symbol, lots: 0, open_buy: 0, open_sell: 0 }
    }

    /// Returns the sum of the open quantities of a side.
    pub const fn open_mut(&mut self, side: Side) -> &mut u64 {
        match side {
            Side::Buy => &mut self.open_buy,
            Side::Sell => &mut self.open_sell,
        }
    }

    /// Whether there are lots or open orders.
    #[must_use]
    pub const fn is_used(&self) -> bool {
        self.lots != 0 || self.open_buy != 0 || self.open_sell != 0
    }
}
