//! The gate: no claim beyond a lap ahead of the slowest consumer.

use crate::Sequence;
use crate::control::{Control, DETACHED};
use crate::error::{Stopped, TryPublishError};

/// Reads the gating sequences and returns the new limit: the first sequence that cannot be claimed
/// now.
///
/// One cache miss for each consumer that gates, so producers keep the result until they reach it.
///
/// # Errors
///
/// [`TryPublishError::Full`] if `end` is beyond the limit, and [`TryPublishError::Halted`] if no
/// consumer is left: then nothing holds producers a lap apart from each other.
#[cold]
pub(super) fn refresh(control: &Control, end: Sequence) -> Result<Sequence, TryPublishError> {
    let limit = limit(control).ok_or(Stopped::Halted)?;
    if end > limit { Err(TryPublishError::Full) } else { Ok(limit) }
}

/// The first sequence that cannot be claimed now; `None` if no consumer is left.
pub(super) fn limit(control: &Control) -> Option<Sequence> {
    // O2: the Acquire is in `finished_by`; the slots below the new limit are read by nobody any
    // more.
    let gate = control.finished_by_all(&control.gating);
    (gate != DETACHED).then(|| gate + control.capacity)
}

/// Whether `end` is within the limit, or never will be since the ring stopped.
pub(super) fn is_passable(control: &Control, end: Sequence) -> bool {
    !control.life.is_open()
        || control.finished_by_all(&control.gating).saturating_add(control.capacity) >= end
}
