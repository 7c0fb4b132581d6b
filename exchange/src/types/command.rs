//! What clients and operators ask for.

use std::fmt;

use bytemuck::{CheckedBitPattern, NoUninit};

use super::{
    AccountId, MAX_BAND, MAX_ORDERS, MAX_PRICE, OrderId, Price, Quantity, Reason, Side, SymbolId,
};

/// One input of the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Enter an order.
    New(NewOrder),
    /// Take an open order out of the book.
    Cancel(Cancel),
    /// Change price, quantity or both of an open order.
    Replace(Replace),
    /// Open a book.
    AddSymbol(SymbolSpec),
    /// Open an account, with no cash and with limits of zero.
    AddAccount(AccountId),
    /// Add cash to an account or take some away.
    Deposit(Deposit),
    /// Set all limits of an account. Open orders stay, whatever the new limits.
    SetLimits(AccountId, Limits),
    /// Limit the memory that all books, accounts and positions may take, in MiB. What exists stays.
    SetMemory(u32),
}

/// Which sessions may send a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authority {
    /// Those of this account, and those of the operator.
    Account(AccountId),
    /// Those of the operator.
    Operator,
    /// None: the program sends it when it starts.
    Start,
}

impl Command {
    /// Returns which sessions may send the command.
    #[must_use]
    pub const fn authority(&self) -> Authority {
        match self {
            Self::New(new) => Authority::Account(new.account),
            Self::Cancel(cancel) => Authority::Account(cancel.account),
            Self::Replace(replace) => Authority::Account(replace.account),
            Self::AddSymbol(_) | Self::AddAccount(_) | Self::Deposit(_) | Self::SetLimits(..) => {
                Authority::Operator
            }
            // The start checks that the system has the memory.
            Self::SetMemory(_) => Authority::Start,
        }
    }
}

/// Writes the line of the gateway's line protocol. It has no word for the prevention of self-trades.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::New(new) => new.fmt(f),
            Self::Cancel(Cancel { account, order, symbol }) => {
                write!(f, "cancel {} {} {}", symbol.0, account.0, order.0)
            }
            Self::Replace(replace) => replace.fmt(f),
            Self::AddSymbol(SymbolSpec { symbol, lowest, highest, max_orders }) => {
                write!(f, "symbol {} {lowest} {highest} {max_orders}", symbol.0)
            }
            Self::AddAccount(account) => write!(f, "account {}", account.0),
            Self::Deposit(Deposit { account, amount }) => {
                write!(f, "deposit {amount} {}", account.0)
            }
            Self::SetLimits(account, limits) => {
                let Limits { max_order, max_long, max_short, max_open_notional } = limits;
                write!(
                    f,
                    "limits {max_order} {max_long} {max_short} {max_open_notional} {}",
                    account.0
                )
            }
            Self::SetMemory(limit) => write!(f, "memory {limit}"),
        }
    }
}

/// A new order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewOrder {
    /// The account that pays or delivers.
    pub account: AccountId,
    /// The name of the order, above all earlier ones of the account.
    pub order: OrderId,
    /// The book.
    pub symbol: SymbolId,
    /// Buy or sell.
    pub side: Side,
    /// What may happen to the order.
    pub kind: OrderKind,
    /// What happens if it meets an order of its own account.
    pub self_trade: SelfTrade,
    /// The worst acceptable price. 0 for a market order.
    pub price: Price,
    /// How much.
    pub quantity: Quantity,
}

impl fmt::Display for NewOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { account, order, symbol, side, kind, price, quantity, .. } = self;
        let side = if *side == Side::Buy { "buy" } else { "sell" };
        write!(f, "{side} {quantity} at ")?;
        match kind {
            OrderKind::Market => f.write_str("market")?,
            _ => write!(f, "{price}")?,
        }
        write!(f, " {} {} {}", symbol.0, account.0, order.0)?;
        f.write_str(match kind {
            OrderKind::Limit | OrderKind::Market => "",
            OrderKind::PostOnly => " post-only",
            OrderKind::ImmediateOrCancel => " ioc",
            OrderKind::FillOrKill => " fok",
        })
    }
}

