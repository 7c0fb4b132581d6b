//! A snapshot that subscribers share, and the changes since.
//!
//! A subscriber gets both, and then each later change. Without the changes, each subscriber would
//! need a snapshot of its own, with the memory of all levels and the time to read them.

use std::sync::Arc;

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
    records: Option<Arc<[Answer]>>,
    changes: Vec<Answer>,
}

impl SharedSnapshot {
    /// Notes a change, which subscribers get.
    pub(super) fn note(&mut self, change: Answer) {
        if self.records.is_none() {
            return;
        }
        self.changes.push(change);
        if self.changes.len() > MOST_CHANGES {
            *self = Self::default();
        }
    }

    /// Sends a snapshot and the changes since to a new subscriber. Asks `make` for the records if
    /// there is no snapshot, or it is old. `sequence` is the last command. Returns false if the
    /// client is gone.
    pub(super) fn send(
        &mut self,
        to: &Outbox,
        sequence: Sequence,
        make: impl FnOnce() -> Vec<Answer>,
    ) -> bool {
        let is_fresh = |record: &Answer| record.sequence + MOST_COMMANDS > sequence;
        let found = self.records.as_ref().filter(|found| found.first().is_some_and(is_fresh));
        if let Some(records) = found {
            return to.send_all(Arc::clone(records)) && to.send_all(self.changes.as_slice().into());
        }
        let records: Arc<[Answer]> = marked(make()).into();
        *self = Self { records: Some(Arc::clone(&records)), changes: Vec::new() };
        to.send_all(records)
    }
}

/// Marks the last record.
fn marked(mut records: Vec<Answer>) -> Vec<Answer> {
    if let Some(last) = records.last_mut() {
        last.is_last = 1;
    }
    records
}
