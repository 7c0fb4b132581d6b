//! A copy of a book, made in one sweep through its memory. Another thread follows the queues in it,
//! which takes many times as long: neighbours in a queue are far from each other in memory.

use super::Book;
use super::ladder::LevelQueue;
use super::orders::{Order, queue};
use crate::state::{BookState, RestingOrder};
use crate::types::{Side, SymbolSpec};

/// A copy of the orders of a book.
#[derive(Debug)]
pub struct BookImage {
    spec: SymbolSpec,
    slots: Vec<Order>,
    /// The levels in use, the best one first.
    bids: Vec<LevelQueue>,
    asks: Vec<LevelQueue>,
}

impl BookImage {
    pub(super) fn of(book: &Book) -> Self {
        let levels = |side| book.ladder.prices(side).map(|price| book.ladder[price]).collect();
        Self {
            spec: book.spec,
            slots: book.orders.slots().to_vec(),
            bids: levels(Side::Buy),
            asks: levels(Side::Sell),
        }
    }

    /// Returns the book in its canonical form.
    #[must_use]
    pub fn into_state(self) -> BookState {
        let (bids, asks) = (self.orders(&self.bids), self.orders(&self.asks));
        BookState { spec: self.spec, bids, asks }
    }

    fn orders(&self, levels: &[LevelQueue]) -> Vec<RestingOrder> {
        let count = levels.iter().map(|level| level.orders as usize).sum();
        let mut orders = Vec::with_capacity(count);
        for level in levels {
            orders.extend(queue(&self.slots, level.head).map(Order::resting));
        }
        orders
    }
}
