//! An incoming order trades with the other side, the best price first and the oldest order first.

use super::orders::{NIL, Order, Slot};
use super::{Book, Incoming};
use crate::types::{
    Cause, MOST_CHECKED_ORDERS, OrderKind, OrderState, Price, Quantity, Report, SelfTrade,
    SymbolId, Trade,
};

/// What became of an order that met a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It has nothing left, or the level has.
    GoesOn,
    /// It has met an order of its own account and must not go on.
    MustStop,
}

impl Book {
    /// Lets a new order trade. Then the rest enters the book or is cancelled, as its kind says.
    pub fn enter(
        &mut self,
        mut incoming: Incoming,
        kind: OrderKind,
        sink: &mut impl FnMut(Report),
    ) {
        if !self.trade(&mut incoming, sink) {
            return;
        }
        if kind.may_rest() {
            let slot = self.orders.insert(&incoming.order, incoming.filled);
            self.rest(slot, sink);
        } else {
            sink(Report::Cancelled(incoming.order, Cause::Unfilled));
        }
    }

    /// Trades as far as the limit allows. Returns whether something is left that may rest.
    pub(super) fn trade(&mut self, incoming: &mut Incoming, sink: &mut impl FnMut(Report)) -> bool {
        let OrderState { side, price: limit, .. } = incoming.order;
        while incoming.order.open > 0
            && let Some(price) = self.ladder.best(side.opposite())
            && side.accepts(limit, price)
        {
            if self.sweep_level(price, incoming, sink) == Outcome::MustStop {
                sink(Report::Cancelled(incoming.order, Cause::SelfTrade));
                return false;
            }
        }
        incoming.order.open > 0
    }

    /// Puts an order at the end of its level and reports the level.
    pub(super) fn rest(&mut self, slot: Slot, sink: &mut impl FnMut(Report)) {
        self.append(slot);
        let order = &self.orders[slot];
        sink(self.level(order.side(), order.price()));
    }

    /// Trades with one level, until it is empty or nothing is left of the order.
    fn sweep_level(
        &mut self,
        price: Price,
        incoming: &mut Incoming,
        sink: &mut impl FnMut(Report),
    ) -> Outcome {
        let side = incoming.order.side.opposite();
        let before = self.ladder[price].quantity;
        let outcome = self.trade_with_queue(price, incoming, sink);
        let level = self.ladder[price];
        if level.quantity == before {
            return outcome;
        }
        self.ladder.note_gone(price, before - level.quantity);
        if level.head == NIL {
            self.ladder[price].tail = NIL;
            self.ladder.leave(side, price);
        } else {
            self.orders[level.head].previous = NIL;
        }
        sink(self.level(side, price));
        outcome
    }

    /// Takes orders from the head of a level. It leaves the tail of the level and the head's link to
    /// the order before it to the caller.
    fn trade_with_queue(
        &mut self,
        price: Price,
        incoming: &mut Incoming,
        sink: &mut impl FnMut(Report),
    ) -> Outcome {
        let level = &mut self.ladder[price];
        while incoming.order.open > 0 && level.head != NIL {
            let slot = level.head;
            let maker = &mut self.orders[slot];
            let open = maker.open;
            if maker.account != incoming.order.id.account {
                trade(maker, incoming, sink);
            } else if incoming.self_trade == SelfTrade::CancelNewest {
                return Outcome::MustStop;
            } else {
                avoid_self_trade(maker, incoming, sink);
            }
            level.quantity -= u64::from(open - maker.open);
            if maker.open == 0 {
                level.head = maker.next;
                level.orders -= 1;
                self.orders.remove(slot);
            }
        }
        Outcome::GoesOn
    }

    /// Whether all of an order can trade with orders of other accounts. If an order of its own account
    /// stands before the last of them, it can only under `CancelOldest`. `own` is the quantity that the
    /// account has on the other side.
    ///
    /// An order that is refused costs its account nothing, so it must not cost a walk through the whole
    /// book. Where the sums do not decide, the walk ends after [`MOST_CHECKED_ORDERS`], and the answer
    /// is no.
    #[must_use]
    pub fn can_fill(&self, incoming: &Incoming, own: u64) -> bool {
        let OrderState { id, side, price: limit, open, .. } = incoming.order;
        let reachable = self.ladder.reachable(side.opposite(), limit);
        if reachable < u64::from(open) {
            return false;
        }
        let passes_own = incoming.self_trade == SelfTrade::CancelOldest;
        if own == 0 || passes_own && reachable >= own + u64::from(open) {
            return true;
        }
        let mut missing = open;
        for maker in self.by_priority(side.opposite()).take(MOST_CHECKED_ORDERS) {
            if missing == 0 || !side.accepts(limit, maker.price) {
                break;
            }
            if maker.id.account != id.account {
                missing = missing.saturating_sub(maker.open);
            } else if !passes_own {
                break;
            }
        }
        missing == 0
    }
}

/// Trades as much as both orders allow.
fn trade(maker: &mut Order, incoming: &mut Incoming, sink: &mut impl FnMut(Report)) {
    let taker = &mut incoming.order;
    let quantity = maker.open.min(taker.open);
    maker.open -= quantity;
    maker.filled += quantity;
    taker.open -= quantity;
    incoming.filled += quantity;
    sink(Report::Trade(Trade {
        symbol: taker.symbol,
        maker: maker.id(),
        taker: taker.id,
        taker_side: taker.side,
        price: maker.price(),
        quantity,
        maker_open: maker.open,
        taker_open: taker.open,
        taker_limit: taker.price,
    }));
}

/// Cancels the resting order, or makes both smaller.
#[cold]
fn avoid_self_trade(maker: &mut Order, incoming: &mut Incoming, sink: &mut impl FnMut(Report)) {
    let resting = state_of(maker, incoming.order.symbol);
    if incoming.self_trade == SelfTrade::CancelOldest {
        maker.open = 0;
        sink(Report::Cancelled(resting, Cause::SelfTrade));
        return;
    }
    let quantity = maker.open.min(incoming.order.open);
    sink(smaller(resting, quantity));
    sink(smaller(incoming.order, quantity));
    maker.open -= quantity;
    incoming.order.open -= quantity;
}

/// Returns the report of an order that loses `quantity` to an order of its own account.
fn smaller(order: OrderState, quantity: Quantity) -> Report {
    let gone = OrderState { open: quantity, ..order };
    if quantity == order.open {
        Report::Cancelled(gone, Cause::SelfTrade)
    } else {
        Report::Reduced(gone, Cause::SelfTrade)
    }
}

/// Returns what a report says about a resting order.
pub(super) fn state_of(order: &Order, symbol: SymbolId) -> OrderState {
    OrderState {
        id: order.id(),
        symbol,
        side: order.side(),
        price: order.price(),
        open: order.open,
    }
}
