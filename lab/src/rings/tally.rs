//! The state of a ring consumer: its answer so far, and the number of batches. Each consumer has
//! its own cache lines, to avoid false sharing.

use crossbeam_utils::CachePadded;

/// The state of one consumer.
#[derive(Debug, Default)]
pub(crate) struct Tally<F> {
    /// The answer so far.
    pub(crate) answer: F,
    /// Completed batches.
    pub(crate) batches: u64,
}

impl<F: Default> Tally<F> {
    /// Creates an empty tally on its own cache lines.
    pub(crate) fn new() -> CachePadded<Self> {
        CachePadded::new(Self::default())
    }
}

impl<F> Tally<F> {
    /// Counts the batch if this event ends it.
    #[inline]
    pub(crate) fn count(&mut self, end_of_batch: bool) {
        if end_of_batch {
            self.batches += 1;
        }
    }
}
