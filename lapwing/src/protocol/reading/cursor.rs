//! The cursor of a single producer: all events below it are published.

use crate::Sequence;
use crate::protocol::control::Control;
use crate::sync::Ordering;

/// First sequence that the only producer has not published.
///
/// It may be past the end of a ring that is being closed: the caller checks for a close afterwards (O8).
#[inline]
pub(super) fn end(control: &Control) -> Sequence {
    // O1, Acquire: pairs with the Release in `SingleClaims::publish`; brings the events.
    control.cursor.load(Ordering::Acquire)
}
