//! How the words of a group move: its own, and those of its workers. Not here: which worker claims
//! what, which only the layer that shares the events knows (`lapwing`).

use super::Control;
use crate::Sequence;
use crate::stages::StageIndex;
use crate::words::Placed;

/// The right to move the words of one group.
///
/// Stages downstream of the group and producers trust these words, as they trust a reader's. Nothing
/// checks how they move, so the caller that takes the right promises it.
#[derive(Debug)]
pub struct Sharing {
    control: Placed<Control>,
}

impl Sharing {
    /// Takes the right to move the words of the group `stage`.
    ///
    /// # Panics
    ///
    /// If `stage` is not a group.
    ///
    /// # Safety
    ///
    /// The holder moves only the words of this group and of its workers. It moves the group's word
    /// only to where a reader of the group has shown events or abandoned claims. It keeps the least
    /// of the words at or below every event that a worker has (I12, O25).
    #[must_use]
    pub unsafe fn of(control: Placed<Control>, stage: StageIndex) -> Self {
        let stages = control.stages();
        let is_group = stages.is_of_graph(stage) && stages.of(stage).is_group();
        assert!(is_group, "the stage has no workers: stage={stage}");
        Self { control }
    }

    /// Moves `word`, that of the group or of a worker, to `sequence`, and wakes the threads that
    /// wait for that.
    ///
    /// # Panics
    ///
    /// If `word` is not that of a group or a worker.
    #[inline]
    pub fn move_word(&self, word: StageIndex, sequence: Sequence) {
        let words = self.control.stages().of(word);
        words.store_by_group(sequence);
        self.control.advanced(words, word);
    }

    /// Moves `word`, that of the group, from `from` to `to`. Returns false if it has another value.
    ///
    /// # Panics
    ///
    /// If `word` is not that of a group or a worker.
    #[inline]
    #[must_use]
    pub fn try_move_word(&self, word: StageIndex, from: Sequence, to: Sequence) -> bool {
        let has_moved = self.control.stages().of(word).try_move(from, to);
        if has_moved {
            self.control.notify_released(word);
        }
        has_moved
    }
}
