//! The state as bytes, and its hash.
//!
//! | part | how many |
//! |---|---|
//! | header | 1 |
//! | a book, then its bids, then its asks | as the header says |
//! | an account, then its positions | as the header says |
//! | hash of all parts before it | 1 |
//!
//! All numbers are little-endian.

use std::error::Error;
use std::fmt;
use std::hash::Hasher;

use bytemuck::{Pod, Zeroable};
use twox_hash::XxHash3_64;

use super::{AccountState, BookState, PositionState, RestingOrder, State};
use crate::types::{AccountId, DEFAULT_MEMORY, Limits, OrderId, OrderRef, SymbolId, SymbolSpec};

const _: () = assert!(cfg!(target_endian = "little"), "snapshots are little-endian");

const MAGIC: [u8; 8] = *b"lapwingX";
const VERSION: u32 = 1;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u32,
    books: u32,
    accounts: u32,
    /// The limit of the memory above the default, wrapping: 0 in a snapshot of before there were limits.
    memory: u32,
    commands: u64,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct BookRecord {
    symbol: u32,
    lowest: u32,
    highest: u32,
    max_orders: u32,
    bids: u32,
    asks: u32,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct OrderRecord {
    order: u64,
    account: u32,
    price: u32,
    open: u32,
    filled: u32,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct AccountRecord {
    cash: i64,
    reserved: u64,
    open_notional: u64,
    last_order: u64,
    max_open_notional: u64,
    account: u32,
    max_order: u32,
    max_long: u32,
    max_short: u32,
    positions: u32,
    unused: u32,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct PositionRecord {
    lots: i64,
    open_buy: u64,
    open_sell: u64,
    symbol: u32,
    unused: u32,
}

impl State {
    /// Returns a hash of the whole state. Equal states have equal hashes, in any process and on any
    /// machine.
    #[must_use]
    pub fn hash(&self) -> u64 {
        let mut hasher = XxHash3_64::with_seed(0);
        self.write_parts(&mut |part| hasher.write(part));
        hasher.finish()
    }

    /// Returns the snapshot: all parts and their hash.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut length = size_of::<u64>();
        self.write_parts(&mut |part| length += part.len());
        let mut bytes = Vec::with_capacity(length);
        self.write_parts(&mut |part| bytes.extend_from_slice(part));
        let hash = XxHash3_64::oneshot(&bytes);
        bytes.extend_from_slice(&hash.to_le_bytes());
        bytes
    }

    /// Reads a snapshot. [`check`](Self::check) says whether an exchange can go on from it.
    ///
    /// # Errors
    ///
    /// [`SnapshotError`] says what is wrong with the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let (parts, hash) = bytes.split_last_chunk().ok_or(SnapshotError::TooShort)?;
        let mut reader = Reader { rest: parts };
        let header: Header = reader.take()?;
        if header.magic != MAGIC {
            return Err(SnapshotError::NoSnapshot);
        }
        if header.version != VERSION {
            return Err(SnapshotError::Version { found: header.version });
        }
        if XxHash3_64::oneshot(parts) != u64::from_le_bytes(*hash) {
            return Err(SnapshotError::Hash);
        }
        let state = Self {
            commands: header.commands,
            memory: header.memory.wrapping_add(DEFAULT_MEMORY),
            books: reader.many(header.books, Reader::book)?,
            accounts: reader.many(header.accounts, Reader::account)?,
        };
        if reader.rest.is_empty() { Ok(state) } else { Err(SnapshotError::TooLong) }
    }

    /// Hands each part to `write`, in order.
    fn write_parts(&self, write: &mut impl FnMut(&[u8])) {
        write(bytemuck::bytes_of(&Header {
            magic: MAGIC,
            version: VERSION,
            books: count(self.books.len()),
            accounts: count(self.accounts.len()),
            memory: self.memory.wrapping_sub(DEFAULT_MEMORY),
            commands: self.commands,
        }));
        for book in &self.books {
            write(bytemuck::bytes_of(&book_record(book)));
            for order in book.bids.iter().chain(&book.asks) {
                write(bytemuck::bytes_of(&order_record(order)));
            }
        }
        for account in &self.accounts {
            write(bytemuck::bytes_of(&account_record(account)));
            for position in &account.positions {
                write(bytemuck::bytes_of(&position_record(position)));
            }
        }
    }
}

/// Returns a number of books, accounts, orders or positions. Each has a bound below 2^32.
fn count(len: usize) -> u32 {
    u32::try_from(len).expect("the number has a bound of 32 bits")
}

fn book_record(book: &BookState) -> BookRecord {
    BookRecord {
        symbol: book.spec.symbol.0,
        lowest: book.spec.lowest,
        highest: book.spec.highest,
        max_orders: book.spec.max_orders,
        bids: count(book.bids.len()),
        asks: count(book.asks.len()),
    }
}

fn order_record(order: &RestingOrder) -> OrderRecord {
    OrderRecord {
        order: order.id.order.0,
        account: order.id.account.0,
        price: order.price,
        open: order.open,
        filled: order.filled,
    }
}

fn account_record(account: &AccountState) -> AccountRecord {
    AccountRecord {
        cash: account.cash,
        reserved: account.reserved,
        open_notional: account.open_notional,
        last_order: account.last_order.0,
        max_open_notional: account.limits.max_open_notional,
        account: account.id.0,
        max_order: account.limits.max_order,
        max_long: account.limits.max_long,
        max_short: account.limits.max_short,
        positions: count(account.positions.len()),
        unused: 0,
    }
}

fn position_record(position: &PositionState) -> PositionRecord {
    PositionRecord {
        lots: position.lots,
        open_buy: position.open_buy,
        open_sell: position.open_sell,
        symbol: position.symbol.0,
        unused: 0,
    }
}

/// The bytes that are still to be read.
struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn take<T: Pod>(&mut self) -> Result<T, SnapshotError> {
        let (bytes, rest) =
            self.rest.split_at_checked(size_of::<T>()).ok_or(SnapshotError::TooShort)?;
        self.rest = rest;
        Ok(bytemuck::pod_read_unaligned(bytes))
    }

    /// Reads `count` items. It allocates as it reads, so a wrong count takes no memory.
    fn many<T>(
        &mut self,
        count: u32,
        read: impl Fn(&mut Self) -> Result<T, SnapshotError>,
    ) -> Result<Vec<T>, SnapshotError> {
        (0..count).map(|_| read(self)).collect()
    }

    fn book(&mut self) -> Result<BookState, SnapshotError> {
        let record: BookRecord = self.take()?;
        let BookRecord { symbol, lowest, highest, max_orders, bids, asks } = record;
        Ok(BookState {
            spec: SymbolSpec { symbol: SymbolId(symbol), lowest, highest, max_orders },
            bids: self.many(bids, Self::order)?,
            asks: self.many(asks, Self::order)?,
        })
    }

    fn order(&mut self) -> Result<RestingOrder, SnapshotError> {
        let OrderRecord { order, account, price, open, filled } = self.take()?;
        let id = OrderRef { account: AccountId(account), order: OrderId(order) };
        Ok(RestingOrder { id, price, open, filled })
    }

    fn account(&mut self) -> Result<AccountState, SnapshotError> {
        let record: AccountRecord = self.take()?;
        Ok(AccountState {
            id: AccountId(record.account),
            cash: record.cash,
            reserved: record.reserved,
            open_notional: record.open_notional,
            last_order: OrderId(record.last_order),
            limits: Limits {
                max_order: record.max_order,
                max_long: record.max_long,
                max_short: record.max_short,
                max_open_notional: record.max_open_notional,
            },
            positions: self.many(record.positions, Self::position)?,
        })
    }

    fn position(&mut self) -> Result<PositionState, SnapshotError> {
        let PositionRecord { lots, open_buy, open_sell, symbol, .. } = self.take()?;
        Ok(PositionState { symbol: SymbolId(symbol), lots, open_buy, open_sell })
    }
}

/// Why the bytes are not a valid snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotError {
    /// The bytes end before the last part.
    TooShort,
    /// The bytes go on behind the last part.
    TooLong,
    /// They do not begin as a snapshot does.
    NoSnapshot,
    /// The format has another version.
    Version {
        /// The version found.
        found: u32,
    },
    /// The hash is not that of the parts.
    Hash,
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort => f.write_str("the snapshot ends too early"),
            Self::TooLong => f.write_str("the snapshot goes on behind its last part"),
            Self::NoSnapshot => f.write_str("the bytes do not begin as a snapshot does"),
            Self::Version { found } => {
                write!(f, "the version of the snapshot must be {VERSION}: found={found}")
            }
            Self::Hash => f.write_str("the hash of the snapshot is wrong"),
        }
    }
}

impl Error for SnapshotError {}
