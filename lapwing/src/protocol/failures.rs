//! Which events a stage has skipped as failed, for the stages after it. Not here: the policy that skips an
//! event (`consumer`).
//!
//! Marks are never cleared: a mark is the sequence that failed, and that of another lap differs from the one
//! that a reader expects.

use crate::Sequence;
use crate::protocol::memory::{PerSlot, Reserved};
use crate::sync::{AtomicU64, Ordering};

/// Marks of one stage. Its consumers write them before they release the event; later stages read them after
/// they have seen the release. Only a worker group has more than one consumer.
#[derive(Debug)]
pub(crate) struct Failures {
    /// One more than the greatest sequence that failed; 0 before the first.
    newest: AtomicU64,
    /// For each slot, one more than the sequence that failed there last; 0 before the first.
    marks: PerSlot<AtomicU64>,
}

impl Failures {
    /// No failures yet, in `room`.
    pub(crate) fn new(room: Reserved<AtomicU64>) -> Self {
        Self { newest: AtomicU64::new(0), marks: room.fill(|_| AtomicU64::new(0)) }
    }

    fn mark_of(&self, sequence: Sequence) -> &AtomicU64 {
        &self.marks[(sequence as usize) & (self.marks.len() - 1)]
    }

    /// Marks `sequence`. The caller is a consumer of the stage and has not released the event.
    pub(crate) fn mark(&self, sequence: Sequence) {
        // O17, Relaxed: released with the stage's sequence (O3).
        self.mark_of(sequence).store(sequence + 1, Ordering::Relaxed);
        // O17, Relaxed: as above. The maximum, since another worker may have marked a later sequence.
        self.newest.fetch_max(sequence + 1, Ordering::Relaxed);
    }

    /// Whether any event from `first` on has failed. The caller has seen the stage release the events in
    /// question.
    pub(crate) fn is_any_from(&self, first: Sequence) -> bool {
        // O17, Relaxed: acquired with the stage's sequence (O3).
        self.newest.load(Ordering::Relaxed) > first
    }

    /// Whether `sequence` has failed. The caller has seen the stage release it.
    pub(crate) fn is_marked(&self, sequence: Sequence) -> bool {
        // O17, Relaxed: as in `is_any_from`. The slot's next event cannot be marked yet, since the caller has
        // not released this one.
        self.mark_of(sequence).load(Ordering::Relaxed) == sequence + 1
    }
}
