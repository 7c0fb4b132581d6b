//! The stage that publishes levels and trades: a snapshot to each new subscriber, then each change.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use lapwing::{EventHandler, Sequence};

use super::outbox::Outbox;
use super::shared_snapshot::{Delivery, Part, SharedSnapshot, Snapshot};
use super::wire::Answer;
use crate::market::Levels;
use crate::service::Output;
use crate::state::{BookState, State};
use crate::types::{
    AccountId, OrderId, OrderRef, PackedReport, Report, SymbolId, SymbolSpec, Trade,
};

/// Keeps the levels of each symbol and sends their changes to the subscribers.
#[derive(Debug)]
pub(super) struct MarketData {
    changes: Receiver<Change>,
    books: BTreeMap<SymbolId, Book>,
    /// All symbols, as a subscriber gets them.
    symbols: SharedSnapshot,
    subscribers: Vec<Subscription>,
    /// Those that have no snapshot yet.
    waiting: Vec<Subscription>,
    /// Symbols with changes that are not sent yet.
    changed: Vec<SymbolId>,
    /// The last command whose changes have begun to arrive.
    last: Sequence,
}

/// What the gateway reports to the stage.
#[derive(Debug)]
pub(super) enum Change {
    /// A session begins.
    Begin(Box<Subscription>),
    /// The client of this session has gone.
    End(u64),
}

/// What a session of market data is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    /// The levels and trades of a symbol.
    Book(SymbolId),
    /// Which symbols there are.
    Symbols,
}

/// A session that gets market data.
#[derive(Debug)]
pub(super) struct Subscription {
    pub(super) session: u64,
    pub(super) topic: Topic,
    pub(super) outbox: Outbox,
}

/// Where a gateway adds subscribers.
pub(super) type Subscribing = Sender<Change>;

/// What is known of a symbol.
#[derive(Debug)]
struct Book {
    terms: SymbolSpec,
    levels: Levels,
    /// The number of changes so far. The first one is the symbol itself.
    changes: u64,
    snapshot: SharedSnapshot,
    /// Changes of this batch.
    unsent: Vec<Answer>,
}

impl Book {
    fn of(state: &BookState) -> Self {
        Self { levels: Levels::of(state), ..Self::new(state.spec) }
    }

    fn new(terms: SymbolSpec) -> Self {
        let (levels, snapshot, unsent) = Default::default();
        Self { terms, levels, changes: 1, snapshot, unsent }
    }

    /// Sends the book to a new subscriber.
    fn send(&mut self, to: &Outbox, sequence: Sequence) -> Delivery {
        let Self { terms, levels, changes, snapshot, .. } = self;
        snapshot.send(to, sequence, || {
            let levels = levels.bids().chain(levels.asks()).map(|level| Part::Level(*level));
            let parts = std::iter::once(Part::Symbol(*terms)).chain(levels).collect();
            Snapshot { tag: *changes, sequence, parts }
        })
    }
}

impl MarketData {
    /// Returns the stage with the books of `state`, and the way to add subscribers. `next` is the
    /// command after the last one that has led to `state`.
    pub(super) fn new(state: &State, next: Sequence) -> (Self, Subscribing) {
        let (subscribing, changes) = channel();
        let books = state.books.iter().map(|book| (book.spec.symbol, Book::of(book))).collect();
        let last = next.saturating_sub(1);
        let (symbols, subscribers, waiting, changed) = Default::default();
        (Self { changes, books, symbols, subscribers, waiting, changed, last }, subscribing)
    }

    /// Sends a snapshot to each new subscriber, and forgets those that have gone.
    fn follow_changes(&mut self) {
        while let Ok(change) = self.changes.try_recv() {
            match change {
                Change::Begin(subscription) => self.waiting.push(*subscription),
                Change::End(session) => {
                    self.subscribers.retain(|to| to.session != session);
                    self.waiting.retain(|to| to.session != session);
                }
            }
        }
        for subscription in std::mem::take(&mut self.waiting) {
            match self.send_snapshot(&subscription) {
                Delivery::Queued => self.subscribers.push(subscription),
                Delivery::Later => self.waiting.push(subscription),
                Delivery::Gone => {}
            }
        }
    }

    fn send_snapshot(&mut self, to: &Subscription) -> Delivery {
        let Self { books, symbols, last, .. } = self;
        match to.topic {
            Topic::Book(symbol) => {
                let book = books.get_mut(&symbol);
                book.map_or(Delivery::Queued, |book| book.send(&to.outbox, *last))
            }
            Topic::Symbols => symbols.send(&to.outbox, *last, || {
                let parts = books.values().map(|book| Part::Symbol(book.terms)).collect();
                Snapshot { tag: 0, sequence: *last, parts }
            }),
        }
    }

