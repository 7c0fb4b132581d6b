//! What rests at each price of a book.

use std::collections::BTreeMap;

use crate::state::BookState;
use crate::types::{Level, Price, Side};

/// The levels of a book.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    bids: BTreeMap<Price, Level>,
    asks: BTreeMap<Price, Level>,
}

impl Levels {
    /// Returns the levels of a recovered book.
    #[must_use]
    pub fn of(state: &BookState) -> Self {
        let mut levels = Self::default();
        for (side, order) in state.orders() {
            let (symbol, price) = (state.spec.symbol, order.price);
            let empty = Level { symbol, side, price, quantity: 0, orders: 0 };
            let level = levels.side_mut(side).entry(price).or_insert(empty);
            level.quantity += u64::from(order.open);
            level.orders += 1;
        }
        levels
    }

    /// Replaces a level. One without a quantity is removed.
    pub fn set(&mut self, level: Level) {
        let side = self.side_mut(level.side);
        if level.quantity == 0 {
            side.remove(&level.price);
        } else {
            side.insert(level.price, level);
        }
    }

    /// Returns the bids, the best one first.
    pub fn bids(&self) -> impl Iterator<Item = &Level> {
        self.bids.values().rev()
    }

    /// Returns the asks, the best one first.
    pub fn asks(&self) -> impl Iterator<Item = &Level> {
        self.asks.values()
    }

    fn side_mut(&mut self, side: Side) -> &mut BTreeMap<Price, Level> {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }
}
