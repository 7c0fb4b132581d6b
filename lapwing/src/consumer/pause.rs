//! A pause before something is given again.

use std::time::{Duration, Instant};

/// A pause of a stage, and what comes after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pause {
    /// Its end; `None` if no clock goes so far.
    pub(super) until: Option<Instant>,
    /// Whether the handler is to put itself in order afterwards.
    pub(super) restarts: bool,
}

impl Pause {
    /// From now on.
    pub(super) fn new(pause: Duration, restarts: bool) -> Self {
        Self { until: Instant::now().checked_add(pause), restarts }
    }

    /// Both, if the thread's wait strategy panicked in the first.
    pub(super) fn and(&self, other: &Self) -> Self {
        let until = self.until.zip(other.until).map(|(one, two)| one.max(two));
        Self { until, restarts: self.restarts || other.restarts }
    }

    /// How long it lasts yet; `None` once it is over.
    pub(super) fn left(&self) -> Option<Duration> {
        let now = Instant::now();
        let left = self.until.map_or(Duration::MAX, |until| until.saturating_duration_since(now));
        (!left.is_zero()).then_some(left)
    }
}
