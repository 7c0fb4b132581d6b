//! Why a command is rejected.

use std::fmt;

use bytemuck::{CheckedBitPattern, NoUninit};

/// The kind of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(u8)]
pub enum Request {
    /// A new order.
    New,
    /// A cancellation.
    Cancel,
    /// A replacement.
    Replace,
    /// A new symbol.
    AddSymbol,
    /// A new account.
    AddAccount,
    /// A deposit or withdrawal.
    Deposit,
    /// New limits.
    SetLimits,
    /// A new limit of the memory.
    SetMemory,
}

/// Why a command is rejected. A rejected command changes nothing, except that a new order uses up its
/// id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, CheckedBitPattern, NoUninit)]
#[repr(u8)]
pub enum Reason {
    /// The account does not exist.
    UnknownAccount,
    /// The id is not above all earlier ids of the account, as with a command that was sent twice.
    StaleOrderId,
    /// The symbol does not exist.
    UnknownSymbol,
    /// The account has no open order of this name in the book.
    UnknownOrder,
    /// The quantity is 0.
    NoQuantity,
    /// The price is outside of the symbol's band.
    PriceOutsideBand,
    /// A market order names a price.
    PriceOfMarketOrder,
    /// The quantity is above the account's limit for one order.
    OrderTooLarge,
    /// The position could pass the account's limit.
    PositionLimit,
    /// The open notional would pass the account's limit.
    NotionalLimit,
    /// The account has too little cash that no open order reserves.
    NotEnoughCash,
    /// The book has no place for one more resting order.
    BookFull,
    /// A post-only order could trade.
    WouldTrade,
    /// The id of the symbol or account is too large.
    IdTooLarge,
    /// The symbol or account exists.
    Exists,
    /// The band is empty, too wide, or has prices that are 0 or too large.
    BadBand,
    /// The number of resting orders is 0 or too large.
    BadCapacity,
    /// The amount is 0.
    NoAmount,
    /// The sum of all deposits would be too large.
    TooMuchCash,
    /// The exchange would take more memory than the operator allows.
    NoMemory,
    /// The session may not send this command. It is in no journal, and has no sequence.
    NotPermitted,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownAccount => "the account does not exist",
            Self::StaleOrderId => "the order id must be above all earlier ids of the account",
            Self::UnknownSymbol => "the symbol does not exist",
            Self::UnknownOrder => "the account has no such open order in this book",
            Self::NoQuantity => "the quantity must be at least 1",
            Self::PriceOutsideBand => "the price must be inside of the symbol's band",
            Self::PriceOfMarketOrder => "the price of a market order must be 0",
            Self::OrderTooLarge => "the quantity is above the account's limit for one order",
            Self::PositionLimit => "the position could pass the account's limit",
            Self::NotionalLimit => "the open notional would pass the account's limit",
            Self::NotEnoughCash => "the account has too little free cash",
            Self::BookFull => "the book has no place for one more order",
            Self::WouldTrade => "a post-only order must not trade",
            Self::IdTooLarge => "the id is too large",
            Self::Exists => "the id is in use",
            Self::BadBand => "the band must be 1 or more prices from 1 to 2147483647",
            Self::BadCapacity => "the number of resting orders is out of range",
            Self::NoAmount => "the amount must not be 0",
            Self::TooMuchCash => "the sum of all deposits would be too large",
            Self::NotPermitted => {
                "the session must not send this command: log in for the account, or as the operator"
            }
            Self::NoMemory => "the memory that the operator allows is used up",
        })
    }
}
