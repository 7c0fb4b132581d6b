//! Why a wait for the last stages ended before they had handled an event.

use std::error::Error;
use std::fmt;

use super::HaltCause;

/// Error of [`Producer::wait_handled`](crate::Producer::wait_handled) and
/// [`Running::wait_handled`](crate::Running::wait_handled): the event is not handled.
///
/// `behind` has the names of the stages, and of consumers in [dynamic
/// stages](crate::graph::DynamicStages), that have the event and have not finished it. Stages that
/// only wait for such a stage are left out. It is empty if no stage has the event, because it is
/// not published.
///
/// ```
/// use std::time::Duration;
/// use lapwing::{Disruptor, error::HandledError};
///
/// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("decode").poller()
///     .stage("journal").poller()
///     .build()?;
/// let mut decode = consumers.take_poller("decode")?;
/// let event = producer.publish(|event| *event = 7)?;
/// decode.poll()?.consume_all();
///
/// let error = producer.wait_handled(event, Duration::from_millis(1)).unwrap_err();
/// assert_eq!(error, HandledError::TimedOut { behind: vec!["journal".into()] });
/// assert_eq!(error.to_string(), "the event was not handled at the timeout: behind=[\"journal\"]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub enum HandledError {
    /// The event was not handled in time.
    TimedOut {
        /// The stages that were behind at that time.
        behind: Vec<String>,
    },
    /// The ring was halted before the event was handled.
    Halted {
        /// Why.
        cause: HaltCause,
        /// The stages that were behind.
        behind: Vec<String>,
    },
    /// The ring was closed before the event was published, so no stage ever gets it.
    Closed,
    /// This thread would wait for itself: it runs a stage that has not finished the event, or it
    /// holds a claim of several producers up to which the stages get no event. A stage finishes an
    /// event when it releases it, which is after the call of its handler, at the end of the batch.
    WouldDeadlock {
        /// The stages that are behind.
        behind: Vec<String>,
    },
}

impl fmt::Display for HandledError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut { behind } => {
                write!(f, "the event was not handled at the timeout: behind={behind:?}")
            }
            Self::Halted { cause, behind } => write!(f, "{cause}: behind={behind:?}"),
            Self::Closed => f.write_str("the ring is closed and has no such event"),
            Self::WouldDeadlock { behind } => {
                write!(f, "the thread would wait for itself: behind={behind:?}")
            }
        }
    }
}

impl Error for HandledError {}
