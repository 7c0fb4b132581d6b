//! The gate: no claim beyond a lap ahead of the slowest consumer.

use std::ops::Range;

use crate::Sequence;
use crate::error::{HaltCause, TryPublishError};
use crate::protocol::control::{Control, DETACHED};
use crate::sync::{Ordering, fence};

/// Reads the gating sequences for a `claim`, and returns the new limit: the first sequence that cannot be claimed
/// now.
///
/// One cache miss for each consumer that gates, so producers keep the result until they reach it.
/// Nobody who joins later starts below what it allows to write.
///
/// # Errors
///
/// Why the ring is not open, if it is not; [`TryPublishError::Full`] if the end of `claim` is beyond the limit, and
/// [`TryPublishError::Halted`] if no consumer is left: then nothing holds producers a lap apart from each other.
#[cold]
pub(super) fn read_limit(
    control: &Control,
    claim: Range<Sequence>,
) -> Result<Sequence, TryPublishError> {
    // O12: pairs with the Release of whoever closed the counter that the caller has read; brings why.
    fence(Ordering::Acquire);
    control.life.check_open()?;
    let Some(limit) = limit(control) else {
        // Full for a moment if somebody has been counted and is about to say where it starts.
        let is_joining = control.seating.has_consumers();
        let no_consumers = TryPublishError::Halted(HaltCause::NoConsumers);
        return Err(if is_joining { TryPublishError::Full } else { no_consumers });
    };
    if claim.end > limit {
        return Err(TryPublishError::Full);
    }
    // O2: the Acquire is in `grant`, for those who are joining.
    let limit = control.grant(limit);
    if claim.end > limit { Err(TryPublishError::Full) } else { Ok(limit) }
}

/// The first sequence that cannot be claimed now, but for those who are joining; `None` if no
/// consumer is left.
pub(super) fn limit(control: &Control) -> Option<Sequence> {
    // O2: the Acquire is in `gate`; the slots below the new limit are read by nobody any more.
    let gate = control.gate();
    (gate != DETACHED).then(|| gate + control.capacity)
}

/// Whether `end` is within the limit, or never will be since the ring stopped.
pub(super) fn is_passable(control: &Control, end: Sequence) -> bool {
    !control.life.is_open()
        || match control.gate() {
            DETACHED => !control.seating.has_consumers(),
            gate => gate + control.capacity >= end,
        }
}

/// First sequence of the oldest claim that this thread holds, in a ring with several producers.
pub(crate) fn oldest_own_claim(control: &Control) -> Option<Sequence> {
    let stamps = control.stamps.as_ref()?;
    // While the gate is not past a claim its slot is not claimed again, so its stamp is its own. The stamp first: the gate
    // does not go back.
    let is_open = |first| !stamps.is_settled(first) && control.gate() <= first;
    control.open_claims.oldest_of_this_thread(is_open)
}
