//! The gate: a producer never claims more than one lap ahead of the slowest consumer, since it
//! would overwrite events that the consumer has not read.

use std::ops::Range;

use crate::Sequence;
use crate::control::Control;
use crate::error::{Cause, ClaimError};
use crate::sync::{Ordering, fence};

/// Loads the gating sequences for `claim` and returns the new limit: the first sequence that cannot
/// be claimed at present.
///
/// This costs one cache miss per gating consumer, so a producer reuses the limit until it reaches
/// it. That is safe: a consumer that joins later never starts below what the limit lets producers
/// overwrite.
///
/// # Errors
///
/// - [`ClaimError::Full`] if the end of `claim` is beyond the limit.
/// - The reason, if the ring is not open.
/// - [`ClaimError::Halted`] if no consumer is left. Without a consumer, nothing keeps
///   producers within one lap of each other.
#[cold]
pub(super) fn read_limit(
    control: &Control,
    claim: Range<Sequence>,
) -> Result<Sequence, ClaimError> {
    // O12: pairs with the Release of the thread that closed the counter, whose value the caller has
    // loaded; brings the reason.
    fence(Ordering::Acquire);
    control.life().check_open()?;
    let Some(limit) = limit(control) else {
        // A joining consumer is counted before it stores its sequence. Until it does, the ring is
        // full.
        let is_joining = control.stages().dynamic().has_consumers();
        let no_consumers = ClaimError::Halted(Cause::NO_CONSUMERS);
        return Err(if is_joining { ClaimError::Full } else { no_consumers });
    };
    if claim.end > limit {
        return Err(ClaimError::Full);
    }
    // O2: the Acquire is in `grant`, for consumers that are joining.
    let limit = control.grant(limit);
    if claim.end > limit { Err(ClaimError::Full) } else { Ok(limit) }
}

/// Returns the first sequence that cannot be claimed at present, without regard to consumers that
/// are joining; `None` if no consumer is left.
pub(super) fn limit(control: &Control) -> Option<Sequence> {
    // O2: the Acquire is in `gate`; no consumer reads the slots below the new limit.
    control.stages().gate().free_up_to(control.capacity())
}

/// Whether a claim up to `end` is within the limit, or will never be granted because the ring has
/// ended.
pub(super) fn is_passable(control: &Control, end: Sequence) -> bool {
    !control.is_open()
        || match limit(control) {
            None => !control.stages().dynamic().has_consumers(),
            Some(limit) => limit >= end,
        }
}

/// Whether the claim that begins at `first`, in a ring with several producers, is neither published
/// nor given up.
pub(super) fn is_held(control: &Control, first: Sequence) -> bool {
    // No claim passes an open one by more than a lap. So the stamp of `first` is that of its own
    // claim as long as the counter has not passed it by a lap. The counter only rises, unlike the
    // gate. It is loaded last: if the stamp is one of a later lap, O4 brings the claim of that lap.
    let is_settled =
        |first| control.publication().stamps().is_none_or(|stamps| stamps.is_settled(first));
    !is_settled(first) && control.claimed() <= first + control.capacity()
}
