//! The pause of a stage before it handles an event again.

use std::time::{Duration, Instant};

use crate::sync::now;

/// A pause of a stage, and what the stage does after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pause {
    /// Its end; `None` if that is beyond the range of the clock.
    pub(super) until: Option<Instant>,
    /// Whether the stage calls `on_restart` afterwards.
    pub(super) restarts: bool,
}

impl Pause {
    /// Begins a pause now.
    pub(super) fn new(pause: Duration, restarts: bool) -> Self {
        Self { until: now().checked_add(pause), restarts }
    }

    /// Combines two pauses. A stage has two if the thread's wait strategy panics during the first.
    pub(super) fn and(&self, other: &Self) -> Self {
        let until = self.until.zip(other.until).map(|(one, two)| one.max(two));
        Self { until, restarts: self.restarts || other.restarts }
    }

    /// The remaining time; `None` once it is over.
    pub(super) fn left(&self) -> Option<Duration> {
        let now = now();
        let left = self.until.map_or(Duration::MAX, |until| until.saturating_duration_since(now));
        (!left.is_zero()).then_some(left)
    }
}
