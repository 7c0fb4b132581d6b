//! The book of one symbol: price-time priority, in constant time for each order that is touched.
//!
//! - `orders`: resting orders in a slab, found by name.
//! - `ladder`: one level for each price of the band, and the best prices.
//! - `bitmap`: which levels are in use. `sums`: how much rests in a range of them.
//! - `image`: a copy for another thread.
//! - `matching`: an incoming order trades.
//! - `changes`: cancel, reduce and replace.
//!
//! Not here: accounts, cash and limits, which are in [`risk`](crate::risk).

mod bitmap;
mod changes;
mod image;
mod ladder;
mod matching;
mod orders;
mod sums;

use crate::state::{BookState, RestingOrder};
use crate::types::{
    Level, OrderKind, OrderRef, OrderState, OutOfMemory, Price, Quantity, Reason, Report,
    SelfTrade, Side, SymbolSpec,
};

use ladder::Ladder;
use orders::{Orders, Slot};

pub use image::BookImage;

/// The resting orders of a symbol.
#[derive(Clone, Debug)]
pub struct Book {
    spec: SymbolSpec,
    orders: Orders,
    ladder: Ladder,
}

/// An order that has passed all checks and enters a book.
#[derive(Clone, Copy, Debug)]
pub struct Incoming {
    /// The order. `open` is what may still trade.
    pub order: OrderState,
    /// What has traded.
    pub filled: Quantity,
    /// What happens if it meets an order of its own account.
    pub self_trade: SelfTrade,
}

/// A place of a resting order. It is valid until the book changes.
#[derive(Clone, Copy, Debug)]
pub struct Found(Slot);

impl Book {
    /// Opens an empty book and sets its memory aside.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the system does not give it.
    pub fn new(spec: SymbolSpec) -> Result<Self, OutOfMemory> {
        let parts = Orders::new(spec.max_orders).zip(Ladder::new(&spec));
        let (orders, ladder) = parts.ok_or(OutOfMemory::Book(spec.symbol))?;
        Ok(Self { spec, orders, ladder })
    }

    /// Returns a book in a state that [`State::check`](crate::state::State::check) has passed.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the system does not give the memory.
    pub fn from_state(state: &BookState) -> Result<Self, OutOfMemory> {
        let mut book = Self::new(state.spec)?;
        for (side, &RestingOrder { id, price, open, filled }) in state.orders() {
            let order = OrderState { id, symbol: state.spec.symbol, side, price, open };
            let slot = book.orders.insert(&order, filled);
            book.append(slot);
        }
        Ok(book)
    }

    /// Returns the symbol and its bounds.
    #[must_use]
    pub fn spec(&self) -> &SymbolSpec {
        &self.spec
    }

    /// Returns the place of an open order.
    #[must_use]
    #[inline]
    pub fn find(&self, id: OrderRef) -> Option<Found> {
        self.orders.find(id).map(Found)
    }

    /// Returns the side of an open order and what the book knows about it.
    #[must_use]
    #[inline]
    pub fn order(&self, Found(slot): Found) -> (Side, RestingOrder) {
        let order = &self.orders[slot];
        (order.side(), order.resting())
    }

    /// Checks what only the book knows about a new order.
    ///
    /// # Errors
    ///
    /// [`Reason::BookFull`] if the order may rest and no place is free, [`Reason::WouldTrade`] if it
    /// is post-only and could trade.
    pub fn admits(&self, kind: OrderKind, side: Side, limit: Price) -> Result<(), Reason> {
        if kind.may_rest() && self.orders.is_full() {
            return Err(Reason::BookFull);
        }
        if kind == OrderKind::PostOnly && self.would_trade(side, limit) {
            return Err(Reason::WouldTrade);
        }
        Ok(())
    }

    /// Whether an order could trade as soon as it enters.
    #[must_use]
    pub fn would_trade(&self, side: Side, limit: Price) -> bool {
        self.ladder.best(side.opposite()).is_some_and(|price| side.accepts(limit, price))
    }

    /// Returns the orders of a side in the order in which they trade.
    pub fn by_priority(&self, side: Side) -> impl Iterator<Item = RestingOrder> + '_ {
        let queues = self.ladder.prices(side).map(|price| self.ladder[price].head);
        queues.flat_map(|first| self.orders.queue(first)).map(|order| order.resting())
    }

    /// Copies the book.
    #[must_use]
    pub fn image(&self) -> BookImage {
        BookImage::of(self)
    }

    /// Puts an order at the end of its level.
    #[inline]
    fn append(&mut self, slot: Slot) {
        let last = self.ladder.push(slot, &self.orders[slot]);
        self.orders.link(last, slot);
    }

    /// Takes an order out of its level. Its slot stays in use.
    #[inline]
    fn unlink(&mut self, slot: Slot) {
        let order = self.orders[slot];
        self.orders.unlink(slot);
        self.ladder.remove(slot, &order);
    }

    /// Returns the report of what rests at a price.
    #[inline]
    fn level(&self, side: Side, price: Price) -> Report {
        let level = &self.ladder[price];
        Report::Level(Level {
            symbol: self.spec.symbol,
            side,
            price,
            quantity: level.quantity,
            orders: level.orders,
        })
    }
}
