//! Time limits, where `None` stands for no limit.

use std::time::Instant;

/// Whether `deadline` has passed. Reads the clock only if there is one.
pub(crate) fn has_passed(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// The earlier of two limits.
pub(crate) fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}
