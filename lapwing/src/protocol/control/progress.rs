//! How far stages have finished, and on which event count a thread parks that waits for them. The
//! barriers of consumers and the gate of producers use it. Not here: the words themselves
//! (`control`).

use crate::Sequence;
use crate::protocol::control::{Control, DETACHED, StageIndex};
use crate::protocol::parking::event_count::EventCount;

/// What producers may overwrite: every consumer has finished everything below the gate, and that
/// never changes.
///
/// A gate does not say that anything above it is unfinished. A worker stores the start of its claim
/// before it claims, and a consumer that joins stores where it wishes to begin. Either may be stopped
/// while it holds a number that the ring has long passed, so a later gate can be lower than an
/// earlier one. What must not be concluded wrongly, such as that a claim is still open, follows from
/// words that only rise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gate(Sequence);

impl Gate {
    /// Creates the gate below which every consumer has finished everything; [`DETACHED`] without a
    /// consumer.
    pub(crate) fn new(finished: Sequence) -> Self {
        Self(finished)
    }

    /// Returns the end of the sequences that are certainly free to claim in a ring of `capacity`
    /// slots; `None` if no consumer is left.
    #[inline]
    pub(crate) fn free_up_to(self, capacity: u64) -> Option<Sequence> {
        (self.0 != DETACHED).then(|| self.0 + capacity)
    }
}

impl Control {
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
        let ancestors = self.stages[stage].ancestors.iter();
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

    /// Returns the event count to park on until one of `stages`, or an ancestor of one that has
    /// left, finishes `sequence`. If all of them have left, it is the event count of publications.
    /// `None` if no stage is behind, so that there is nothing to wait for.
    ///
    /// `None` does not mean that the wait is over, since the bound of a worker may fall for a
    /// moment. A thread that parked on the publication in that moment would miss the wake-up when
    /// the bound rises.
    pub(crate) fn behind(&self, stages: &[StageIndex], sequence: Sequence) -> Option<&EventCount> {
        match self.stage_behind(stages, sequence) {
            Some(stage) => Some(&self.stages[stage].released.anything),
            None if self.finished_by_all(stages) == DETACHED => Some(&self.published),
            None => None,
        }
    }

    /// Returns one of `stages`, or an ancestor of one that has left, that has not finished
    /// `sequence`.
    pub(crate) fn stage_behind(
        &self,
        stages: &[StageIndex],
        sequence: Sequence,
    ) -> Option<StageIndex> {
        let is_behind = |&&stage: &&StageIndex| self.sequence_of(stage) <= sequence;
        let of_one = |&stage: &StageIndex| match self.sequence_of(stage) {
            DETACHED => self.stages[stage].ancestors.iter().find(is_behind).copied(),
            finished => (finished <= sequence).then_some(stage),
        };
        stages.iter().find_map(of_one)
    }
}
