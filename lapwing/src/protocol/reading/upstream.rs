//! The words of the stages before a stage: it may read what all of them have finished.

use crate::Sequence;
use crate::protocol::control::{Control, DETACHED, StageIndex};

/// First sequence that not all of `stages` have finished. `None` if there are none, or if all of them and
/// their ancestors have left: then publication decides.
///
/// Each word brings its stage's writes (O3), and what that stage had acquired.
#[inline]
pub(super) fn end(control: &Control, stages: &[StageIndex]) -> Option<Sequence> {
    let finished = control.finished_by_all(stages);
    (finished != DETACHED).then_some(finished)
}
