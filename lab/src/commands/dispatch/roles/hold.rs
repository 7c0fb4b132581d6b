//! Orders that wait for their due time: a heap of times, with the orders beside it. Heap operations
//! therefore move 16 bytes instead of an order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::commands::dispatch::order::Order;

/// Orders by their due moment.
#[derive(Debug)]
pub(super) struct Hold<const PAD: usize> {
    /// Due times and indexes, the earliest on top.
    due: BinaryHeap<Reverse<(u64, u32)>>,
    /// The orders, at their places.
    orders: Vec<Order<PAD>>,
    /// Free indexes.
    free: Vec<u32>,
}

impl<const PAD: usize> Hold<PAD> {
    /// Creates an empty hold. Memory for `orders` is touched, and more is allocated as needed.
    pub(super) fn with_room_for(orders: usize) -> Self {
        let mut hold = Self { due: BinaryHeap::new(), orders: Vec::new(), free: Vec::new() };
        for _ in 0..orders {
            hold.insert(u64::MAX, Order::default());
        }
        while hold.take_due(u64::MAX).is_some() {}
        hold
    }

    /// Holds `order` until `due`.
    pub(super) fn insert(&mut self, due: u64, order: Order<PAD>) {
        let place = if let Some(place) = self.free.pop() {
            self.orders[place as usize] = order;
            place
        } else {
            self.orders.push(order);
            (self.orders.len() - 1) as u32
        };
        self.due.push(Reverse((due, place)));
    }

    /// Returns the order that is due first, and its due time, unless that is after `now`.
    pub(super) fn take_due(&mut self, now: u64) -> Option<(u64, Order<PAD>)> {
        if self.next_due() > now {
            return None;
        }
        let Reverse((due, place)) = self.due.pop()?;
        self.free.push(place);
        Some((due, self.orders[place as usize]))
    }

    /// Returns the next due time, or `u64::MAX` if there is none.
    pub(super) fn next_due(&self) -> u64 {
        self.due.peek().map_or(u64::MAX, |Reverse((due, _))| *due)
    }

    /// Returns the number of held orders.
    pub(super) fn len(&self) -> usize {
        self.due.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::dispatch::order::SMALL;

    #[test]
    fn orders_leave_when_they_are_due_the_earliest_first() {
        let mut hold = Hold::<SMALL>::with_room_for(2);
        for (number, due) in [(0, 30), (1, 10), (2, 20)] {
            hold.insert(due, Order::new(0, number, 0));
        }
        assert_eq!(hold.next_due(), 10);
        assert!(hold.take_due(9).is_none());
        let numbers = |(due, order): (u64, Order<SMALL>)| (due, order.number);
        assert_eq!(hold.take_due(25).map(numbers), Some((10, 1)));
        assert_eq!(hold.take_due(25).map(numbers), Some((20, 2)));
        assert!(hold.take_due(25).is_none());
        assert_eq!((hold.len(), hold.next_due()), (1, 30));
    }
}
