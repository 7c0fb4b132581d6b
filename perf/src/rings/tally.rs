//! What a consumer of a ring keeps: its answer so far and how many batches it was handed. One for
//! each consumer, on cache lines of its own, so that consumers do not disturb each other.

use crossbeam_utils::CachePadded;

/// The state of one consumer.
#[derive(Debug, Default)]
pub(crate) struct Tally<F> {
    /// The answer so far.
    pub(crate) answer: F,
    /// Batches that have ended.
    pub(crate) batches: u64,
}

impl<F: Default> Tally<F> {
    /// A tally of nothing, on cache lines of its own.
    pub(crate) fn new() -> CachePadded<Self> {
        CachePadded::new(Self::default())
    }
}

impl<F> Tally<F> {
    /// Counts the batch that this event ends, if it ends one.
    #[inline]
    pub(crate) fn count(&mut self, end_of_batch: bool) {
        if end_of_batch {
            self.batches += 1;
        }
    }
}
