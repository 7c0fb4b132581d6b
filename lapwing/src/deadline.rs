//! Time limits, where `None` stands for no limit.

use std::time::{Duration, Instant};

use crate::sync::now;

/// How long a call may wait.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TimeLimit {
    /// For this time after the wait begins. A time that is too long for the clock is no limit.
    For(Duration),
    /// Until this instant.
    Until(Instant),
}

impl TimeLimit {
    /// When a wait that begins now has to end. A call asks once, so a wait that ends too early goes
    /// on with the rest of its time. It asks only if it has to wait, since a timeout reads the clock.
    pub(crate) fn deadline(self) -> Option<Instant> {
        match self {
            Self::For(timeout) => now().checked_add(timeout),
            Self::Until(deadline) => Some(deadline),
        }
    }
}

/// Whether `deadline` has passed. Reads the clock only if there is one.
pub(crate) fn has_passed(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| now() >= deadline)
}

/// The earlier of `deadline`, if there is one, and `limit`.
pub(crate) fn earlier(deadline: Option<Instant>, limit: Instant) -> Instant {
    deadline.map_or(limit, |deadline| deadline.min(limit))
}
