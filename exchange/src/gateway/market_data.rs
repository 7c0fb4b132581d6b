//! The stage that publishes levels and trades: a snapshot to each new subscriber, then each change.

use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc::{Receiver, Sender, channel};

use lapwing::{EventHandler, Sequence};

use super::answers::notice;
use super::outbox::Outbox;
use crate::service::Output;
use crate::state::{BookState, State};
use crate::types::{
    AccountId, Level, OrderId, OrderRef, PackedReport, Price, Report, Side, SymbolId, Trade,
};

/// Keeps the levels of each symbol and sends their changes to the subscribers.
#[derive(Debug)]
pub(super) struct MarketData {
    subscribing: Receiver<Subscription>,
    books: HashMap<SymbolId, Levels>,
    subscribers: Vec<Subscription>,
    /// The command after the last one that the levels contain.
    next: Sequence,
}

/// A session that gets the levels and trades of a symbol.
#[derive(Debug)]
pub(super) struct Subscription {
    pub(super) symbol: SymbolId,
    pub(super) outbox: Outbox,
}

/// Where a gateway adds subscribers.
pub(super) type Subscribing = Sender<Subscription>;

/// The levels of a book.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Levels {
    bids: BTreeMap<Price, Level>,
    asks: BTreeMap<Price, Level>,
}

impl Levels {
    fn of(state: &BookState) -> Self {
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

    fn side_mut(&mut self, side: Side) -> &mut BTreeMap<Price, Level> {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }

    fn set(&mut self, level: Level) {
        let side = self.side_mut(level.side);
        if level.quantity == 0 {
            side.remove(&level.price);
        } else {
            side.insert(level.price, level);
        }
    }

    fn iter(&self) -> impl Iterator<Item = &Level> {
        self.bids.values().rev().chain(self.asks.values())
    }
}

impl MarketData {
    /// Returns the stage with the books of `state`, and the way to add subscribers. `next` is the
    /// command after the last one that has led to `state`.
    pub(super) fn new(state: &State, next: Sequence) -> (Self, Subscribing) {
        let (adding, subscribing) = channel();
        let books = state.books.iter().map(|book| (book.spec.symbol, Levels::of(book))).collect();
        (Self { subscribing, books, subscribers: Vec::new(), next }, adding)
    }

    /// Sends a snapshot to each new subscriber.
    fn welcome(&mut self) {
        let next = self.next;
        while let Ok(mut subscription) = self.subscribing.try_recv() {
            let levels = self.books.get(&subscription.symbol);
            let mut levels = levels.into_iter().flat_map(Levels::iter);
            let outbox = &mut subscription.outbox;
            let send = |level: &Level| {
                outbox.send(notice(next, PackedReport::from(&Report::Level(*level))))
            };
            if levels.all(send) {
                self.subscribers.push(subscription);
            }
        }
    }

    fn publish(&mut self, symbol: SymbolId, sequence: Sequence, report: PackedReport) {
        let answer = notice(sequence, report);
        self.subscribers.retain_mut(|to| to.symbol != symbol || to.outbox.send(answer));
    }
}

impl EventHandler<Output> for MarketData {
    fn on_event(&mut self, output: &Output, _: Sequence, end_of_batch: bool) {
        match output.report.unpack() {
            Ok(Report::Level(level)) => {
                self.books.entry(level.symbol).or_default().set(level);
                self.publish(level.symbol, output.sequence, output.report);
            }
            Ok(Report::Trade(trade)) => {
                let public = PackedReport::from(&Report::Trade(without_names(trade)));
                self.publish(trade.symbol, output.sequence, public);
            }
            _ => {}
        }
        self.next = output.sequence + 1;
        if end_of_batch {
            self.welcome();
        }
    }

    fn on_timeout(&mut self, _: Sequence) {
        self.welcome();
    }
}

/// A trade as the public sees it.
fn without_names(trade: Trade) -> Trade {
    let nobody = OrderRef { account: AccountId(0), order: OrderId(0) };
    Trade { maker: nobody, taker: nobody, maker_open: 0, taker_open: 0, taker_limit: 0, ..trade }
}
