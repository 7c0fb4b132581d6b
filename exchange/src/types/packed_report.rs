//! A report as 56 bytes of plain data.
//!
//! The fields have the meanings that their names say in a trade. Other reports use some of them. A
//! field without a meaning is 0, so each report has one packed form.

use bytemuck::{Pod, Zeroable};

use super::packed_command::field;
use super::{
    AccountId, Cause, Deposit, Level, Limits, OrderId, OrderRef, OrderState, Report, SymbolId,
    SymbolSpec, Trade, UnpackError,
};

const ACCEPTED: u8 = 0;
const REJECTED: u8 = 1;
const TRADE: u8 = 2;
const CANCELLED: u8 = 3;
const REPLACED: u8 = 4;
const REDUCED: u8 = 5;
const LEVEL: u8 = 6;
const SYMBOL_ADDED: u8 = 7;
const ACCOUNT_ADDED: u8 = 8;
const DEPOSITED: u8 = 9;
const LIMITS_SET: u8 = 10;
const MEMORY_SET: u8 = 11;

/// A [`Report`] as plain data. Any 56 bytes are one; [`unpack`](Self::unpack) says whether they mean
/// something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PackedReport {
    kind: u8,
    side: u8,
    /// The reason of a rejection; the cause of a cancellation or reduction.
    why: u8,
    request: u8,
    symbol: u32,
    /// The account of the order, in a trade of the taker.
    account: u32,
    price: u32,
    /// The order, in a trade of the taker. The quantity of a level, an amount, the open notional.
    number: u64,
    /// The number of orders of a level or book; the limit for one order; that of
    /// the memory.
    quantity: u32,
    maker_account: u32,
    maker_order: u64,
    /// In a replacement the old quantity; the longest position.
    open: u32,
    /// The shortest position.
    maker_open: u32,
    /// In a replacement the old price; the highest price of a symbol.
    limit: u32,
    /// Always 0.
    unused: u32,
}

impl From<&Report> for PackedReport {
    #[inline]
    fn from(report: &Report) -> Self {
        match *report {
            Report::Accepted(order) => Self::order(ACCEPTED, &order),
            Report::Rejected { request, account, order, symbol, reason } => Self {
                request: request as u8,
                account: account.0,
                number: order.0,
                symbol: symbol.0,
                why: reason as u8,
                ..Self::empty(REJECTED)
            },
            Report::Trade(trade) => Self::trade(&trade),
            Report::Cancelled(order, cause) => {
                Self { why: cause as u8, ..Self::order(CANCELLED, &order) }
            }
            Report::Replaced { new, old_price, old_open } => {
                Self { limit: old_price, open: old_open, ..Self::order(REPLACED, &new) }
            }
            Report::Reduced(order, cause) => {
                Self { why: cause as u8, ..Self::order(REDUCED, &order) }
            }
            Report::Level(level) => Self::level(&level),
            Report::SymbolAdded(spec) => Self {
                symbol: spec.symbol.0,
                price: spec.lowest,
                limit: spec.highest,
                quantity: spec.max_orders,
                ..Self::empty(SYMBOL_ADDED)
            },
            Report::AccountAdded(account) => {
                Self { account: account.0, ..Self::empty(ACCOUNT_ADDED) }
            }
            Report::Deposited(Deposit { account, amount }) => Self {
                account: account.0,
                number: amount.cast_unsigned(),
                ..Self::empty(DEPOSITED)
            },
            Report::LimitsSet(account, limits) => Self::limits(account, &limits),
            Report::MemorySet(limit) => Self { quantity: limit, ..Self::empty(MEMORY_SET) },
        }
    }
}

