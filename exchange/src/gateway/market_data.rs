//! The stage that publishes levels and trades: a snapshot to each new subscriber, then each change.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};

use lapwing::{EventHandler, Sequence};

use super::outbox::Outbox;
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
    subscribers: Vec<Subscription>,
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
}

impl Book {
    fn of(state: &BookState) -> Self {
        Self { terms: state.spec, levels: Levels::of(state), changes: 1 }
    }

    /// The reports of a snapshot.
    fn snapshot(&self) -> impl Iterator<Item = Report> {
        let levels = self.levels.bids().chain(self.levels.asks());
        let levels = levels.map(|level| Report::Level(*level));
        std::iter::once(Report::SymbolAdded(self.terms)).chain(levels)
    }
}

impl MarketData {
    /// Returns the stage with the books of `state`, and the way to add subscribers. `next` is the
    /// command after the last one that has led to `state`.
    pub(super) fn new(state: &State, next: Sequence) -> (Self, Subscribing) {
        let (subscribing, changes) = channel();
        let books = state.books.iter().map(|book| (book.spec.symbol, Book::of(book))).collect();
        let last = next.saturating_sub(1);
        (Self { changes, books, subscribers: Vec::new(), last }, subscribing)
    }

    /// Sends a snapshot to each new subscriber, and forgets those that have gone.
    fn follow_changes(&mut self) {
        while let Ok(change) = self.changes.try_recv() {
            match change {
                Change::Begin(mut subscription) => {
                    if self.send_snapshot(&mut subscription) {
                        self.subscribers.push(*subscription);
                    }
                }
                Change::End(session) => self.subscribers.retain(|to| to.session != session),
            }
        }
    }

    /// Returns false if the client is gone.
    fn send_snapshot(&self, to: &mut Subscription) -> bool {
        match to.topic {
            Topic::Book(symbol) => self.books.get(&symbol).is_none_or(|book| {
                to.outbox.send_all(records(book.changes, self.last, book.snapshot()))
            }),
            Topic::Symbols => {
                let symbols = self.books.values().map(|book| Report::SymbolAdded(book.terms));
                to.outbox.send_all(records(0, self.last, symbols))
            }
        }
    }

    fn add_symbol(&mut self, terms: SymbolSpec, sequence: Sequence) {
        let book = Book { terms, levels: Levels::default(), changes: 1 };
        self.books.insert(terms.symbol, book);
        self.subscribers.retain_mut(|to| {
            let tag = match to.topic {
                Topic::Book(symbol) if symbol == terms.symbol => 1,
                Topic::Book(_) => return true,
                Topic::Symbols => 0,
            };
            let report = PackedReport::from(&Report::SymbolAdded(terms));
            to.outbox.send(Answer { tag, sequence, is_last: 1, report })
        });
    }

    /// Sends a change of a symbol to its subscribers.
    fn publish(&mut self, symbol: SymbolId, sequence: Sequence, report: &Report) {
        let Some(book) = self.books.get_mut(&symbol) else { return };
        book.changes += 1;
        if let Report::Level(level) = report {
            book.levels.set(*level);
        }
        let report = PackedReport::from(report);
        let answer = Answer { tag: book.changes, sequence, is_last: 0, report };
        let topic = Topic::Book(symbol);
        self.subscribers.retain_mut(|to| to.topic != topic || to.outbox.send(answer));
    }
}

/// Returns the records of a snapshot, the last one marked.
fn records(tag: u64, sequence: Sequence, reports: impl Iterator<Item = Report>) -> Vec<Answer> {
    let record = |report| Answer { tag, sequence, is_last: 0, report: PackedReport::from(&report) };
    let mut records: Vec<Answer> = reports.map(record).collect();
    if let Some(last) = records.last_mut() {
        last.is_last = 1;
    }
    records
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
