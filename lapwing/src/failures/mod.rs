//! Which events a stage has skipped as failed. Downstream stages read this to learn which events
//! not to trust. Not here: why the events failed (`reasons`), the policy that skips an event, and
//! what a consumer does with the marks (`consumer`).
//!
//! The mark of a slot identifies the sequence that failed there. Marks are never cleared: a mark of
//! another lap differs from the sequence that a reader expects.

mod reasons;

use std::ops::Range;
use std::sync::Arc;

use lapwing_core::memory::{PerSlot, Reserved};

use reasons::Reasons;
pub(crate) use reasons::{Reason, Trouble};

use crate::Sequence;
use crate::sync::{AtomicU64, Ordering};

/// The marks of one stage. Its consumers write a mark before they release the event. Downstream
/// stages read it after they have seen the release. Only a worker group has more than one consumer.
#[derive(Debug)]
pub(crate) struct Failures {
    /// One more than the greatest sequence that failed; 0 if none has failed.
    newest: AtomicU64,
    /// For each slot, one more than the last sequence that failed there; 0 if none has failed.
    marks: PerSlot<AtomicU64>,
    /// Why they failed, if another stage may ask.
    reasons: Option<Reasons>,
}

impl Failures {
    /// Creates the marks in the memory `reserved`, with no failure yet. `is_followed` says whether
    /// there are stages downstream, which may ask for reasons.
    pub(crate) fn new(reserved: Reserved<AtomicU64>, is_followed: bool) -> Self {
        let marks = reserved.fill(|_| AtomicU64::new(0));
        Self { newest: AtomicU64::new(0), marks, reasons: is_followed.then(Reasons::default) }
    }

    fn mark_of(&self, sequence: Sequence) -> &AtomicU64 {
        &self.marks[(sequence as usize) & (self.marks.len() - 1)]
    }

    /// Marks `sequence` as failed. The caller is a consumer of the stage and has not released the
    /// event.
    pub(crate) fn mark(&self, sequence: Sequence) {
        // O17, Relaxed: released with the stage's sequence (O3).
        self.mark_of(sequence).store(sequence + 1, Ordering::Relaxed);
        // O17, Relaxed: as above. A maximum, since another worker may have marked a later sequence.
        self.newest.fetch_max(sequence + 1, Ordering::Relaxed);
    }

    /// Whether it keeps the reasons of failures.
    pub(crate) fn keeps_reasons(&self) -> bool {
        self.reasons.is_some()
    }

    /// Keeps the `reason` why `events` have failed, before they are marked.
    pub(crate) fn explain(&self, events: Range<Sequence>, reason: Reason) {
        if let Some(reasons) = self.reasons.as_ref().filter(|_| !events.is_empty()) {
            reasons.add(events, self.marks.len() as u64, reason);
        }
    }

    /// Returns why `sequence` has failed, unless its handler skipped it without an error. The caller
    /// has seen that it is marked.
    pub(crate) fn reason(&self, sequence: Sequence) -> Option<Arc<Reason>> {
        self.reasons.as_ref()?.of(sequence)
    }

    /// Whether any event from `first` on has failed. The caller has seen the stage release these
    /// events.
    pub(crate) fn is_any_from(&self, first: Sequence) -> bool {
        // O17, Relaxed: acquired with the stage's sequence (O3).
        self.newest.load(Ordering::Relaxed) > first
    }

    /// Whether `sequence` has failed. The caller has seen the stage release it.
    pub(crate) fn is_marked(&self, sequence: Sequence) -> bool {
        // O17, Relaxed: acquired with the stage's sequence (O3). The slot's next event cannot be
        // marked yet, since the caller has not released this one.
        self.mark_of(sequence).load(Ordering::Relaxed) == sequence + 1
    }
}