/// What may happen to a new order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(u8)]
pub enum OrderKind {
    /// Trades what it can at its price or better. The rest enters the book.
    Limit,
    /// Enters the book, or is rejected if it could trade.
    PostOnly,
    /// Trades what it can at its price or better. The rest is cancelled.
    ImmediateOrCancel,
    /// Trades all of its quantity at its price or better, or nothing. If its account has orders on the
    /// other side, [`MOST_CHECKED_ORDERS`](super::MOST_CHECKED_ORDERS) limits how far it looks.
    FillOrKill,
    /// Immediate-or-cancel at the far edge of the symbol's price band.
    Market,
}

impl OrderKind {
    /// Whether the order may enter the book.
    #[must_use]
    pub const fn may_rest(self) -> bool {
        matches!(self, Self::Limit | Self::PostOnly)
    }
}

/// What happens if an incoming order meets a resting order of its own account. The incoming order
/// decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(u8)]
pub enum SelfTrade {
    /// What is left of the incoming order is cancelled.
    CancelNewest,
    /// The resting order is cancelled, and the incoming order goes on.
    CancelOldest,
    /// Both lose the smaller of their two quantities, without a trade.
    Decrement,
}

/// The end of an open order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancel {
    /// The account of the order.
    pub account: AccountId,
    /// The order.
    pub order: OrderId,
    /// The book.
    pub symbol: SymbolId,
}

/// New terms of an open order. Its side stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replace {
    /// The account of the order.
    pub account: AccountId,
    /// The order, which keeps its name.
    pub order: OrderId,
    /// The book.
    pub symbol: SymbolId,
    /// Whether it may trade on its way into the book.
    pub kind: Resting,
    /// What happens if it meets an order of its own account.
    pub self_trade: SelfTrade,
    /// The new price.
    pub price: Price,
    /// The new total, which includes what has traded. So a trade that happens while the command is
    /// under way never makes the account trade more than it asks for. If the total has traded, the
    /// rest is cancelled.
    pub quantity: Quantity,
}

impl fmt::Display for Replace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { account, order, symbol, kind, price, quantity, .. } = self;
        let kind = if *kind == Resting::PostOnly { " post-only" } else { "" };
        let (symbol, account, order) = (symbol.0, account.0, order.0);
        write!(f, "replace {quantity} at {price} {symbol} {account} {order}{kind}")
    }
}

/// The kinds of order that may enter the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(u8)]
pub enum Resting {
    /// It may trade first.
    Limit,
    /// The replacement is rejected if it could trade.
    PostOnly,
}

/// A symbol and the bounds of its book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolSpec {
    /// Its name.
    pub symbol: SymbolId,
    /// The lowest valid price, at least 1.
    pub lowest: Price,
    /// The highest valid price.
    pub highest: Price,
    /// How many orders may rest in the book. Their memory is set aside when the book opens.
    pub max_orders: u32,
}

impl SymbolSpec {
    /// Checks the band and the number of orders.
    ///
    /// # Errors
    ///
    /// [`Reason::BadBand`] or [`Reason::BadCapacity`]
    pub const fn check_bounds(&self) -> Result<(), Reason> {
        let is_range = self.lowest >= 1 && self.lowest <= self.highest && self.highest <= MAX_PRICE;
        if !is_range || self.highest - self.lowest >= MAX_BAND {
            return Err(Reason::BadBand);
        }
        if self.max_orders == 0 || self.max_orders > MAX_ORDERS {
            return Err(Reason::BadCapacity);
        }
        Ok(())
    }

    /// Whether an order may have this price.
    #[must_use]
    pub const fn has(&self, price: Price) -> bool {
        self.lowest <= price && price <= self.highest
    }

    /// Returns the worst price at which a market order may trade.
    #[must_use]
    pub const fn edge(&self, side: Side) -> Price {
        match side {
            Side::Buy => self.highest,
            Side::Sell => self.lowest,
        }
    }
}

/// Cash that comes or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deposit {
    /// The account.
    pub account: AccountId,
    /// The amount. A negative amount is a withdrawal.
    pub amount: i64,
}

/// What an account may do. The default is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The largest quantity of one order.
    pub max_order: Quantity,
    /// The largest long position in a symbol that the open orders could lead to, in lots.
    pub max_long: u32,
    /// The largest short position in a symbol that the open orders could lead to, in lots.
    pub max_short: u32,
    /// The largest sum of price times quantity over all open orders.
    pub max_open_notional: u64,
}

impl Limits {
    /// Limits that no order reaches.
    pub const UNLIMITED: Self = Self {
        max_order: u32::MAX,
        max_long: u32::MAX,
        max_short: u32::MAX,
        max_open_notional: u64::MAX,
    };
}
