//! How far stages have finished, and who is behind: what barriers and the gate are made of. Not here:
//! the words themselves (`control`).

use crate::Sequence;
use crate::protocol::control::{Control, DETACHED, StageIndex};
use crate::protocol::parking::event_count::EventCount;

impl Control {
    /// The sequence up to which `stage` has finished; if it has left, the one up to which all have
    /// finished that it came after; [`DETACHED`] if none of those is left.
    #[inline]
    pub(crate) fn finished_by(&self, stage: StageIndex) -> Sequence {
        let sequence = self.sequence_of(stage);
        if sequence == DETACHED { self.finished_before(stage) } else { sequence }
    }

    /// The least sequence of those before a stage that has left. Those that have left as well stand
    /// at [`DETACHED`], so they do not count.
    #[cold]
    fn finished_before(&self, stage: StageIndex) -> Sequence {
        let ancestors = self.stages[stage].ancestors.iter();
        ancestors.map(|&stage| self.sequence_of(stage)).min().unwrap_or(DETACHED)
    }

    /// The least of [`finished_by`](Self::finished_by); [`DETACHED`] for no stage.
    ///
    /// Reads the words in the order of `stages`. A group's word comes before those of its workers, so
    /// that whatever the group has claimed below it shows in theirs (O25).
    #[inline]
    pub(crate) fn finished_by_all(&self, stages: &[StageIndex]) -> Sequence {
        stages.iter().map(|&stage| self.finished_by(stage)).min().unwrap_or(DETACHED)
    }

    /// Where to sleep until one of `stages`, or of those before one that has left, finishes
    /// `sequence`, which it has not yet; with the publication, if all of them have left. `None` if
    /// nobody is behind: then there is nothing to sleep for.
    ///
    /// That is not the same as the end of the wait, since the bound of a worker may fall for a moment:
    /// who slept with the publication then would not be woken when it rises again.
    pub(crate) fn behind(&self, stages: &[StageIndex], sequence: Sequence) -> Option<&EventCount> {
        match self.stage_behind(stages, sequence) {
            Some(stage) => Some(&self.stages[stage].released.anything),
            None if self.finished_by_all(stages) == DETACHED => Some(&self.published),
            None => None,
        }
    }

    /// One of `stages`, or of those before one that has left, that has not finished `sequence`.
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
