//! The cursor of a single producer: every event below it is published.

use crate::Sequence;
use crate::protocol::control::Control;
use crate::sync::Ordering;

/// Returns the first sequence that the only producer has not published.
///
/// It may be past the end of a ring that is being closed, so the caller checks for a close
/// afterwards (O8).
#[inline]
pub(super) fn end(control: &Control) -> Sequence {
    // O1, Acquire: pairs with the Release in `SingleClaims::publish`; brings the events.
    control.cursor.load(Ordering::Acquire)
}
