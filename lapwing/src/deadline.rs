//! Time limits, where `None` stands for no limit.

use std::time::Instant;

use crate::sync::now;

/// Whether `deadline` has passed. Reads the clock only if there is one.
pub(crate) fn has_passed(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| now() >= deadline)
}

/// The earlier of `deadline`, if there is one, and `limit`.
pub(crate) fn earlier(deadline: Option<Instant>, limit: Instant) -> Instant {
    deadline.map_or(limit, |deadline| deadline.min(limit))
}
