//! Why a call that takes a `WhenFull` got no slot for an event, and did not drop it.

use std::error::Error;
use std::fmt;

use super::{BatchError, HaltCause, PublishError, RingError, TryPublishError};

/// Error of [`publish_or`](crate::Producer::publish_or) and
/// [`claim_or`](crate::Producer::claim_or), which take a [`WhenFull`](crate::producer::WhenFull).
/// The event was not published, nothing is claimed, and the event does not count as
/// [dropped](crate::Producer::dropped).
///
/// ```
/// use lapwing::{Disruptor, error::WhenFullError, producer::WhenFull};
///
/// let (mut producer, _consumers) =
///     Disruptor::single_producer(1, || 0_u64).stage("all").poller().build()?;
///
/// producer.publish_or(WhenFull::Refuse, |event| *event = 7)?; // the one slot
/// assert_eq!(producer.publish_or(WhenFull::Refuse, |event| *event = 8), Err(WhenFullError::Full));
/// producer.close();
/// assert_eq!(producer.publish_or(WhenFull::Refuse, |event| *event = 8), Err(WhenFullError::Closed));
/// assert_eq!(WhenFullError::Full.to_string(), "the ring is full");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum WhenFullError {
    /// No slot is free, and the policy is [`WhenFull::Refuse`](crate::producer::WhenFull::Refuse).
    Full,
    /// No slot became free in the time of
    /// [`WhenFull::Timeout`](crate::producer::WhenFull::Timeout).
    TimedOut,
    /// The ring was closed before the event was published.
    Closed,
    /// The ring was halted before the event was published, for this cause.
    Halted(HaltCause),
    /// The ring is full, only this thread could free a slot, and the policy is one that waits. The
    /// call returns at once.
    /// [`PublishError::WouldDeadlock`] describes the cases.
    WouldDeadlock,
}

impl fmt::Display for WhenFullError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => TryPublishError::Full.fmt(f),
            Self::TimedOut => f.write_str("the ring stayed full until the timeout"),
            Self::Closed => RingError::Closed.fmt(f),
            Self::Halted(cause) => cause.fmt(f),
            Self::WouldDeadlock => PublishError::WouldDeadlock.fmt(f),
        }
    }
}

impl Error for WhenFullError {}

impl From<RingError> for WhenFullError {
    fn from(stopped: RingError) -> Self {
        match stopped {
            RingError::Closed => Self::Closed,
            RingError::Halted(cause) => Self::Halted(cause),
        }
    }
}

impl From<TryPublishError> for WhenFullError {
    fn from(error: TryPublishError) -> Self {
        match error {
            TryPublishError::Full => Self::Full,
            TryPublishError::Closed => Self::Closed,
            TryPublishError::Halted(cause) => Self::Halted(cause),
        }
    }
}

impl From<PublishError> for WhenFullError {
    fn from(error: PublishError) -> Self {
        match error {
            PublishError::Closed => Self::Closed,
            PublishError::Halted(cause) => Self::Halted(cause),
            PublishError::WouldDeadlock => Self::WouldDeadlock,
        }
    }
}

impl From<WhenFullError> for BatchError {
    fn from(error: WhenFullError) -> Self {
        match error {
            WhenFullError::Full => Self::Full,
            WhenFullError::TimedOut => Self::TimedOut,
            WhenFullError::Closed => Self::Closed,
            WhenFullError::Halted(cause) => Self::Halted(cause),
            WhenFullError::WouldDeadlock => Self::WouldDeadlock,
        }
    }
}
