//! The choice of what dropping `Running` does. Not here: the drop (`dropping`).

use std::time::Duration;

/// The longest time that a drop waits by default.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);

/// What dropping `Running` does, unless the thread panics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnDrop {
    /// Closes the ring, and waits at most this long for its threads to end.
    CloseAndWait(Duration),
    /// Leaves the ring open.
    LeaveOpen,
}

impl Default for OnDrop {
    fn default() -> Self {
        Self::CloseAndWait(TIMEOUT)
    }
}
