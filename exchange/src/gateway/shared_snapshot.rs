//! A snapshot that subscribers share, and the changes since.
//!
//! A subscriber gets both, and then each later change. Without the changes, each subscriber would
//! need a snapshot of its own, with the memory of all levels and the time to read them.
//!
//! There is one snapshot of a topic at a time. While slow clients take it, and it is too old for others,
//! those wait. The [pace](super::outbox) that a client must keep limits this.

use std::sync::{Arc, Weak};

use lapwing::Sequence;

use super::outbox::Outbox;
use super::wire::Answer;
use crate::types::{Level, PackedReport, Report, SymbolSpec};

/// Changes after which the next subscriber gets a new snapshot. Each subscriber copies them.
const MOST_CHANGES: usize = 1_000;
/// Commands after which it gets a new one. A subscriber learns from its records how far the exchange
/// is.
const MOST_COMMANDS: Sequence = 10_000;

/// The last snapshot that was sent, and what has changed since.
#[derive(Debug, Default)]
pub(super) struct SharedSnapshot {
    /// `None` if so much has changed that the next subscriber gets a new one.
    snapshot: Option<Arc<Snapshot>>,
    changes: Vec<Answer>,
    /// The same snapshot, for as long as clients take it.
    last: Weak<Snapshot>,
}

/// A state of a topic, in less memory than the records that clients get.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// The number of changes that led to it.
    pub(super) tag: u64,
    /// The last command.
    pub(super) sequence: Sequence,
    pub(super) parts: Vec<Part>,
}

/// What one record of a snapshot says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    Symbol(SymbolSpec),
    Level(Level),
}

const _: () = assert!(3 * size_of::<Part>() <= size_of::<Answer>(), "a snapshot must be small");

impl Snapshot {
    /// Returns the records. The last one is marked.
    pub(super) fn records(&self) -> impl Iterator<Item = Answer> + '_ {
        let &Self { tag, sequence, .. } = self;
        (1..).zip(&self.parts).map(move |(number, part)| {
            let report = match *part {
                Part::Symbol(spec) => Report::SymbolAdded(spec),
                Part::Level(level) => Report::Level(level),
            };
            let is_last = u64::from(number == self.parts.len());
            Answer { tag, sequence, is_last, report: PackedReport::from(&report) }
        })
    }
}

/// What became of a snapshot for a subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    Queued,
    /// Clients still take an older one: ask again. The memory of the exchange has place for one.
    Later,
    /// The client is gone.
    Gone,
}

impl Delivery {
    pub(super) fn of(is_queued: bool) -> Self {
        if is_queued { Self::Queued } else { Self::Gone }
    }
}

impl SharedSnapshot {
    /// Notes a change, which subscribers get.
    pub(super) fn note(&mut self, change: Answer) {
        if self.snapshot.is_none() {
            return;
        }
        self.changes.push(change);
        if self.changes.len() > MOST_CHANGES {
            self.forget();
        }
    }

    /// Sends a snapshot and the changes since to a new subscriber. Asks `make` for a snapshot if there
    /// is none, or it is old. `sequence` is the last command.
    pub(super) fn send(
        &mut self,
        to: &Outbox,
        sequence: Sequence,
        make: impl FnOnce() -> Snapshot,
    ) -> Delivery {
        let is_fresh = |found: &&Arc<Snapshot>| found.sequence + MOST_COMMANDS > sequence;
        if let Some(found) = self.snapshot.as_ref().filter(is_fresh) {
            return Delivery::of(to.send_all(Arc::clone(found), self.changes.clone()));
        }
        self.forget();
        if self.last.strong_count() > 0 {
            return Delivery::Later;
        }
        let snapshot = Arc::new(make());
        self.last = Arc::downgrade(&snapshot);
        // One without records does not say how far the exchange is.
        self.snapshot = Some(Arc::clone(&snapshot)).filter(|made| !made.parts.is_empty());
        Delivery::of(to.send_all(snapshot, Vec::new()))
    }

    fn forget(&mut self) {
        (self.snapshot, self.changes) = (None, Vec::new());
    }
}
