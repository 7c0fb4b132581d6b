//! The position of a handler in its batch, in case it panics. Not here: the calls that note it (`work`).

use std::cell::Cell;
use std::ops::Range;

use crate::Sequence;

/// The position of a handler in its batch, in case it panics.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// The event that is being handled. With a handler that gets a batch at a time, the first event
    /// that it has not finished.
    at: Cell<Sequence>,
    /// End of the batch that is being handled.
    batch: Cell<Option<Sequence>>,
}

impl Progress {
    /// Notes that the handler begins `batch`.
    pub(crate) fn begin(&self, batch: &Range<Sequence>) {
        self.at.set(batch.start);
        self.batch.set(Some(batch.end));
    }

    /// Notes that the handler has finished the events of its batch below `at`, or all of them if
    /// the batch ends before.
    pub(super) fn finish_below(&self, at: Sequence) {
        self.at.set(self.batch.get().map_or(at, |end| at.min(end)));
    }

    /// Notes that no event is being handled.
    pub(crate) fn end(&self) {
        self.batch.set(None);
    }

    /// The events from the one that is being handled to the end of its batch.
    pub(crate) fn within(&self) -> Option<Range<Sequence>> {
        self.batch.get().map(|end| self.at.get()..end)
    }
}

/// Notes the position of a handler when it is dropped, at the end of the batch or by a panic. A
/// store for each event would prevent optimisations: the compiler could not rule out that the
/// handler has a pointer to the word.
pub(super) struct Noted<'a> {
    pub(super) progress: &'a Progress,
    pub(super) at: Sequence,
}

impl Drop for Noted<'_> {
    #[inline]
    fn drop(&mut self) {
        self.progress.at.set(self.at);
    }
}
