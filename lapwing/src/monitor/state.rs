//! From open to closed or halted, as it is shown.

use std::fmt;

use crate::protocol::life::Life;

/// Whether a ring accepts events.
///
/// ```
/// use lapwing::{Disruptor, monitor::RingState};
///
/// let (producer, _consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
/// let monitor = producer.monitor();
/// assert_eq!(monitor.snapshot().state, RingState::Open);
/// producer.close();
/// assert_eq!(monitor.snapshot().state, RingState::Closed);
/// assert_eq!(RingState::Closed.to_string(), "closed");
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RingState {
    /// It does.
    Open,
    /// It is just being closed; how many events it has accepted is known in a moment.
    Closing,
    /// It does not; stages drain what it has accepted.
    Closed,
    /// It does not, and stages stop after their batch.
    Halted,
}

impl RingState {
    pub(super) fn of(life: &Life) -> Self {
        if life.is_halted() {
            Self::Halted
        } else if life.end().is_some() {
            Self::Closed
        } else if life.is_closing() {
            Self::Closing
        } else {
            Self::Open
        }
    }
}

impl fmt::Display for RingState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Open => "open",
            Self::Closing => "closing",
            Self::Closed => "closed",
            Self::Halted => "halted",
        })
    }
}