    fn add_symbol(&mut self, terms: SymbolSpec, sequence: Sequence) {
        self.books.insert(terms.symbol, Book::new(terms));
        let added = Answer { is_last: 1, ..record(0, sequence, &Report::SymbolAdded(terms)) };
        self.symbols.note(added);
        self.subscribers.retain(|to| match to.topic {
            Topic::Book(symbol) if symbol == terms.symbol => {
                to.outbox.send(Answer { tag: 1, ..added })
            }
            Topic::Book(_) => true,
            Topic::Symbols => to.outbox.send(added),
        });
    }

    /// Sends the changes of a batch. Each subscriber shares them and is woken once, so that a busy
    /// symbol with many subscribers costs little for each change.
    fn send_changes(&mut self) {
        for symbol in self.changed.drain(..) {
            let Some(book) = self.books.get_mut(&symbol) else { continue };
            let changes: Arc<[Answer]> = book.unsent.as_slice().into();
            book.unsent.clear();
            let topic = Topic::Book(symbol);
            let send = |to: &Outbox| to.send_changes(Arc::clone(&changes));
            self.subscribers.retain(|to| to.topic != topic || send(&to.outbox));
        }
    }

    /// Notes a change of a symbol for its subscribers.
    fn publish(&mut self, symbol: SymbolId, sequence: Sequence, report: &Report) {
        let Some(book) = self.books.get_mut(&symbol) else { return };
        book.changes += 1;
        if let Report::Level(level) = report {
            book.levels.set(*level);
        }
        let answer = record(book.changes, sequence, report);
        book.snapshot.note(answer);
        if book.unsent.is_empty() {
            self.changed.push(symbol);
        }
        book.unsent.push(answer);
    }
}

fn record(tag: u64, sequence: Sequence, report: &Report) -> Answer {
    Answer { tag, sequence, is_last: 0, report: PackedReport::from(report) }
}

impl EventHandler<Output> for MarketData {
    fn on_event(&mut self, output: &Output, _: Sequence, end_of_batch: bool) {
        match output.report.unpack() {
            Ok(report @ Report::Level(level)) => {
                self.publish(level.symbol, output.sequence, &report);
            }
            Ok(Report::Trade(trade)) => {
                let public = Report::Trade(without_names(trade));
                self.publish(trade.symbol, output.sequence, &public);
            }
            Ok(Report::SymbolAdded(terms)) => self.add_symbol(terms, output.sequence),
            _ => {}
        }
        self.last = output.sequence;
        if end_of_batch {
            // First, since the snapshot of a new subscriber has these changes.
            self.send_changes();
            self.follow_changes();
        }
    }

    fn on_timeout(&mut self, _: Sequence) {
        self.follow_changes();
    }
}

/// A trade as the public sees it.
fn without_names(trade: Trade) -> Trade {
    let nobody = OrderRef { account: AccountId(0), order: OrderId(0) };
    Trade { maker: nobody, taker: nobody, maker_open: 0, taker_open: 0, taker_limit: 0, ..trade }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use bytemuck::Zeroable;

    use super::*;
    use crate::Exchange;
    use crate::engine::Engine;
    use crate::gateway::outbox::Outgoing;
    use crate::gateway::sessions::Sessions;
    use crate::types::{Level, Side};

    /// Each change woke the writer of each subscriber. Hundreds of them held up all commands.
    #[test]
    fn a_subscriber_was_woken_for_each_change_of_a_batch() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (sessions, _ender) = Sessions::new(1).unwrap();
        let (connection, _reading) = sessions.enter(client).unwrap();
        let (outbox, queue) = Outbox::new(&connection, 10);

        let (mut stage, subscribing) = MarketData::new(&Engine::default().state(), 1);
        let symbol = SymbolId(3);
        let spec = SymbolSpec { symbol, lowest: 1, highest: 9, max_orders: 9 };
        let output = |report| Output {
            sequence: 5,
            report: PackedReport::from(&report),
            ..Output::zeroed()
        };
        stage.on_event(&output(Report::SymbolAdded(spec)), 0, true);
        let subscription = Subscription { session: 1, topic: Topic::Book(symbol), outbox };
        subscribing.send(Change::Begin(Box::new(subscription))).unwrap();
        stage.on_timeout(1);
        assert!(matches!(queue.try_recv(), Ok(Outgoing::Snapshot(..))));
        for price in 1..=9 {
            let level = Level { symbol, side: Side::Buy, price, quantity: 1, orders: 1 };
            stage.on_event(&output(Report::Level(level)), u64::from(price), price == 9);
        }
        let sent: Vec<_> = queue.try_iter().collect();
        let [Outgoing::Changes(changes)] = &sent[..] else { panic!("{sent:?}") };
        let tags: Vec<_> = changes.iter().map(|change| change.tag).collect();
        assert_eq!(tags, (2..=10).collect::<Vec<_>>());
    }
}
