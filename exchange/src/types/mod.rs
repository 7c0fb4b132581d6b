//! The words of the exchange: what goes in, what comes out, and their packed forms.
//!
//! [`Command`] and [`Report`] are enums, for code. [`PackedCommand`] and [`PackedReport`] are the same
//! as plain data of a fixed size, for slots of a ring, files and sockets. Unpacking checks each byte,
//! so code behind it meets valid enums only.

mod command;
mod ids;
mod memory;
mod packed_command;
mod packed_report;
mod reason;
mod report;

pub use command::{
    Authority, Cancel, Command, Deposit, Limits, NewOrder, OrderKind, Replace, Resting, SelfTrade,
    SymbolSpec,
};
pub use ids::{AccountId, OrderId, Price, Quantity, Side, SymbolId, notional};
pub use memory::{
    ACCOUNT_BYTES, DEFAULT_MEMORY, Memory, ORDER_BYTES, OutOfMemory, POSITION_BYTES, PRICE_BYTES,
    Refusal, SYMBOL_BYTES,
};
pub use packed_command::{PackedCommand, UnpackError};
pub use packed_report::PackedReport;
pub use reason::{Reason, Request};
pub use report::{Cause, Level, OrderRef, OrderState, Report, Trade};

/// The largest price, in ticks. With it, price times quantity is below 2^63.
pub const MAX_PRICE: Price = (1 << 31) - 1;
/// The largest number of prices in the band of a symbol.
pub const MAX_BAND: u32 = 1 << 24;
/// The largest number of orders that may rest in one book.
pub const MAX_ORDERS: u32 = 1 << 24;
/// Resting orders that a fill-or-kill order checks if its account has orders on the other side, unless
/// the quantities of whole levels decide.
pub const MOST_CHECKED_ORDERS: usize = 1_000;
/// The number of symbol ids: 0 to this number less 1.
pub const MAX_SYMBOLS: u32 = 1 << 16;
/// The number of account ids: 0 to this number less 1.
pub const MAX_ACCOUNTS: u32 = 1 << 22;
/// The largest sum of all deposits, and so the largest cash of an account.
pub const MAX_CASH: i64 = 1 << 62;
