//! What the shared words say: how far each party is, and whether the ring has ended. Not here: what
//! moves them (`control`).

use super::Control;
use crate::Sequence;
use crate::error::Cause;
use crate::stages::StageIndex;

/// A producer that is parked on a full ring is woken when one part in this many is free.
const ROOMS_PER_RING: u64 = 4;

/// What is claimed and published, and how the ring ends.
impl Control {
    /// Returns the number of slots, a power of two.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Whether the ring has several producers.
    #[inline]
    #[must_use]
    pub fn is_multi(&self) -> bool {
        self.publication.is_multi()
    }

    /// Returns the end of the published events; with several producers, of the claims. A snapshot.
    #[must_use]
    pub fn claimed(&self) -> Sequence {
        self.publication.claimed()
    }

    /// Returns the first sequence from `next` on, at most `limit`, whose claim is open. A snapshot,
    /// but a claim that the calling thread holds counts as open. The caller may be a lap behind.
    /// With one producer it is `limit`.
    #[must_use]
    pub fn settled_prefix(&self, next: Sequence, limit: Sequence) -> Sequence {
        self.publication.stamps().map_or(limit, |stamps| stamps.settled_prefix(next, limit))
    }

    /// Whether the ring is neither closing, closed nor halted.
    #[inline]
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.life.is_open()
    }

    /// Whether the ring is halted.
    #[inline]
    #[must_use]
    pub fn is_halted(&self) -> bool {
        self.life.is_halted()
    }

    /// Returns why the ring is halted, if it is.
    #[inline]
    #[must_use]
    pub fn halt_cause(&self) -> Option<Cause> {
        self.life.halt_cause()
    }

    /// Returns the number of producers; a snapshot.
    #[must_use]
    pub fn producers(&self) -> u64 {
        self.life.producers()
    }

    /// Returns the first sequence that the ring does not accept, once it is closed or halted.
    #[must_use]
    pub fn end(&self) -> Option<Sequence> {
        self.life.end()
    }
}

/// What the stages have finished.
impl Control {
    /// Returns the value of the word of `stage`.
    #[inline]
    #[must_use]
    pub fn sequence_of(&self, stage: StageIndex) -> Sequence {
        self.stages.sequence_of(stage)
    }

    /// Whether `stage` has not finished everything below `sequence`. A stage that has left is never
    /// behind.
    #[must_use]
    pub fn is_behind(&self, stage: StageIndex, sequence: Sequence) -> bool {
        self.sequence_of(stage) < sequence
    }

    /// Returns the sequence below which all of `stages` have finished everything, or, for one that
    /// has left, its ancestors; [`DETACHED`](crate::DETACHED) for none. The words are loaded in the
    /// order of `stages`.
    #[inline]
    #[must_use]
    pub fn finished_by_all(&self, stages: &[StageIndex]) -> Sequence {
        self.stages.finished_by_all(stages)
    }

    /// Returns the sequence below which every consumer has finished everything, those in dynamic
    /// stages included. If all consumers have left, it is the end of the ring that one of them has
    /// drained, and `None` if none has, or if the first one is joining.
    #[must_use]
    pub fn finished(&self) -> Option<Sequence> {
        // O2: the Acquire is in `gate`; brings what the consumers did with these events.
        match self.stages.gate().finished() {
            // A consumer that has drained the ring stays in the count.
            None if self.stages.dynamic().has_consumers() => self.life.end(),
            finished => finished,
        }
    }

    /// Returns how far `stage` has finished; for one that has left, how far its ancestors have.
    #[must_use]
    pub fn finished_by(&self, stage: StageIndex) -> Sequence {
        self.stages.finished_by(stage)
    }

    /// Returns the number of words: those of stages, acknowledgements, workers and dynamic stages.
    #[must_use]
    pub fn words(&self) -> usize {
        self.stages.all().len()
    }

    /// Returns the indices of the dynamic stages, which follow those of all other words.
    #[must_use]
    pub fn dynamic_stages(&self) -> std::ops::Range<StageIndex> {
        self.stages.dynamic().indices()
    }

    /// Returns the number of free dynamic stages; a snapshot.
    #[must_use]
    pub fn free_dynamic_stages(&self) -> usize {
        self.stages.dynamic().free()
    }

    /// Returns the stages directly upstream of `stage`, with the words of their workers and
    /// acknowledgements.
    #[must_use]
    pub fn upstream_of(&self, stage: StageIndex) -> &[StageIndex] {
        self.stages.of(stage).upstream()
    }

    /// Returns all stages upstream of `stage`, directly or not.
    #[must_use]
    pub fn ancestors_of(&self, stage: StageIndex) -> &[StageIndex] {
        self.stages.of(stage).ancestors()
    }

    /// Returns the words of the party that acknowledges the events of `stage`, if there is one.
    #[must_use]
    pub fn acknowledgement_of(&self, stage: StageIndex) -> Option<StageIndex> {
        self.stages.of(stage).acknowledgement()
    }

    /// Returns the words of the workers of `stage`, if it is a group.
    #[must_use]
    pub fn workers_of(&self, stage: StageIndex) -> &[StageIndex] {
        self.stages.of(stage).workers()
    }

    /// Whether another stage, downstream of `stage` or side by side with it, may be delayed while
    /// `stage` keeps its CPU.
    #[must_use]
    pub fn may_delay_others(&self, stage: StageIndex) -> bool {
        self.stages.may_delay_others(stage)
    }

    /// Whether a quarter of the ring, [`room`](Self::room), is free.
    #[must_use]
    pub fn has_room(&self) -> bool {
        let free_up_to = self.stages.gate().free_up_to(self.capacity);
        free_up_to.is_none_or(|end| end.saturating_sub(self.claimed()) >= self.room())
    }

    /// Returns the number of free slots that a producer on a full ring waits for: a quarter of the
    /// ring.
    #[must_use]
    pub fn room(&self) -> u64 {
        (self.capacity / ROOMS_PER_RING).max(1)
    }
}
