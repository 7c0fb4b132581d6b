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

/// Changes after which the next subscriber gets a new snapshot. Each subscriber copies them.
const MOST_CHANGES: usize = 1_000;
/// Commands after which it gets a new one. A subscriber learns from its records how far the exchange
/// is.
const MOST_COMMANDS: Sequence = 10_000;

/// The last snapshot that was sent, and what has changed since.
#[derive(Debug, Default)]
pub(super) struct SharedSnapshot {
    /// `None` if so much has changed that the next subscriber gets a new one.
    records: Option<Arc<Vec<Answer>>>,
    changes: Vec<Answer>,
    /// The same records, for as long as clients take them.
    last: Weak<Vec<Answer>>,
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
        if self.records.is_none() {
            return;
        }
        self.changes.push(change);
        if self.changes.len() > MOST_CHANGES {
            self.forget();
        }
    }

    /// Sends a snapshot and the changes since to a new subscriber. Asks `make` for the records if
    /// there is no snapshot, or it is old. `sequence` is the last command.
    pub(super) fn send(
        &mut self,
        to: &Outbox,
        sequence: Sequence,
        make: impl FnOnce() -> Vec<Answer>,
    ) -> Delivery {
        let is_fresh = |record: &Answer| record.sequence + MOST_COMMANDS > sequence;
        let found = self.records.as_ref().filter(|found| found.first().is_some_and(is_fresh));
        if let Some(records) = found {
            let changes = Arc::new(self.changes.clone());
            return Delivery::of(to.send_all(Arc::clone(records)) && to.send_all(changes));
        }
        self.forget();
        if self.last.strong_count() > 0 {
            return Delivery::Later;
        }
        let records = Arc::new(marked(make()));
        self.last = Arc::downgrade(&records);
        self.records = Some(Arc::clone(&records));
        Delivery::of(to.send_all(records))
    }

    fn forget(&mut self) {
        (self.records, self.changes) = (None, Vec::new());
    }
}

/// Marks the last record.
fn marked(mut records: Vec<Answer>) -> Vec<Answer> {
    if let Some(last) = records.last_mut() {
        last.is_last = 1;
    }
    records
}
