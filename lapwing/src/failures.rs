//! Which events a stage has skipped as failed. Downstream stages read this to learn which events
//! not to trust. Not here: the policy that skips an event, and what a consumer does with the marks
//! (`consumer`).
//!
//! The mark of a slot identifies the sequence that failed there. Marks are never cleared: a mark of
//! another lap differs from the sequence that a reader expects.

use lapwing_core::memory::{PerSlot, Reserved};

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
}

impl Failures {
    /// Creates the marks in the memory `reserved`, with no failure yet.
    pub(crate) fn new(reserved: Reserved<AtomicU64>) -> Self {
        Self { newest: AtomicU64::new(0), marks: reserved.fill(|_| AtomicU64::new(0)) }
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