impl PackedReport {
    /// Returns the report that the bytes mean.
    ///
    /// # Errors
    ///
    /// [`UnpackError`] names the first field without a valid value.
    pub fn unpack(&self) -> Result<Report, UnpackError> {
        let account = AccountId(self.account);
        let report = match self.kind {
            ACCEPTED => Report::Accepted(self.unpack_order()?),
            REJECTED => Report::Rejected {
                request: field("request", self.request)?,
                account,
                order: OrderId(self.number),
                symbol: SymbolId(self.symbol),
                reason: field("reason", self.why)?,
            },
            TRADE => Report::Trade(self.unpack_trade()?),
            CANCELLED => Report::Cancelled(self.unpack_order()?, self.cause()?),
            REPLACED => Report::Replaced {
                new: self.unpack_order()?,
                old_price: self.limit,
                old_open: self.open,
            },
            REDUCED => Report::Reduced(self.unpack_order()?, self.cause()?),
            LEVEL => Report::Level(self.unpack_level()?),
            SYMBOL_ADDED => Report::SymbolAdded(self.unpack_spec()),
            ACCOUNT_ADDED => Report::AccountAdded(account),
            DEPOSITED => Report::Deposited(Deposit { account, amount: self.number.cast_signed() }),
            LIMITS_SET => Report::LimitsSet(account, self.unpack_limits()),
            MEMORY_SET => Report::MemorySet(self.quantity),
            found => return Err(UnpackError::Field { name: "kind", found }),
        };
        if Self::from(&report) == *self { Ok(report) } else { Err(UnpackError::NotZero) }
    }

    fn empty(kind: u8) -> Self {
        Self { kind, ..Self::zeroed() }
    }

    fn order(kind: u8, order: &OrderState) -> Self {
        Self {
            side: order.side as u8,
            symbol: order.symbol.0,
            account: order.id.account.0,
            number: order.id.order.0,
            price: order.price,
            quantity: order.open,
            ..Self::empty(kind)
        }
    }

    fn trade(trade: &Trade) -> Self {
        Self {
            side: trade.taker_side as u8,
            symbol: trade.symbol.0,
            account: trade.taker.account.0,
            price: trade.price,
            number: trade.taker.order.0,
            quantity: trade.quantity,
            maker_account: trade.maker.account.0,
            maker_order: trade.maker.order.0,
            open: trade.taker_open,
            maker_open: trade.maker_open,
            limit: trade.taker_limit,
            ..Self::empty(TRADE)
        }
    }

    fn level(level: &Level) -> Self {
        Self {
            side: level.side as u8,
            symbol: level.symbol.0,
            price: level.price,
            number: level.quantity,
            quantity: level.orders,
            ..Self::empty(LEVEL)
        }
    }

    fn limits(account: AccountId, limits: &Limits) -> Self {
        Self {
            account: account.0,
            number: limits.max_open_notional,
            quantity: limits.max_order,
            open: limits.max_long,
            maker_open: limits.max_short,
            ..Self::empty(LIMITS_SET)
        }
    }

    fn cause(&self) -> Result<Cause, UnpackError> {
        field("cause", self.why)
    }

    fn unpack_order(&self) -> Result<OrderState, UnpackError> {
        Ok(OrderState {
            id: OrderRef { account: AccountId(self.account), order: OrderId(self.number) },
            symbol: SymbolId(self.symbol),
            side: field("side", self.side)?,
            price: self.price,
            open: self.quantity,
        })
    }

    fn unpack_trade(&self) -> Result<Trade, UnpackError> {
        let maker_account = AccountId(self.maker_account);
        Ok(Trade {
            symbol: SymbolId(self.symbol),
            maker: OrderRef { account: maker_account, order: OrderId(self.maker_order) },
            taker: OrderRef { account: AccountId(self.account), order: OrderId(self.number) },
            taker_side: field("side", self.side)?,
            price: self.price,
            quantity: self.quantity,
            maker_open: self.maker_open,
            taker_open: self.open,
            taker_limit: self.limit,
        })
    }

    fn unpack_level(&self) -> Result<Level, UnpackError> {
        Ok(Level {
            symbol: SymbolId(self.symbol),
            side: field("side", self.side)?,
            price: self.price,
            quantity: self.number,
            orders: self.quantity,
        })
    }

    fn unpack_spec(&self) -> SymbolSpec {
        SymbolSpec {
            symbol: SymbolId(self.symbol),
            lowest: self.price,
            highest: self.limit,
            max_orders: self.quantity,
        }
    }

    fn unpack_limits(&self) -> Limits {
        Limits {
            max_order: self.quantity,
            max_long: self.open,
            max_short: self.maker_open,
            max_open_notional: self.number,
        }
    }
}
