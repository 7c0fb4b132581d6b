//! What commands take of the memory that the operator allows.
//!
//! The numbers are rules and not measurements: leader, follower and replay must refuse the same
//! commands, whatever the system has. They include the tables and their copies for snapshots, but no
//! queues and no market data.

use std::error::Error;
use std::fmt;

use super::{Reason, SymbolId, SymbolSpec};

/// A book, without its prices and orders.
pub const SYMBOL_BYTES: u64 = 4096;
/// A price of a band.
pub const PRICE_BYTES: u64 = 32;
/// A place for a resting order.
pub const ORDER_BYTES: u64 = 192;
/// An account, without its positions.
pub const ACCOUNT_BYTES: u64 = 512;
/// A position of an account, with or without lots.
pub const POSITION_BYTES: u64 = 256;

/// The limit of an exchange whose operator has set none, in MiB.
pub const DEFAULT_MEMORY: u32 = 1024;

impl SymbolSpec {
    /// Returns the bytes that the book takes, whatever its orders are.
    ///
    /// ```
    /// use exchange::types::{SymbolId, SymbolSpec};
    ///
    /// let spec = SymbolSpec { symbol: SymbolId(0), lowest: 11, highest: 20, max_orders: 5 };
    /// assert_eq!(spec.memory(), 4096 + 10 * 32 + 5 * 192);
    /// ```
    #[must_use]
    pub const fn memory(&self) -> u64 {
        let prices = (self.highest - self.lowest + 1) as u64;
        SYMBOL_BYTES + prices * PRICE_BYTES + self.max_orders as u64 * ORDER_BYTES
    }
}

/// The memory that all books, accounts and positions take, and its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// In MiB.
    limit: u32,
    used: u64,
}

impl Default for Memory {
    fn default() -> Self {
        Self::new(DEFAULT_MEMORY)
    }
}

impl Memory {
    /// Returns a memory of which nothing is used. The limit is in MiB.
    #[must_use]
    pub const fn new(limit: u32) -> Self {
        Self { limit, used: 0 }
    }

    /// Returns the limit, in MiB.
    #[must_use]
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// Sets the limit. It may be below what is used: then nothing more is added.
    pub const fn set_limit(&mut self, limit: u32) {
        self.limit = limit;
    }

    /// Returns the bytes that may still be used.
    #[must_use]
    pub const fn rest(&self) -> u64 {
        ((self.limit as u64) << 20).saturating_sub(self.used)
    }

    /// Checks whether so many bytes may be used.
    ///
    /// # Errors
    ///
    /// [`Reason::NoMemory`]
    pub const fn check(&self, bytes: u64) -> Result<(), Reason> {
        if bytes <= self.rest() { Ok(()) } else { Err(Reason::NoMemory) }
    }

    /// Counts what is used from now on.
    pub const fn take(&mut self, bytes: u64) {
        self.used += bytes;
    }

    /// Counts what is free again.
    pub const fn give_back(&mut self, bytes: u64) {
        self.used -= bytes;
    }
}

/// The system does not give memory that the operator allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutOfMemory {
    /// For the book of this symbol.
    Book(SymbolId),
    /// For the table of accounts.
    Accounts,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Book(symbol) => {
                write!(f, "the system has no memory for the book: symbol={}", symbol.0)
            }
            Self::Accounts => f.write_str("the system has no memory for the accounts"),
        }
    }
}

impl Error for OutOfMemory {}

/// Why a command is not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A rule of the exchange.
    Rule(Reason),
    /// The system.
    System(OutOfMemory),
}

crate::errors::from! {
    Refusal:
    Reason => Rule,
    OutOfMemory => System,
}
