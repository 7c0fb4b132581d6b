//! A book of the plain exchange: a queue of orders for each price.

use std::collections::{BTreeMap, VecDeque};

use super::{BookState, OrderRef, OrderState, Sink, SymbolSpec};
use crate::state::RestingOrder;
use crate::types::{
    Cause, Level, MOST_CHECKED_ORDERS, Price, Quantity, Report, SelfTrade, Side, SymbolId, Trade,
};

#[derive(Clone, Debug)]
pub(super) struct PlainBook {
    pub(super) spec: SymbolSpec,
    bids: BTreeMap<Price, VecDeque<RestingOrder>>,
    asks: BTreeMap<Price, VecDeque<RestingOrder>>,
}

/// An order in the book, with its side.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainOrder {
    pub(super) side: Side,
    pub(super) resting: RestingOrder,
}

impl PlainOrder {
    pub(super) fn state(&self, symbol: SymbolId) -> OrderState {
        let RestingOrder { id, price, open, .. } = self.resting;
        OrderState { id, symbol, side: self.side, price, open }
    }
}

/// An order on its way into the book. `order.open` is what may still trade.
#[derive(Clone, Copy, Debug)]
pub(super) struct Incoming {
    pub(super) order: OrderState,
    pub(super) filled: Quantity,
    pub(super) self_trade: SelfTrade,
}

impl PlainBook {
    pub(super) fn new(spec: SymbolSpec) -> Self {
        Self { spec, bids: BTreeMap::new(), asks: BTreeMap::new() }
    }

    /// Returns the number of resting orders.
    pub(super) fn len(&self) -> usize {
        self.orders().count()
    }

    /// Returns all orders, those of a side in the order in which they trade.
    pub(super) fn orders(&self) -> impl Iterator<Item = PlainOrder> {
        let of = |side| self.by_priority(side).map(move |&resting| PlainOrder { side, resting });
        of(Side::Buy).chain(of(Side::Sell))
    }

    pub(super) fn find(&self, id: OrderRef) -> Option<PlainOrder> {
        self.orders().find(|order| order.resting.id == id)
    }

    /// Whether an order could trade as soon as it enters.
    pub(super) fn would_trade(&self, side: Side, limit: Price) -> bool {
        self.best(side.opposite()).is_some_and(|price| side.accepts(limit, price))
    }

    /// Whether all of an order can trade with orders of other accounts. If an order of its own account
    /// stands before the last of them, it can only under `CancelOldest`. Unless the sums say that it
    /// can, so many orders are checked.
    pub(super) fn can_fill(&self, incoming: &Incoming) -> bool {
        let OrderState { id, side, price: limit, open, .. } = incoming.order;
        let sum = |counts: &dyn Fn(&RestingOrder) -> bool| -> u64 {
            let counted = self.by_priority(side.opposite()).filter(|maker| counts(maker));
            counted.map(|maker| u64::from(maker.open)).sum()
        };
        let own = sum(&|maker| maker.id.account == id.account);
        let reachable = sum(&|maker| side.accepts(limit, maker.price));
        let passes_own = incoming.self_trade == SelfTrade::CancelOldest;
        let is_limited = own > 0 && !(passes_own && reachable >= own + u64::from(open));
        let most = if is_limited { MOST_CHECKED_ORDERS } else { usize::MAX };
        let mut missing = u64::from(open);
        for maker in self.by_priority(side.opposite()).take(most) {
            if missing == 0 || !side.accepts(limit, maker.price) {
                break;
            }
            if maker.id.account != id.account {
                missing = missing.saturating_sub(u64::from(maker.open));
            } else if !passes_own {
                break;
            }
        }
        missing == 0
    }

    /// Lets an order trade. Then the rest enters the book or is cancelled.
    pub(super) fn enter(&mut self, mut incoming: Incoming, may_rest: bool, sink: Sink<'_>) {
        let side = incoming.order.side;
        while incoming.order.open > 0 && self.would_trade(side, incoming.order.price) {
            let price = self.best(side.opposite()).expect("there is something to trade with");
            let before = self.level(side.opposite(), price);
            let goes_on = self.trade_at(price, &mut incoming, sink);
            self.forget_empty_levels();
            let after = self.level(side.opposite(), price);
            if after != before {
                sink(Report::Level(after));
            }
            if !goes_on {
                sink(Report::Cancelled(incoming.order, Cause::SelfTrade));
                return;
            }
        }
        self.rest(&incoming, may_rest, sink);
    }

