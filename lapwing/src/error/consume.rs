//! Why a poller got no events, and why events could not be acknowledged.

use std::error::Error;
use std::fmt;

use super::{HaltCause, RingError};
use crate::Sequence;

/// Error of [`Poller::poll`](crate::Poller::poll), [`Poller::poll_max`](crate::Poller::poll_max),
/// [`Poller::wait_timeout`](crate::Poller::wait_timeout) and
/// [`Poller::wait_deadline`](crate::Poller::wait_deadline).
///
/// ```
/// use lapwing::{Disruptor, error::PollError};
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
/// let mut poller = consumers.take_poller("all")?;
///
/// assert_eq!(poller.poll().err(), Some(PollError::Empty));
/// producer.publish(|event| *event = 7)?;
/// producer.close();
/// poller.poll()?.consume_all(); // closed, but not yet at the end
/// assert_eq!(poller.poll().err(), Some(PollError::Closed));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PollError {
    /// No event is available now. After [`wait_timeout`](crate::Poller::wait_timeout) or
    /// [`wait_deadline`](crate::Poller::wait_deadline): none became available in time.
    Empty,
    /// The ring is closed, and this consumer has finished every accepted event.
    Closed,
    /// The ring is halted, for this cause.
    Halted(HaltCause),
}

impl PollError {
    /// Why a poll of the core found no event.
    pub(crate) fn of(error: lapwing_core::error::PollError) -> Self {
        match error {
            lapwing_core::error::PollError::Empty => Self::Empty,
            lapwing_core::error::PollError::Closed => Self::Closed,
            lapwing_core::error::PollError::Halted(cause) => Self::Halted(HaltCause::of(cause)),
        }
    }
}

impl fmt::Display for PollError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "no event to read now",
            Self::Closed => "the ring is closed and every event has been consumed",
            Self::Halted(cause) => cause.text(),
        })
    }
}

impl Error for PollError {}

impl From<RingError> for PollError {
    fn from(stopped: RingError) -> Self {
        match stopped {
            RingError::Closed => Self::Closed,
            RingError::Halted(cause) => Self::Halted(cause),
        }
    }
}

/// Error of [`Acknowledger::acknowledge`](crate::consumer::Acknowledger::acknowledge): some of the
/// events are not published. Nothing was acknowledged.
///
/// ```
/// use lapwing::{Disruptor, error::AcknowledgeError};
///
/// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("journal").acknowledged().poller()
///     .build()?;
/// let disk = consumers.take_acknowledger("journal")?;
/// producer.publish_batch(2, |_| {})?;
/// let error = disk.acknowledge(3).unwrap_err();
/// assert_eq!(error, AcknowledgeError { sequence: 3, published: 2 });
/// let text = "only published events can be acknowledged: sequence=3, published=2";
/// assert_eq!(error.to_string(), text);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AcknowledgeError {
    /// The argument of the call, which asked to acknowledge all events below this sequence.
    pub sequence: Sequence,
    /// The first sequence that is not published. With several producers, the first sequence that is
    /// not claimed.
    pub published: Sequence,
}

impl fmt::Display for AcknowledgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sequence, published } = self;
        write!(
            f,
            "only published events can be acknowledged: sequence={sequence}, published={published}"
        )
    }
}

impl Error for AcknowledgeError {}
