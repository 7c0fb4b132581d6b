//! The binary protocol: fixed records of little-endian numbers, without padding.
//!
//! A client connects and sends a [`Hello`]. What follows depends on its `kind`:
//!
//! | kind | the client sends | the server sends |
//! |---|---|---|
//! | [`ORDERS`] | [`Order`]s, 40 bytes each | [`Answer`]s, 80 bytes each |
//! | [`MARKET_DATA`] | nothing | the snapshot of a symbol, then each change: [`Answer`]s |
//! | [`SYMBOLS`] | nothing | all symbols, then each new one: [`Answer`]s with tag 0 |
//!
//! Each command has one or more answers. The last one has `is_last` 1. A session also gets the trades
//! of its accounts that the commands of others caused, with their sequences and tag 0.
//!
//! In market data the tag counts the changes of the symbol since the exchange has started. A snapshot
//! begins with `SymbolAdded`, its levels follow, and the last record has `is_last` 1. Each of its
//! records has the number of the last change that it contains, and the sequence of the last command
//! before it. The changes after it have the next numbers, so a client notices a gap. A snapshot may be
//! one that an earlier client got, at most 1,000 changes ago. A symbol that does not exist has a
//! snapshot once it is added.
//! [`Follower`](crate::market::Follower) is a client of it.
//!
//! The server ends a session that sends bytes without a meaning, once it has answered the commands
//! before them. It also ends one that does not read its answers, or sends nothing for too long. Its
//! last bytes then say why: a line of text that begins with `error: ` and is shorter than a record.
//! A client that is not served gets such a line too, in place of answers.
//!
//! [`Order::HEARTBEAT`] shows that a client is alive. The server answers it at once with
//! [`Answer::HEARTBEAT`], which overtakes answers that wait for a disk.
//!
//! The first 4 bytes of a hello are no text, and any other first bytes begin a session of the
//! [line protocol](super::text).

use bytemuck::{Pod, Zeroable};

use super::secrets::{Actor, Login, SECRET_BYTES, Secret};
use crate::types::{AccountId, PackedCommand, PackedReport};

/// The first bytes of a binary session.
pub const MAGIC: [u8; 4] = *b"\0LWX";
/// The version of the protocol.
pub const VERSION: u16 = 2;
/// A session that sends commands.
pub const ORDERS: u16 = 1;
/// A session that gets the levels and trades of one symbol.
pub const MARKET_DATA: u16 = 2;
/// A session that learns which symbols there are.
pub const SYMBOLS: u16 = 3;
/// An option of a session that sends commands: when it ends, its open orders are cancelled.
pub const CANCEL_ON_DISCONNECT: u32 = 1;
/// An option of a session that sends commands: a [`Credentials`] follows the hello.
pub const LOG_IN: u32 = 2;
/// The account of the operator's [`Credentials`].
pub const OPERATOR: u32 = u32::MAX;

/// The first record of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Hello {
    /// [`MAGIC`].
    pub magic: [u8; 4],
    /// [`VERSION`].
    pub version: u16,
    /// [`ORDERS`], [`MARKET_DATA`] or [`SYMBOLS`].
    pub kind: u16,
    /// The symbol of a session of market data, otherwise 0.
    pub symbol: u32,
    /// [`CANCEL_ON_DISCONNECT`], [`LOG_IN`], both added, or 0. 0 in a session of market data.
    pub options: u32,
}

impl Hello {
    /// Returns the hello of a session that sends commands.
    #[must_use]
    pub const fn orders() -> Self {
        Self::new(ORDERS, 0)
    }

    /// Returns the hello of a session that gets the levels and trades of `symbol`.
    #[must_use]
    pub const fn market_data(symbol: u32) -> Self {
        Self::new(MARKET_DATA, symbol)
    }

    /// Returns the hello of a session that learns which symbols there are.
    #[must_use]
    pub const fn symbols() -> Self {
        Self::new(SYMBOLS, 0)
    }

    /// Asks that the open orders of the session are cancelled when its connection ends, however it
    /// ends. A crash of the exchange leaves them.
    #[must_use]
    pub const fn cancel_on_disconnect(self) -> Self {
        Self { options: self.options | CANCEL_ON_DISCONNECT, ..self }
    }

    /// Says that [`Credentials`] follow.
    #[must_use]
    pub const fn log_in(self) -> Self {
        Self { options: self.options | LOG_IN, ..self }
    }

    const fn new(kind: u16, symbol: u32) -> Self {
        Self { magic: MAGIC, version: VERSION, kind, symbol, options: 0 }
    }
}

/// What a client logs in with, after a hello with [`LOG_IN`]. An exchange that has secrets needs it.
/// There is no answer, unless the login is wrong: then the session ends with a line of text.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Credentials {
    /// The account, or [`OPERATOR`].
    pub account: u32,
    /// Always 0.
    pub unused: u32,
    /// The secret.
    pub secret: [u8; SECRET_BYTES],
}

impl From<&Login> for Credentials {
    fn from(login: &Login) -> Self {
        let account = match login.actor {
            Actor::Operator => OPERATOR,
            Actor::Account(account) => account.0,
        };
        Self { account, unused: 0, secret: login.secret.0 }
    }
}

impl From<&Credentials> for Login {
    fn from(credentials: &Credentials) -> Self {
        let actor = match credentials.account {
            OPERATOR => Actor::Operator,
            account => Actor::Account(AccountId(account)),
        };
        Self { actor, secret: Secret(credentials.secret) }
    }
}

/// A command of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Order {
    /// A number of the client's choice, not 0, which ends the session. It comes back with each
    /// answer.
    pub tag: u64,
    /// The command.
    pub command: PackedCommand,
}

impl Order {
    /// No command: the client is alive. All bytes are 0.
    pub const HEARTBEAT: Self = bytemuck::zeroed();
}

/// A report of the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Answer {
    /// The tag of the command, or 0. In market data the number of the change.
    pub tag: u64,
    /// The number of the command among all commands of the exchange. 0 if the session must not send
    /// the command, which then is no command of the exchange.
    pub sequence: u64,
    /// 1 in the last answer to the command of this tag, and in the last record of a snapshot.
    pub is_last: u64,
    /// The report.
    pub report: PackedReport,
}

impl Answer {
    /// The answer to a heartbeat. All bytes are 0. No report is so: no order has the quantity 0.
    pub const HEARTBEAT: Self = bytemuck::zeroed();

    /// Whether it answers a heartbeat. It has no report then.
    #[must_use]
    pub fn is_heartbeat(&self) -> bool {
        *self == Self::HEARTBEAT
    }
}