    fn rest(&mut self, incoming: &Incoming, may_rest: bool, sink: Sink<'_>) {
        let OrderState { id, side, price, open, .. } = incoming.order;
        if open == 0 {
            return;
        }
        if !may_rest {
            sink(Report::Cancelled(incoming.order, Cause::Unfilled));
            return;
        }
        let order = RestingOrder { id, price, open, filled: incoming.filled };
        self.side_mut(side).entry(price).or_default().push_back(order);
        sink(Report::Level(self.level(side, price)));
    }

    /// Trades with one level, until it is empty or nothing is left of the order. Returns false if the
    /// rest of the order must be cancelled.
    fn trade_at(&mut self, price: Price, incoming: &mut Incoming, sink: Sink<'_>) -> bool {
        let side = incoming.order.side.opposite();
        let queue = self.side_mut(side).get_mut(&price).expect("the level exists");
        while incoming.order.open > 0
            && let Some(maker) = queue.front_mut()
        {
            if maker.id.account != incoming.order.id.account {
                trade(maker, incoming, sink);
            } else if incoming.self_trade == SelfTrade::CancelNewest {
                return false;
            } else {
                avoid_self_trade(maker, side, incoming, sink);
            }
            if maker.open == 0 {
                queue.pop_front();
            }
        }
        true
    }

    /// Takes an order out of the book.
    pub(super) fn remove(&mut self, id: OrderRef) {
        for queue in self.queues_mut() {
            queue.retain(|order| order.id != id);
        }
        self.forget_empty_levels();
    }

    /// Makes an order smaller by `quantity`.
    pub(super) fn reduce(&mut self, id: OrderRef, quantity: Quantity) {
        let mut orders = self.queues_mut().flatten();
        orders.find(|order| order.id == id).expect("the order rests").open -= quantity;
    }

    pub(super) fn level(&self, side: Side, price: Price) -> Level {
        let at_price = || self.by_priority(side).filter(|order| order.price == price);
        Level {
            symbol: self.spec.symbol,
            side,
            price,
            quantity: at_price().map(|order| u64::from(order.open)).sum(),
            orders: u32::try_from(at_price().count()).expect("a book has at most MAX_ORDERS"),
        }
    }

    pub(super) fn state(&self) -> BookState {
        BookState {
            spec: self.spec,
            bids: self.by_priority(Side::Buy).copied().collect(),
            asks: self.by_priority(Side::Sell).copied().collect(),
        }
    }

    fn best(&self, side: Side) -> Option<Price> {
        match side {
            Side::Buy => self.bids.keys().next_back().copied(),
            Side::Sell => self.asks.keys().next().copied(),
        }
    }

    /// Returns the orders of a side: the best price first, at a price the oldest first.
    fn by_priority(&self, side: Side) -> Box<dyn Iterator<Item = &RestingOrder> + '_> {
        match side {
            Side::Buy => Box::new(self.bids.values().rev().flatten()),
            Side::Sell => Box::new(self.asks.values().flatten()),
        }
    }

    fn side_mut(&mut self, side: Side) -> &mut BTreeMap<Price, VecDeque<RestingOrder>> {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }

    fn queues_mut(&mut self) -> impl Iterator<Item = &mut VecDeque<RestingOrder>> {
        self.bids.values_mut().chain(self.asks.values_mut())
    }

    fn forget_empty_levels(&mut self) {
        self.bids.retain(|_, queue| !queue.is_empty());
        self.asks.retain(|_, queue| !queue.is_empty());
    }
}

/// Trades as much as both orders allow.
fn trade(maker: &mut RestingOrder, incoming: &mut Incoming, sink: Sink<'_>) {
    let taker = &mut incoming.order;
    let quantity = maker.open.min(taker.open);
    maker.open -= quantity;
    maker.filled += quantity;
    taker.open -= quantity;
    incoming.filled += quantity;
    sink(Report::Trade(Trade {
        symbol: taker.symbol,
        maker: maker.id,
        taker: taker.id,
        taker_side: taker.side,
        price: maker.price,
        quantity,
        maker_open: maker.open,
        taker_open: taker.open,
        taker_limit: taker.price,
    }));
}

/// Cancels the resting order, or makes both smaller.
fn avoid_self_trade(maker: &mut RestingOrder, side: Side, incoming: &mut Incoming, sink: Sink<'_>) {
    let symbol = incoming.order.symbol;
    let resting = PlainOrder { side, resting: *maker }.state(symbol);
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

/// Returns the report of an order that loses `quantity`.
fn smaller(order: OrderState, quantity: Quantity) -> Report {
    let gone = OrderState { open: quantity, ..order };
    if quantity == order.open {
        Report::Cancelled(gone, Cause::SelfTrade)
    } else {
        Report::Reduced(gone, Cause::SelfTrade)
    }
}
