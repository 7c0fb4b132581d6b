//! The binary protocol: fixed records of little-endian numbers, without padding.
//!
//! A client connects and sends a [`Hello`]. What follows depends on its `kind`:
//!
//! | kind | the client sends | the server sends |
//! |---|---|---|
//! | [`ORDERS`] | [`Order`]s, 40 bytes each | [`Answer`]s, 80 bytes each |
//! | [`MARKET_DATA`] | nothing | a snapshot, then changes: [`Answer`]s with tag 0 |
//!
//! Each command has one or more answers. The last one has `is_last` 1. A session also gets the trades
//! of its accounts that the commands of others caused, with their sequences and tag 0.
//!
//! The server closes a session that sends bytes without a meaning, and one that does not read its
//! answers. The first 4 bytes of a hello are no text, and any other first bytes begin a session of
//! the [line protocol](super::text).

use bytemuck::{Pod, Zeroable};

use crate::types::{PackedCommand, PackedReport};

/// The first bytes of a binary session.
pub const MAGIC: [u8; 4] = *b"\0LWX";
/// The version of the protocol.
pub const VERSION: u16 = 1;
/// A session that sends commands.
pub const ORDERS: u16 = 1;
/// A session that gets the levels and trades of one symbol.
pub const MARKET_DATA: u16 = 2;

/// The first record of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Hello {
    /// [`MAGIC`].
    pub magic: [u8; 4],
    /// [`VERSION`].
    pub version: u16,
    /// [`ORDERS`] or [`MARKET_DATA`].
    pub kind: u16,
    /// The symbol of a session of market data, otherwise 0.
    pub symbol: u32,
    /// Always 0.
    pub unused: u32,
}

impl Hello {
    /// Returns the hello of a session that sends commands.
    #[must_use]
    pub const fn orders() -> Self {
        Self { magic: MAGIC, version: VERSION, kind: ORDERS, symbol: 0, unused: 0 }
    }

    /// Returns the hello of a session that gets the levels and trades of `symbol`.
    #[must_use]
    pub const fn market_data(symbol: u32) -> Self {
        Self { magic: MAGIC, version: VERSION, kind: MARKET_DATA, symbol, unused: 0 }
    }
}

/// A command of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Order {
    /// A number of the client's choice, not 0. It comes back with each answer.
    pub tag: u64,
    /// The command.
    pub command: PackedCommand,
}

/// A report of the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Answer {
    /// The tag of the command, or 0.
    pub tag: u64,
    /// The number of the command among all commands of the exchange.
    pub sequence: u64,
    /// 1 in the last answer to the command of this tag.
    pub is_last: u64,
    /// The report.
    pub report: PackedReport,
}
