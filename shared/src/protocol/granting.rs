//! Decides how far writers may write: at most one lap ahead of the slowest reader. Not here: how a reader that joins
//! is seen (`seats`).

use super::Shared;
use crate::sync::{Ordering, fence};

/// A writer is granted a quarter of the ring at a time. The other slots have events that a reader
/// can begin with.
const STEPS: u64 = 4;

impl Shared<'_> {
    /// Returns how many events a thread processes at a time: a quarter of the ring.
    #[inline]
    pub(crate) fn step(self) -> u64 {
        (self.capacity / STEPS).max(1)
    }

    /// Looks at the seats for a writer that is about to write `next`, and was granted the sequences
    /// below `granted` before. Returns up to where it may write now.
    #[cold]
    pub(crate) fn grant(self, next: u64, granted: u64) -> u64 {
        let step = next + self.step();
        let limit = || self.slowest().map_or(step, |slowest| step.min(slowest + self.capacity));
        let first = limit();
        if first <= granted {
            return granted;
        }
        // P4, Release: pairs with the Acquire in `oldest`; carries what is published or claimed. The
        // word never decreases: another writer, or a dead one, may have written up to there.
        self.words.granted.0.fetch_max(first, Ordering::Release);
        // P4: between the limit and the second look. Pairs with the fence in `join`.
        fence(Ordering::SeqCst);
        granted.max(first.min(limit()))
    }
}
