//! The resting orders according to the file: by price, at a price by age. They say whether an
//! execution is one that price-time priority allows.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::types::{Price, Quantity, Side};

/// The queues of both sides. Orders have their ids of the file.
#[derive(Debug, Default)]
pub(super) struct Queues {
    bids: BTreeMap<Price, VecDeque<i64>>,
    asks: BTreeMap<Price, VecDeque<i64>>,
    orders: HashMap<i64, Resting>,
}

#[derive(Clone, Copy, Debug)]
struct Resting {
    side: Side,
    price: Price,
    open: Quantity,
}

impl Queues {
    pub(super) fn add(&mut self, id: i64, side: Side, price: Price, open: Quantity) {
        self.orders.insert(id, Resting { side, price, open });
        self.side_mut(side).entry(price).or_default().push_back(id);
    }

    /// Takes a quantity from an order, or the order if it has no more.
    pub(super) fn take(&mut self, id: i64, quantity: Quantity) {
        let Some(order) = self.orders.get_mut(&id) else { return };
        order.open = order.open.saturating_sub(quantity);
        if order.open == 0 {
            self.remove(id);
        }
    }

    pub(super) fn remove(&mut self, id: i64) {
        let Some(Resting { side, price, .. }) = self.orders.remove(&id) else { return };
        let levels = self.side_mut(side);
        if let Some(queue) = levels.get_mut(&price) {
            queue.retain(|&other| other != id);
            if queue.is_empty() {
                levels.remove(&price);
            }
        }
    }

    /// Whether no other order of its side stands before this one.
    pub(super) fn is_first(&self, id: i64, side: Side) -> bool {
        let best = match side {
            Side::Buy => self.bids.last_key_value(),
            Side::Sell => self.asks.first_key_value(),
        };
        best.and_then(|(_, queue)| queue.front()) == Some(&id)
    }

    fn side_mut(&mut self, side: Side) -> &mut BTreeMap<Price, VecDeque<i64>> {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }
}
