//! The words that count the consumers, assign the dynamic stages, and record how far producers were
//! allowed to claim. Not here: how a consumer joins (`joining`), and its sequence (`control`).
//!
//! A dynamic stage is a stage outside the graph. A consumer that joins a running ring takes a free
//! dynamic stage, and frees it for the next consumer when it leaves.

use std::ops::Range;

use super::StageIndex;
use crate::Sequence;
use crate::padded::Padded;
use crate::sync::{AtomicU64, Ordering};

/// The consumers of a ring and its dynamic stages. The hot path reads none of this.
#[derive(Debug)]
pub(crate) struct DynamicStages {
    /// First sequence that no producer has been allowed to claim. In a ring with dynamic stages,
    /// producers write it when they load the gate; consumers that join read it.
    granted: Padded<AtomicU64>,
    /// Number of consumers, less those that left before the ring ended. At 0 the ring is halted,
    /// and no consumer joins.
    consumers: AtomicU64,
    /// For each dynamic stage, how often it was taken or freed: odd while it is occupied.
    generations: Box<[AtomicU64]>,
    /// Number of stages of the graph, which have the first indices.
    graph: StageIndex,
    /// Index of the first dynamic stage.
    first: StageIndex,
}

impl DynamicStages {
    /// Creates `count` dynamic stages with the indices from `first` on, beside a graph of `graph`
    /// stages.
    pub(crate) fn new(graph: usize, first: StageIndex, count: usize) -> Self {
        Self {
            granted: Padded(AtomicU64::new(0)),
            consumers: AtomicU64::new(graph as u64),
            generations: (0..count).map(|_| AtomicU64::new(0)).collect(),
            graph,
            first,
        }
    }

    /// Returns the words of everything that reads events: the stages of the graph and the dynamic
    /// stages, but not acknowledgements. A group's word says what the group has claimed, which is
    /// published.
    pub(crate) fn readers(&self) -> impl Iterator<Item = StageIndex> {
        (0..self.graph).chain(self.indices())
    }

    /// Whether `stage` is a stage of the graph.
    pub(crate) fn is_of_graph(&self, stage: StageIndex) -> bool {
        stage < self.graph
    }

    /// Returns the dynamic stages, as stages.
    pub(crate) fn indices(&self) -> Range<StageIndex> {
        self.first..self.first + self.generations.len()
    }

    /// Whether there are no dynamic stages.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.generations.is_empty()
    }

    /// Returns the number of free dynamic stages; a snapshot.
    pub(crate) fn free(&self) -> usize {
        // O13, Relaxed: a snapshot; `take` decides.
        let is_free =
            |generation: &&AtomicU64| generation.load(Ordering::Relaxed).is_multiple_of(2);
        self.generations.iter().filter(is_free).count()
    }

    /// Takes a free dynamic stage, and returns it with the number of its generation.
    pub(crate) fn take(&self) -> Option<(StageIndex, u64)> {
        self.indices().zip(&self.generations).find_map(|(dynamic_stage, generation)| {
            // O13, Relaxed: a snapshot; the next line decides.
            let last = generation.load(Ordering::Relaxed);
            // O16, Acquire: pairs with the Release in `give_back`; brings all that the last
            // consumer did here. Relaxed on failure: another consumer has taken the dynamic stage.
            let swap = |next| {
                generation.compare_exchange(last, next, Ordering::Acquire, Ordering::Relaxed)
            };
            let is_taken = last.is_multiple_of(2) && swap(last + 1).is_ok();
            is_taken.then_some((dynamic_stage, last + 1))
        })
    }

    /// Frees a dynamic stage that the caller has taken and that no longer holds producers back.
    pub(crate) fn give_back(&self, dynamic_stage: StageIndex) {
        // O16, Release: pairs with the Acquire in `take`; carries the end of this consumer's reads.
        self.generations[dynamic_stage - self.first].fetch_add(1, Ordering::Release);
    }

    /// Counts one more consumer. Returns false if the last one has left, which halts the ring.
    pub(crate) fn add_consumer(&self) -> bool {
        // O14, Relaxed: a count in one modification order, which ends at 0.
        let mut consumers = self.consumers.load(Ordering::Relaxed);
        while consumers > 0 {
            // O14, Relaxed: as above, for both outcomes.
            match self.consumers.compare_exchange_weak(
                consumers,
                consumers + 1,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => consumers = now,
            }
        }
        false
    }

    /// Counts one consumer less. Returns true if it was the last one.
    pub(crate) fn remove_consumer(&self) -> bool {
        // O14, Relaxed: a count in one modification order, which ends at 0.
        self.consumers.fetch_sub(1, Ordering::Relaxed) == 1
    }

    /// Whether a consumer is left or is just joining.
    pub(crate) fn has_consumers(&self) -> bool {
        // O14, Relaxed: a thread that saw all consumers gone also sees the count at 0. Each
        // consumer was taken off the count before its sequence said that it had left (O2).
        self.consumers.load(Ordering::Relaxed) > 0
    }

    /// Records that producers may claim below `limit`, for joining consumers.
    pub(crate) fn raise_granted(&self, limit: Sequence) {
        // O15, Release: pairs with the Acquire in `granted`; carries that everything a lap below is
        // settled. The caller runs a full fence before it loads the dynamic stages.
        self.granted.fetch_max(limit, Ordering::Release);
    }

    /// Returns the first sequence that no producer was allowed to claim, as far as the caller can
    /// know.
    pub(crate) fn granted(&self) -> Sequence {
        // O15, Acquire: pairs with the Release in `raise_granted`.
        self.granted.load(Ordering::Acquire)
    }
}
