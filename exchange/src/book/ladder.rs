//! The levels of a book: one for each price of the band, and the best price of each side.
//!
//! Both sides share the levels. A book is never crossed, so no price has bids and asks.

use std::ops::{Index, IndexMut};

use bytemuck::allocation::try_zeroed_vec;
use bytemuck::{Pod, Zeroable};

use super::bitmap::Bitmap;
use super::orders::{NIL, Order, Slot};
use super::sums::Sums;
use crate::types::{Price, Quantity, Side, SymbolSpec};

/// The queue of orders at one price. All zero is an empty level.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct LevelQueue {
    /// The sum of the open quantities. It cannot overflow: a quantity has 32 bits, and so has the
    /// number of orders.
    pub(super) quantity: u64,
    /// The oldest order.
    pub(super) head: Slot,
    /// The newest order.
    pub(super) tail: Slot,
    /// The number of orders.
    pub(super) orders: u32,
    unused: u32,
}

impl LevelQueue {
    /// Adds an order at the end. Returns the order that was the last.
    #[inline]
    fn push(&mut self, slot: Slot, open: Quantity) -> Slot {
        self.quantity += u64::from(open);
        self.orders += 1;
        if self.head == NIL {
            self.head = slot;
        }
        std::mem::replace(&mut self.tail, slot)
    }

    /// Removes an order. `order` still names its neighbours.
    #[inline]
    fn remove(&mut self, slot: Slot, order: &Order) {
        self.quantity -= u64::from(order.open);
        self.orders -= 1;
        if self.head == slot {
            self.head = order.next;
        }
        if self.tail == slot {
            self.tail = order.previous;
        }
    }
}

/// All levels.
#[derive(Clone, Debug)]
pub(super) struct Ladder {
    lowest: Price,
    /// The level of price `lowest + i` at `i`. Pages of prices that are not in use take no memory.
    levels: Vec<LevelQueue>,
    /// The levels with orders.
    used: Bitmap,
    sums: Sums,
    /// The highest price with bids.
    best_bid: Option<Price>,
    /// The lowest price with asks.
    best_ask: Option<Price>,
}

impl Ladder {
    /// Returns a ladder without orders; `None` if the system has no memory for it.
    pub(super) fn new(spec: &SymbolSpec) -> Option<Self> {
        let width = spec.highest - spec.lowest + 1;
        Some(Self {
            lowest: spec.lowest,
            levels: try_zeroed_vec(width as usize).ok()?,
            used: Bitmap::new(width)?,
            sums: Sums::new(width)?,
            best_bid: None,
            best_ask: None,
        })
    }

    pub(super) fn best(&self, side: Side) -> Option<Price> {
        match side {
            Side::Buy => self.best_bid,
            Side::Sell => self.best_ask,
        }
    }

    /// Returns the next price of a side that is worse than `price`.
    pub(super) fn worse(&self, side: Side, price: Price) -> Option<Price> {
        let index = price - self.lowest;
        let next = match side {
            Side::Buy => self.used.below(index),
            Side::Sell => self.used.above(index),
        };
        next.map(|index| self.lowest + index)
    }

    /// Returns the prices of a side, the best first.
    pub(super) fn prices(&self, side: Side) -> impl Iterator<Item = Price> + '_ {
        std::iter::successors(self.best(side), move |&price| self.worse(side, price))
    }

    /// Returns the quantity that an order of the other side with this limit can reach.
    pub(super) fn reachable(&self, side: Side, limit: Price) -> u64 {
        let Some(best) = self.best(side) else { return 0 };
        if !side.opposite().accepts(limit, best) {
            return 0;
        }
        let (first, last) = (best.min(limit) - self.lowest, best.max(limit) - self.lowest);
        self.sums.within(first, last, |index| self.levels[index as usize].quantity)
    }

    /// Puts an order at the end of its level. Returns the order that was the last one there.
    #[inline]
    pub(super) fn push(&mut self, slot: Slot, order: &Order) -> Slot {
        self.sums.add(order.price() - self.lowest, u64::from(order.open));
        self.enter(order.side(), order.price()).push(slot, order.open)
    }

    /// Takes an order out of its level. `order` still names its neighbours.
    #[inline]
    pub(super) fn remove(&mut self, slot: Slot, order: &Order) {
        self.sums.remove(order.price() - self.lowest, u64::from(order.open));
        let level = &mut self[order.price()];
        level.remove(slot, order);
        if level.head == NIL {
            self.leave(order.side(), order.price());
        }
    }

    /// Takes a part of an order out of its level.
    pub(super) fn reduce(&mut self, price: Price, gone: Quantity) {
        self[price].quantity -= u64::from(gone);
        self.note_gone(price, u64::from(gone));
    }

    /// Notes that `quantity` has left a level.
    #[inline]
    pub(super) fn note_gone(&mut self, price: Price, quantity: u64) {
        self.sums.remove(price - self.lowest, quantity);
    }

    /// Returns the level of an order that is about to rest.
    #[inline]
    fn enter(&mut self, side: Side, price: Price) -> &mut LevelQueue {
        let index = price - self.lowest;
        let level = &mut self.levels[index as usize];
        if level.head == NIL {
            self.used.insert(index);
            let best = match side {
                Side::Buy => &mut self.best_bid,
                Side::Sell => &mut self.best_ask,
            };
            if best.is_none_or(|best| side.opposite().accepts(best, price)) {
                *best = Some(price);
            }
        }
        level
    }

    /// Takes an empty level out of use.
    #[inline]
    pub(super) fn leave(&mut self, side: Side, price: Price) {
        debug_assert_eq!(self[price].orders, 0, "the level must be empty");
        self.used.remove(price - self.lowest);
        if self.best(side) == Some(price) {
            let next = self.worse(side, price);
            match side {
                Side::Buy => self.best_bid = next,
                Side::Sell => self.best_ask = next,
            }
        }
    }
}

impl Index<Price> for Ladder {
    type Output = LevelQueue;

    fn index(&self, price: Price) -> &LevelQueue {
        &self.levels[(price - self.lowest) as usize]
    }
}

impl IndexMut<Price> for Ladder {
    fn index_mut(&mut self, price: Price) -> &mut LevelQueue {
        &mut self.levels[(price - self.lowest) as usize]
    }
}
