//! The life cycle of a ring as a monitor shows it.

use std::fmt;

use lapwing_core::State;

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
    /// It accepts events.
    Open,
    /// It is being closed; the number of accepted events is not settled yet.
    Closing,
    /// It accepts no events; stages drain the accepted ones.
    Closed,
    /// It accepts no events; stages stop after their current batch.
    Halted,
}

impl RingState {
    pub(super) fn of(state: State) -> Self {
        match state {
            State::Open => Self::Open,
            State::Closing => Self::Closing,
            State::Closed => Self::Closed,
            State::Halted => Self::Halted,
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
