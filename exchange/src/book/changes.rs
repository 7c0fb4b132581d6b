//! Changes of resting orders: cancel, reduce and replace.

use super::matching::state_of;
use super::{Book, Found, Incoming};
use crate::types::{Cause, OrderState, Price, Quantity, Report, SelfTrade};

impl Book {
    /// Takes an order out of the book.
    pub fn cancel(&mut self, Found(slot): Found, sink: &mut impl FnMut(Report)) {
        let order = state_of(&self.orders[slot], self.spec.symbol);
        self.unlink(slot);
        self.orders.remove(slot);
        sink(Report::Cancelled(order, Cause::Requested));
        sink(self.level(order.side, order.price));
    }

    /// Makes an order smaller. It keeps its time priority. `open` is at most the open quantity, and
    /// at least 1.
    pub fn reduce(&mut self, Found(slot): Found, open: Quantity, sink: &mut impl FnMut(Report)) {
        let order = &mut self.orders[slot];
        let old = state_of(order, self.spec.symbol);
        let gone = old.open - open;
        order.open = open;
        sink(Report::Reduced(OrderState { open: gone, ..old }, Cause::Requested));
        if gone > 0 {
            self.ladder.reduce(old.price, gone);
            sink(self.level(old.side, old.price));
        }
    }

    /// Gives an order new terms. It loses its time priority and may trade before it rests again.
    pub fn replace(
        &mut self,
        Found(slot): Found,
        price: Price,
        open: Quantity,
        self_trade: SelfTrade,
        sink: &mut impl FnMut(Report),
    ) {
        let old = state_of(&self.orders[slot], self.spec.symbol);
        let new = OrderState { price, open, ..old };
        self.unlink(slot);
        sink(Report::Replaced { new, old_price: old.price, old_open: old.open });
        sink(self.level(old.side, old.price));

        let filled = self.orders[slot].filled;
        let mut incoming = Incoming { order: new, filled, self_trade };
        if self.trade(&mut incoming, sink) {
            let order = &mut self.orders[slot];
            order.set_terms(price, incoming.order.open);
            order.filled = incoming.filled;
            self.rest(slot, sink);
        } else {
            self.orders.remove(slot);
        }
    }
}
