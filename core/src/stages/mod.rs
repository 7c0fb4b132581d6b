//! How far stages have finished, what gates the producers, and which stage a waiting thread is
//! behind. Not here: how a stage advances and which threads it wakes (`control`).
//!
//! The words have one index each: the stages of the graph first, upstream ones before those that
//! follow them, then the words of acknowledgements and workers, and the dynamic stages last.

mod dynamic;
mod words;

mod graph;

pub(crate) use dynamic::DynamicStages;
pub use graph::{Graph, ancestors};
pub(crate) use words::{StageWords, sequence_of};

use crate::Sequence;
use crate::words::{Placed, Words};

/// Index of the words of a stage in its ring.
pub type StageIndex = usize;

/// Sequence of a consumer that has left. It holds no thread back. Stages downstream of it wait for
/// the stages upstream of it.
pub const DETACHED: Sequence = Sequence::MAX;

/// Sequence of a worker that holds no event, and therefore holds no thread back. It is below
/// [`DETACHED`], since the worker's group has not left.
pub const IDLE: Sequence = DETACHED - 1;

/// The generation of a consumer of the graph. Its stage never has another consumer, unlike a
/// dynamic stage.
pub const ONLY_GENERATION: u64 = 1;

/// What producers may overwrite: every consumer has finished everything below the gate, and that
/// never changes.
///
/// A gate does not say that anything above it is unfinished. A worker stores the start of its claim
/// before it claims, and a consumer that joins stores where it wishes to begin. Either may be
/// stopped while it holds a number that the ring has long passed, so a later gate can be lower than
/// an earlier one. What must not be concluded wrongly, such as that a claim is still open, follows
/// from words that only rise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gate(Sequence);

impl Gate {
    /// Returns the end of the sequences that are certainly free to claim in a ring of `capacity`
    /// slots; `None` if no consumer is left.
    #[inline]
    pub(crate) fn free_up_to(self, capacity: u64) -> Option<Sequence> {
        self.finished().map(|finished| finished + capacity)
    }

    /// Returns the sequence below which every consumer has finished everything; `None` if no
    /// consumer is left.
    #[inline]
    pub(crate) fn finished(self) -> Option<Sequence> {
        (self.0 != DETACHED).then_some(self.0)
    }
}

/// The words of all stages, and the dynamic stages.
#[derive(Debug)]
pub(crate) struct Stages {
    /// Each reader also holds its own words, which saves a load per batch.
    words: Box<[Placed<StageWords>]>,
    /// The stages of the graph that have no stage downstream. They gate the producers, since all
    /// other stages are ahead of them. Occupied dynamic stages gate producers too.
    gating: Box<[StageIndex]>,
    dynamic: DynamicStages,
}

impl Stages {
    /// Places the words of the stages of `graph` in a ring whose first event has the sequence
    /// `first`.
    pub(crate) fn new(place: &mut Words, graph: Graph, first: Sequence) -> Self {
        let gating = graph.gating();
        let (words, dynamic) = graph.into_words(first);
        let words = words.into_iter().map(|words| place.place(words)).collect();
        Self { words, gating, dynamic }
    }

    /// Returns the words of `stage`.
    #[inline]
    pub(crate) fn of(&self, stage: StageIndex) -> &Placed<StageWords> {
        &self.words[stage]
    }

    /// Returns the words of all stages.
    pub(crate) fn all(&self) -> &[Placed<StageWords>] {
        &self.words
    }

    /// Returns the counts of consumers and the dynamic stages.
    #[inline]
    pub(crate) fn dynamic(&self) -> &DynamicStages {
        &self.dynamic
    }

    /// Returns the value of the word of `stage`.
    #[inline]
    pub(crate) fn sequence_of(&self, stage: StageIndex) -> Sequence {
        self.words[stage].sequence()
    }

    /// Returns how far the first stage has finished, as advice; [`DETACHED`] if there is no stage.
    pub(crate) fn finished_by_first(&self) -> Sequence {
        self.words.first().map_or(DETACHED, |stage| stage.sequence_by_chance())
    }

    /// Returns the sequence below which `stage` has finished everything. If the stage has left,
    /// returns the least sequence of its ancestors, or [`DETACHED`] if all of them have left.
    #[inline]
    pub(crate) fn finished_by(&self, stage: StageIndex) -> Sequence {
        let sequence = self.sequence_of(stage);
        if sequence == DETACHED { self.finished_before(stage) } else { sequence }
    }

    /// Returns the least sequence of the ancestors of a stage that has left. An ancestor that has
    /// left has the sequence [`DETACHED`] and does not count.
    #[cold]
    fn finished_before(&self, stage: StageIndex) -> Sequence {
        let ancestors = self.words[stage].ancestors().iter();
        ancestors.map(|&stage| self.sequence_of(stage)).min().unwrap_or(DETACHED)
    }

