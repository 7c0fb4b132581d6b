//! Identities, prices, quantities and sides.

use bytemuck::{CheckedBitPattern, NoUninit, Pod, Zeroable};

/// A price in ticks of its symbol. The smallest valid price is 1.
pub type Price = u32;

/// A number of lots. The smallest valid quantity is 1.
pub type Quantity = u32;

/// An account, named by the operator with a small number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct AccountId(pub u32);

/// A symbol, named by the operator with a small number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct SymbolId(pub u32);

/// An order, named by its account. The ids of an account strictly increase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct OrderId(pub u64);

/// The side of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, CheckedBitPattern, NoUninit)]
#[repr(u8)]
pub enum Side {
    /// A bid.
    Buy,
    /// An ask.
    Sell,
}

impl Side {
    /// Returns the side that this side trades with.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Buy => Self::Sell,
            Self::Sell => Self::Buy,
        }
    }

    /// Whether an order of this side with the limit `limit` may trade at `price`.
    #[must_use]
    pub const fn accepts(self, limit: Price, price: Price) -> bool {
        match self {
            Self::Buy => price <= limit,
            Self::Sell => price >= limit,
        }
    }
}

/// Returns price times quantity, in cash. It cannot overflow: both factors have 32 bits.
#[must_use]
pub const fn notional(price: Price, quantity: Quantity) -> u64 {
    price as u64 * quantity as u64
}
