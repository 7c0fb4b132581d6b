//! Why an event that was offered was neither published nor dropped.

use std::error::Error;
use std::fmt;

use super::{BatchError, HaltCause, PublishError, PublishTimeoutError, RingError, TryPublishError};

/// Error of [`offer`](crate::Producer::offer). The event was not published, and it does not count
/// as [dropped](crate::Producer::dropped).
///
/// ```
/// use lapwing::{Disruptor, error::OfferError, producer::WhenFull};
///
/// let (mut producer, _consumers) =
///     Disruptor::single_producer(1, || 0_u64).stage("all").poller().build()?;
///
/// producer.offer(WhenFull::Refuse, |event| *event = 7)?; // the one slot
/// assert_eq!(producer.offer(WhenFull::Refuse, |event| *event = 8), Err(OfferError::Full));
/// producer.close();
/// assert_eq!(producer.offer(WhenFull::Refuse, |event| *event = 8), Err(OfferError::Closed));
/// assert_eq!(OfferError::Full.to_string(), "the ring is full");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferError {
    /// No slot is free, and the policy is [`WhenFull::Refuse`](crate::producer::WhenFull::Refuse).
    Full,
    /// No slot became free in the time of
    /// [`WhenFull::Timeout`](crate::producer::WhenFull::Timeout).
    TimedOut,
    /// The ring was closed before the event was published.
    Closed,
    /// The ring was halted before the event was published, for this cause.
    Halted(HaltCause),
    /// The ring is full, only this thread could free a slot, and the policy is one that waits.
    /// [`PublishError::WouldDeadlock`] describes the cases.
    WouldDeadlock,
}

impl fmt::Display for OfferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => TryPublishError::Full.fmt(f),
            Self::TimedOut => PublishTimeoutError::TimedOut.fmt(f),
            Self::Closed => RingError::Closed.fmt(f),
            Self::Halted(cause) => cause.fmt(f),
            Self::WouldDeadlock => PublishError::WouldDeadlock.fmt(f),
        }
    }
}

impl Error for OfferError {}

impl From<RingError> for OfferError {
    fn from(stopped: RingError) -> Self {
        match stopped {
            RingError::Closed => Self::Closed,
            RingError::Halted(cause) => Self::Halted(cause),
        }
    }
}

impl From<TryPublishError> for OfferError {
    fn from(error: TryPublishError) -> Self {
        match error {
            TryPublishError::Full => Self::Full,
            TryPublishError::Closed => Self::Closed,
            TryPublishError::Halted(cause) => Self::Halted(cause),
        }
    }
}

impl From<PublishError> for OfferError {
    fn from(error: PublishError) -> Self {
        match error {
            PublishError::Closed => Self::Closed,
            PublishError::Halted(cause) => Self::Halted(cause),
            PublishError::WouldDeadlock => Self::WouldDeadlock,
        }
    }
}

impl From<PublishTimeoutError> for OfferError {
    fn from(error: PublishTimeoutError) -> Self {
        match error {
            PublishTimeoutError::TimedOut => Self::TimedOut,
            PublishTimeoutError::Closed => Self::Closed,
            PublishTimeoutError::Halted(cause) => Self::Halted(cause),
            PublishTimeoutError::WouldDeadlock => Self::WouldDeadlock,
        }
    }
}

impl From<OfferError> for BatchError {
    fn from(error: OfferError) -> Self {
        match error {
            OfferError::Full => Self::Full,
            OfferError::TimedOut => Self::TimedOut,
            OfferError::Closed => Self::Closed,
            OfferError::Halted(cause) => Self::Halted(cause),
            OfferError::WouldDeadlock => Self::WouldDeadlock,
        }
    }
}
