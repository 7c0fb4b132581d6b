//! What the exchange answers and publishes.

use bytemuck::{CheckedBitPattern, NoUninit};

use super::{
    AccountId, Command, Deposit, Limits, OrderId, Price, Quantity, Reason, Request, Side, SymbolId,
    SymbolSpec,
};

/// One output of the exchange. A command yields one or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// A new order has passed all checks. `open` is its quantity.
    Accepted(OrderState),
    /// A command has been refused. `order` and `symbol` are 0 where the command has none.
    Rejected {
        /// What was asked.
        request: Request,
        /// For which account.
        account: AccountId,
        /// For which order.
        order: OrderId,
        /// In which book.
        symbol: SymbolId,
        /// Why not.
        reason: Reason,
    },
    /// Two orders have traded.
    Trade(Trade),
    /// An order has left the book, or has never entered it. `open` is the quantity that goes.
    Cancelled(OrderState, Cause),
    /// An order has new terms and has lost its time priority.
    Replaced {
        /// The order. `open` is its new open quantity.
        new: OrderState,
        /// The price that it had.
        old_price: Price,
        /// The open quantity that it had.
        old_open: Quantity,
    },
    /// An order has become smaller and has kept its time priority. `open` is the quantity that goes.
    Reduced(OrderState, Cause),
    /// The resting quantity at a price has changed.
    Level(Level),
    /// A book is open.
    SymbolAdded(SymbolSpec),
    /// An account is open.
    AccountAdded(AccountId),
    /// Cash has come or gone.
    Deposited(Deposit),
    /// Limits are set.
    LimitsSet(AccountId, Limits),
    /// The limit of the memory is set, in MiB.
    MemorySet(u32),
}

impl Report {
    /// Returns the report of a command that is refused.
    #[cold]
    #[must_use]
    pub const fn rejected(command: &Command, reason: Reason) -> Self {
        let (no_account, no_order, no_symbol) = (AccountId(0), OrderId(0), SymbolId(0));
        let (request, account, order, symbol) = match *command {
            Command::New(new) => (Request::New, new.account, new.order, new.symbol),
            Command::Cancel(old) => (Request::Cancel, old.account, old.order, old.symbol),
            Command::Replace(new) => (Request::Replace, new.account, new.order, new.symbol),
            Command::AddSymbol(spec) => (Request::AddSymbol, no_account, no_order, spec.symbol),
            Command::AddAccount(account) => (Request::AddAccount, account, no_order, no_symbol),
            Command::Deposit(deposit) => (Request::Deposit, deposit.account, no_order, no_symbol),
            Command::SetLimits(account, _) => (Request::SetLimits, account, no_order, no_symbol),
            Command::SetMemory(_) => (Request::SetMemory, no_account, no_order, no_symbol),
        };
        Self::Rejected { request, account, order, symbol, reason }
    }
}

/// An order at the time of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderState {
    /// The order and its account.
    pub id: OrderRef,
    /// The book.
    pub symbol: SymbolId,
    /// Buy or sell.
    pub side: Side,
    /// The limit. For a market order it is the far edge of the band.
    pub price: Price,
    /// A quantity: see the report.
    pub open: Quantity,
}

/// The name of an order among those of all accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderRef {
    /// The account.
    pub account: AccountId,
    /// The order of that account.
    pub order: OrderId,
}

/// A trade. Its price is the limit of the maker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trade {
    /// The book.
    pub symbol: SymbolId,
    /// The resting order.
    pub maker: OrderRef,
    /// The incoming order.
    pub taker: OrderRef,
    /// The side of the incoming order.
    pub taker_side: Side,
    /// The price.
    pub price: Price,
    /// How much has changed hands.
    pub quantity: Quantity,
    /// What remains open of the maker's order.
    pub maker_open: Quantity,
    /// What remains open of the taker's order.
    pub taker_open: Quantity,
    /// The limit at which risk has reserved for the taker. Not for the other party.
    pub taker_limit: Price,
}

/// Why an order is cancelled or reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(u8)]
pub enum Cause {
    /// Its account asks for it.
    Requested,
    /// An immediate order has found no more that it may trade with.
    Unfilled,
    /// It has met an order of its own account.
    SelfTrade,
}

/// What rests at one price. A quantity of 0 means that the level is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The book.
    pub symbol: SymbolId,
    /// Bids or asks.
    pub side: Side,
    /// The price.
    pub price: Price,
    /// The sum of the open quantities.
    pub quantity: u64,
    /// The number of orders.
    pub orders: u32,
}
