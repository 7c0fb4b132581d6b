//! The resting orders of a book: a slab of slots, and an index by name.
//!
//! A slot has 32 bytes, so a cache line holds two. The slab and the index have their full size from
//! the start, so no command waits for a larger copy of them.

use std::hash::BuildHasher;
use std::ops::{Index, IndexMut};

use bytemuck::{Pod, Zeroable};
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::state::RestingOrder;
use crate::types::{AccountId, OrderId, OrderRef, OrderState, Price, Quantity, Side};

/// A position in the slab.
pub(super) type Slot = u32;

/// No order. Slot 0 is never used.
pub(super) const NIL: Slot = 0;

/// A resting order.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Order {
    id: OrderId,
    pub(super) account: AccountId,
    /// The price times 2, plus 1 for a sell order. A price has 31 bits.
    price_and_side: u32,
    /// What may still trade.
    pub(super) open: Quantity,
    /// What has traded.
    pub(super) filled: Quantity,
    /// The order behind it at its price. In a free slot, the next free slot.
    pub(super) next: Slot,
    /// The order before it at its price.
    pub(super) previous: Slot,
}

const _: () = assert!(size_of::<Order>() == 32, "a cache line holds two orders");

impl Order {
    fn new(order: &OrderState, filled: Quantity) -> Self {
        Self {
            id: order.id.order,
            account: order.id.account,
            price_and_side: order.price << 1 | order.side as u32,
            open: order.open,
            filled,
            next: NIL,
            previous: NIL,
        }
    }

    /// Gives the order new terms.
    pub(super) fn set_terms(&mut self, price: Price, open: Quantity) {
        self.price_and_side = price << 1 | self.price_and_side & 1;
        self.open = open;
    }

    pub(super) const fn id(&self) -> OrderRef {
        OrderRef { account: self.account, order: self.id }
    }

    pub(super) const fn price(&self) -> Price {
        self.price_and_side >> 1
    }

    pub(super) const fn side(&self) -> Side {
        if self.price_and_side & 1 == 0 { Side::Buy } else { Side::Sell }
    }

    pub(super) const fn resting(&self) -> RestingOrder {
        let (id, price) = (self.id(), self.price());
        RestingOrder { id, price, open: self.open, filled: self.filled }
    }
}

/// All resting orders.
#[derive(Clone, Debug)]
pub(super) struct Orders {
    slots: Vec<Order>,
    /// The first free slot below the end of `slots`. A slot that became free last is used first.
    free: Slot,
    /// The slot of each order. The hash depends on the process, so the table is never iterated.
    index: HashTable<Slot>,
    hasher: DefaultHashBuilder,
    capacity: u32,
}

impl Orders {
    /// Returns an empty set that holds up to `capacity` orders; `None` if the system has no memory
    /// for it.
    pub(super) fn new(capacity: u32) -> Option<Self> {
        let places = capacity as usize;
        let mut slots = Vec::new();
        slots.try_reserve_exact(places + 1).ok()?;
        slots.push(Order::zeroed());
        let hasher = DefaultHashBuilder::default();
        let mut index = HashTable::new();
        // A table that is more than half full may grow when its removed entries have left marks.
        index.try_reserve(2 * places, |&slot: &Slot| hasher.hash_one(slot)).ok()?;
        Some(Self { slots, free: NIL, index, hasher, capacity })
    }

    pub(super) fn is_full(&self) -> bool {
        self.len() >= self.capacity as usize
    }

    #[inline]
    pub(super) fn find(&self, id: OrderRef) -> Option<Slot> {
        let hash = self.hasher.hash_one(id);
        self.index.find(hash, |&slot| self[slot].id() == id).copied()
    }

    /// Adds an order that belongs to no level yet.
    pub(super) fn insert(&mut self, order: &OrderState, filled: Quantity) -> Slot {
        let new = Order::new(order, filled);
        let slot = self.free;
        let slot = if slot == NIL {
            let end = Slot::try_from(self.slots.len()).expect("a capacity has 32 bits");
            debug_assert!(end <= self.capacity, "slots that became free are used first");
            self.slots.push(new);
            end
        } else {
            self.free = self[slot].next;
            self[slot] = new;
            slot
        };
        let Self { slots, index, hasher, .. } = self;
        index.insert_unique(hasher.hash_one(order.id), slot, |&slot| {
            hasher.hash_one(slots[slot as usize].id())
        });
        slot
    }

    /// Forgets an order that belongs to no level any longer.
    pub(super) fn remove(&mut self, slot: Slot) {
        let hash = self.hasher.hash_one(self[slot].id());
        if let Ok(entry) = self.index.find_entry(hash, |&found| found == slot) {
            entry.remove();
        }
        self[slot].next = self.free;
        self.free = slot;
    }

    /// Puts `slot` behind `last`, the last order of its level, or makes it the only one.
    #[inline]
    pub(super) fn link(&mut self, last: Slot, slot: Slot) {
        let order = &mut self[slot];
        order.previous = last;
        order.next = NIL;
        if last != NIL {
            self[last].next = slot;
        }
    }

    /// Takes an order out of the chain of its level.
    #[inline]
    pub(super) fn unlink(&mut self, slot: Slot) {
        let Order { previous, next, .. } = self[slot];
        if previous != NIL {
            self[previous].next = next;
        }
        if next != NIL {
            self[next].previous = previous;
        }
    }

    /// Returns the number of orders.
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// Returns all slots.
    pub(super) fn slots(&self) -> &[Order] {
        &self.slots
    }

    /// Returns the orders from `first` to the end of its level.
    pub(super) fn queue(&self, first: Slot) -> impl Iterator<Item = &Order> + '_ {
        queue(&self.slots, first)
    }
}

/// Returns the orders from `first` to the end of its level.
pub(super) fn queue(slots: &[Order], first: Slot) -> impl Iterator<Item = &Order> + '_ {
    let at = |slot| Some(&slots[slot as usize]).filter(|_| slot != NIL);
    std::iter::successors(at(first), move |order| at(order.next))
}

impl Index<Slot> for Orders {
    type Output = Order;

    fn index(&self, slot: Slot) -> &Order {
        &self.slots[slot as usize]
    }
}

impl IndexMut<Slot> for Orders {
    fn index_mut(&mut self, slot: Slot) -> &mut Order {
        &mut self.slots[slot as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::SymbolId;

    /// The table of orders grew, and copied itself, once removed orders had left marks in it.
    #[test]
    fn the_index_grew_although_it_was_set_aside() {
        const CAPACITY: u32 = 7 << 10; // fills a table of 8,192 places, and half of one of 16,384
        let mut orders = Orders::new(CAPACITY).unwrap();
        let set_aside = orders.index.allocation_size();
        let mut random = fastrand::Rng::with_seed(1);
        let mut slots = Vec::new();
        for id in 0..400_000 {
            if orders.is_full() {
                let slot: Slot = slots.swap_remove(random.usize(..slots.len()));
                orders.remove(slot);
            }
            let id = OrderRef { account: AccountId(1), order: OrderId(id) };
            let (symbol, side, price, open) = (SymbolId(0), Side::Buy, 1, 1);
            slots.push(orders.insert(&OrderState { id, symbol, side, price, open }, 0));
            assert_eq!(orders.index.allocation_size(), set_aside, "at {id:?}");
        }
    }
}
