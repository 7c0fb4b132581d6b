//! A command as 32 bytes of plain data.
//!
//! | kind | symbol | account | price | number | quantity | extra |
//! |---|---|---|---|---|---|---|
//! | 0 new | symbol | account | price | order | quantity | |
//! | 1 cancel | symbol | account | | order | | |
//! | 2 replace | symbol | account | price | order | quantity | |
//! | 3 add symbol | symbol | | lowest price | | resting orders | highest price |
//! | 4 add account | | account | | | | |
//! | 5 deposit | | account | | amount | | |
//! | 6 set limits | | account | longest | open notional | one order | shortest |
//! | 7 set memory | | | | | MiB | |
//!
//! A new order uses all four bytes of the first word, a replacement those of terms and self-trade. A
//! field without a meaning is 0, so each command has one packed form.

use std::error::Error;
use std::fmt;

use bytemuck::{CheckedBitPattern, Pod, Zeroable};

use super::{
    AccountId, Cancel, Command, Deposit, Limits, NewOrder, OrderId, Replace, SymbolId, SymbolSpec,
};

const NEW: u8 = 0;
const CANCEL: u8 = 1;
const REPLACE: u8 = 2;
const ADD_SYMBOL: u8 = 3;
const ADD_ACCOUNT: u8 = 4;
const DEPOSIT: u8 = 5;
const SET_LIMITS: u8 = 6;
const SET_MEMORY: u8 = 7;

/// A [`Command`] as plain data. Any 32 bytes are one; [`unpack`](Self::unpack) says whether they mean
/// something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PackedCommand {
    kind: u8,
    side: u8,
    terms: u8,
    self_trade: u8,
    symbol: u32,
    account: u32,
    price: u32,
    number: u64,
    quantity: u32,
    extra: u32,
}

impl From<&Command> for PackedCommand {
    fn from(command: &Command) -> Self {
        match *command {
            Command::New(order) => Self::new_order(&order),
            Command::Cancel(Cancel { account, order, symbol }) => Self {
                symbol: symbol.0,
                account: account.0,
                number: order.0,
                ..Self::empty(CANCEL)
            },
            Command::Replace(replace) => Self::replace(&replace),
            Command::AddSymbol(spec) => Self {
                symbol: spec.symbol.0,
                price: spec.lowest,
                extra: spec.highest,
                quantity: spec.max_orders,
                ..Self::empty(ADD_SYMBOL)
            },
            Command::AddAccount(account) => Self { account: account.0, ..Self::empty(ADD_ACCOUNT) },
            Command::Deposit(Deposit { account, amount }) => {
                Self { account: account.0, number: amount.cast_unsigned(), ..Self::empty(DEPOSIT) }
            }
            Command::SetLimits(account, limits) => Self {
                account: account.0,
                price: limits.max_long,
                number: limits.max_open_notional,
                quantity: limits.max_order,
                extra: limits.max_short,
                ..Self::empty(SET_LIMITS)
            },
            Command::SetMemory(limit) => Self { quantity: limit, ..Self::empty(SET_MEMORY) },
        }
    }
}

impl PackedCommand {
    /// Returns the command that the bytes mean.
    ///
    /// # Errors
    ///
    /// [`UnpackError`] names the first field without a valid value.
    pub fn unpack(&self) -> Result<Command, UnpackError> {
        let account = AccountId(self.account);
        let symbol = SymbolId(self.symbol);
        let order = OrderId(self.number);
        let command = match self.kind {
            NEW => Command::New(self.unpack_new()?),
            CANCEL => Command::Cancel(Cancel { account, order, symbol }),
            REPLACE => Command::Replace(self.unpack_replace()?),
            ADD_SYMBOL => Command::AddSymbol(SymbolSpec {
                symbol,
                lowest: self.price,
                highest: self.extra,
                max_orders: self.quantity,
            }),
            ADD_ACCOUNT => Command::AddAccount(account),
            DEPOSIT => Command::Deposit(Deposit { account, amount: self.number.cast_signed() }),
            SET_LIMITS => Command::SetLimits(account, self.unpack_limits()),
            SET_MEMORY => Command::SetMemory(self.quantity),
            found => return Err(UnpackError::Field { name: "kind", found }),
        };
        if Self::from(&command) == *self { Ok(command) } else { Err(UnpackError::NotZero) }
    }

    fn empty(kind: u8) -> Self {
        Self { kind, ..Self::zeroed() }
    }

    fn new_order(order: &NewOrder) -> Self {
        Self {
            side: order.side as u8,
            terms: order.kind as u8,
            self_trade: order.self_trade as u8,
            symbol: order.symbol.0,
            account: order.account.0,
            price: order.price,
            number: order.order.0,
            quantity: order.quantity,
            ..Self::empty(NEW)
        }
    }

    fn replace(replace: &Replace) -> Self {
        Self {
            terms: replace.kind as u8,
            self_trade: replace.self_trade as u8,
            symbol: replace.symbol.0,
            account: replace.account.0,
            price: replace.price,
            number: replace.order.0,
            quantity: replace.quantity,
            ..Self::empty(REPLACE)
        }
    }

    fn unpack_new(&self) -> Result<NewOrder, UnpackError> {
        Ok(NewOrder {
            account: AccountId(self.account),
            order: OrderId(self.number),
            symbol: SymbolId(self.symbol),
            side: field("side", self.side)?,
            kind: field("terms", self.terms)?,
            self_trade: field("self-trade", self.self_trade)?,
            price: self.price,
            quantity: self.quantity,
        })
    }

    fn unpack_replace(&self) -> Result<Replace, UnpackError> {
        Ok(Replace {
            account: AccountId(self.account),
            order: OrderId(self.number),
            symbol: SymbolId(self.symbol),
            kind: field("terms", self.terms)?,
            self_trade: field("self-trade", self.self_trade)?,
            price: self.price,
            quantity: self.quantity,
        })
    }

    fn unpack_limits(&self) -> Limits {
        Limits {
            max_order: self.quantity,
            max_long: self.price,
            max_short: self.extra,
            max_open_notional: self.number,
        }
    }
}

/// Returns the value of a field that has one byte.
pub(super) fn field<T>(name: &'static str, found: u8) -> Result<T, UnpackError>
where
    T: CheckedBitPattern<Bits = u8>,
{
    bytemuck::checked::try_cast(found).map_err(|_| UnpackError::Field { name, found })
}

/// Why bytes are not a command or a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnpackError {
    /// A field has a value without a meaning.
    Field {
        /// The field.
        name: &'static str,
        /// Its value.
        found: u8,
    },
    /// A field that has no meaning here is not 0.
    NotZero,
}

impl fmt::Display for UnpackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field { name, found } => write!(f, "the {name} has no meaning: found={found}"),
            Self::NotZero => f.write_str("a field without a meaning must be 0"),
        }
    }
}

impl Error for UnpackError {}