    /// Returns the least of [`finished_by`](Self::finished_by) over `stages`; [`DETACHED`] for no
    /// stage.
    ///
    /// Loads the words in the order of `stages`. A group's word precedes those of its workers, so
    /// every claim below the group's word is visible in the workers' words (O25).
    #[inline]
    pub(crate) fn finished_by_all(&self, stages: &[StageIndex]) -> Sequence {
        stages.iter().map(|&stage| self.finished_by(stage)).min().unwrap_or(DETACHED)
    }

    /// Returns one of `stages`, or an ancestor of one that has left, that has not finished
    /// `sequence`.
    pub(crate) fn behind(&self, stages: &[StageIndex], sequence: Sequence) -> Option<StageIndex> {
        let is_behind = |&&stage: &&StageIndex| self.sequence_of(stage) <= sequence;
        let of_one = |&stage: &StageIndex| match self.sequence_of(stage) {
            DETACHED => self.words[stage].ancestors().iter().find(is_behind).copied(),
            finished => (finished <= sequence).then_some(stage),
        };
        stages.iter().find_map(of_one)
    }

    /// Returns what the slowest consumer has finished, dynamic stages included.
    ///
    /// The words are loaded at different moments. With dynamic stages, this may miss a consumer
    /// that joins while another leaves, so a grant loads the dynamic stages again
    /// (`Control::grant`).
    #[inline]
    pub(crate) fn gate(&self) -> Gate {
        let gate = self.finished_by_all(&self.gating);
        Gate(if self.dynamic.is_empty() { gate } else { gate.min(self.slowest_dynamic()) })
    }

    /// Returns the least sequence of the occupied dynamic stages; [`DETACHED`] if all are free.
    pub(crate) fn slowest_dynamic(&self) -> Sequence {
        // No stage is downstream of a dynamic stage, so no stage waits for what a free dynamic
        // stage waited for.
        self.dynamic
            .indices()
            .map(|dynamic_stage| self.sequence_of(dynamic_stage))
            .min()
            .unwrap_or(DETACHED)
    }

    /// Returns a dynamic stage or a gating stage that has not finished `sequence`.
    pub(crate) fn gate_behind(&self, sequence: Sequence) -> Option<StageIndex> {
        let is_behind = |&dynamic_stage: &StageIndex| self.sequence_of(dynamic_stage) <= sequence;
        let dynamic_stage = self.dynamic.indices().find(is_behind);
        dynamic_stage.or_else(|| self.behind(&self.gating, sequence))
    }

    /// Returns the stages of the graph that gate the producers.
    pub(crate) fn gating(&self) -> &[StageIndex] {
        &self.gating
    }

    /// Returns the other stages that gate producers. If all of these have finished an event and
    /// `stage` has not, only `stage` accesses it. Returns `None` if no event is ever in that state:
    /// another stage depends on `stage`, the ring has dynamic stages, or the words of workers or of
    /// an acknowledgement hold producers back for it.
    pub(crate) fn gating_beside(&self, stage: StageIndex) -> Option<Box<[StageIndex]>> {
        let words = &self.words[stage];
        let is_its_own = words.acknowledgement().is_none() && words.workers().is_empty();
        let gates = self.gating.contains(&stage) && self.dynamic.is_empty();
        let beside = self.gating.iter().copied().filter(|&other| other != stage);
        (is_its_own && gates).then(|| beside.collect())
    }

    /// Whether another stage, downstream of `stage` or side by side with it, may be delayed while
    /// `stage` keeps its CPU. If all other stages are upstream, `stage` waits for them instead.
    pub(crate) fn may_delay_others(&self, stage: StageIndex) -> bool {
        !self.dynamic.is_empty() || *self.gating != [stage]
    }

    /// Whether `stage` is a stage of the graph. The words of workers, acknowledgements and dynamic
    /// stages have other owners than the reader of a stage.
    pub(crate) fn is_of_graph(&self, stage: StageIndex) -> bool {
        self.dynamic.is_of_graph(stage)
    }

    /// Whether no other stage has an event at the same time as `stage` (I6): each other stage of
    /// the graph runs before or after it, and each dynamic stage after it.
    pub(crate) fn is_alone(&self, stage: StageIndex) -> bool {
        let is_ordered = |other: StageIndex| {
            other == stage
                || self.words[other].ancestors().contains(&stage)
                || self.words[stage].ancestors().contains(&other)
        };
        stage < self.dynamic.indices().start && self.dynamic.readers().all(is_ordered)
    }
}
