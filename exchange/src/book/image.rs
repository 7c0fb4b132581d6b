//! A copy of a book, made in one sweep through its memory. Another thread follows the queues in it,
//! which takes many times as long: neighbours in a queue are far from each other in memory.

use super::Book;
use super::orders::{Order, Slot, queue};
use crate::state::{BookState, RestingOrder};
use crate::types::{Side, SymbolSpec};

/// A copy of the orders of a book.
#[derive(Debug)]
pub struct BookImage {
    spec: SymbolSpec,
    slots: Vec<Order>,
    /// The number of orders.
    count: usize,
    /// The oldest order of each level, the best level first.
    bids: Vec<Slot>,
    asks: Vec<Slot>,
}

impl BookImage {
    pub(super) fn of(book: &Book) -> Self {
        let count = book.orders.len();
        let heads = |side| {
            // Room for all. Pages that are not used take no memory.
            let mut heads = Vec::with_capacity(count);
            heads.extend(book.ladder.prices(side).map(|price| book.ladder[price].head));
            heads
        };
        let (bids, asks) = (heads(Side::Buy), heads(Side::Sell));
        Self { spec: book.spec, slots: book.orders.slots().to_vec(), count, bids, asks }
    }

    /// Returns the book in its canonical form.
    #[must_use]
    pub fn into_state(self) -> BookState {
        let (bids, asks) = (self.orders(&self.bids), self.orders(&self.asks));
        BookState { spec: self.spec, bids, asks }
    }

    fn orders(&self, heads: &[Slot]) -> Vec<RestingOrder> {
        let mut orders = Vec::with_capacity(self.count);
        for &head in heads {
            orders.extend(queue(&self.slots, head).map(Order::resting));
        }
        orders.shrink_to_fit();
        orders
    }
}
