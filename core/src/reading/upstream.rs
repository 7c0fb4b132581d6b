//! What the upstream stages of a stage have finished: it may read the events that all of them have
//! finished.

use crate::Sequence;
use crate::control::Control;
use crate::stages::{DETACHED, StageIndex};

/// Returns the first sequence that not all of `stages` have finished. Returns `None` if there are
/// no stages, or if all of them and their ancestors have left; the caller then uses publications.
///
/// Each word brings its stage's writes (O3), and what that stage had acquired.
#[inline]
pub(super) fn end(control: &Control, stages: &[StageIndex]) -> Option<Sequence> {
    let finished = control.finished_by_all(stages);
    (finished != DETACHED).then_some(finished)
}
