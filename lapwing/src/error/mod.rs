//! The errors of a ring, one small type for each operation.
//!
//! | operation | error |
//! |---|---|
//! | build a ring, a channel or a tap | [`BuildError`] |
//! | take a poller, an acknowledger or a handler | [`TakeError`] |
//! | start the stages | [`StartError`] |
//! | publish or claim one event | [`PublishError`], [`TryPublishError`], [`WhenFullError`] |
//! | publish or claim several events, or copy them into a batch | [`BatchError`] |
//! | publish a claim | [`RingError`] |
//! | poll or wait for events | [`PollError`], [`RingError`] |
//! | acknowledge events | [`AcknowledgeError`] |
//! | take a dynamic stage | [`DynamicStageError`] |
//! | wait until an event is handled | [`HandledError`] |
//! | resize a worker group | [`ResizeError`] |
//! | read from a tap | [`TapError`] |
//!
//! A publishing call that returns an error has published nothing and holds no slot. No consumer has
//! handled its event, and none ever will. [`docs::errors`](crate::docs::errors) lists every case.
//!
//! Each of them prints the same sentence by `Display` and by `Debug`, so a `main` that returns it
//! explains itself.
//!
//! Not here: errors that give something back. [`lifecycle::RunError`](crate::lifecycle::RunError)
//! and [`lifecycle::ShutdownError`](crate::lifecycle::ShutdownError) contain the report, and the
//! errors of a [`channel`](crate::channel) contain the value.

mod halt;
mod lifecycle;
mod tap;

mod build;
mod consume;
mod dynamic_stage;
mod publish;

mod handled;
mod when_full;

use std::error::Error;
use std::fmt;

use lapwing_core::error::Ended;

pub use build::BuildError;
pub use consume::{AcknowledgeError, PollError};
pub use dynamic_stage::DynamicStageError;
pub use halt::HaltCause;
pub use handled::HandledError;
pub use lifecycle::{ResizeError, StartError, TakeError};
pub use publish::{BatchError, PublishError, TryPublishError};
pub use tap::TapError;
pub use when_full::WhenFullError;

/// The end of a ring: it is closed or halted.
///
/// [`Poller::wait`](crate::Poller::wait), [`Claim::publish`](crate::producer::Claim::publish) and
/// [`ClaimBatch::publish`](crate::producer::ClaimBatch::publish) return it. Each error of a
/// call that publishes or claims has the same two variants.
///
/// ```
/// use lapwing::{Disruptor, error::{HaltCause, RingError}};
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
/// let poller = consumers.take_poller("all")?;
/// let claim = producer.claim()?;
/// drop(poller); // the only consumer
/// assert_eq!(claim.publish(), Err(RingError::Halted(HaltCause::NoConsumers)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A poller gets it at the end of a closed ring:
///
/// ```
/// use lapwing::{Disruptor, error::RingError};
///
/// let (producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
/// let mut poller = consumers.take_poller("all")?;
/// drop(producer);
/// assert_eq!(poller.wait().err(), Some(RingError::Closed));
/// assert_eq!(RingError::Closed.to_string(), "the ring is closed");
/// assert_eq!(format!("{:?}", RingError::Closed), "the ring is closed"); // what a `main` prints
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RingError {
    /// The ring is closed. A producer gets this for an event that the ring did not accept. A
    /// consumer gets it after it has finished every event that the ring accepted.
    Closed,
    /// The ring is halted, for this cause. A producer gets this for an event that was not
    /// published. A consumer gets it whether or not published events are left.
    Halted(HaltCause),
}

impl RingError {
    /// Why the core accepts no more events.
    pub(crate) fn of(ended: Ended) -> Self {
        match ended {
            Ended::Closed => Self::Closed,
            Ended::Halted(cause) => Self::Halted(HaltCause::of(cause)),
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Closed => "the ring is closed",
            Self::Halted(cause) => cause.text(),
        }
    }
}

impl fmt::Display for RingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Error for RingError {}

/// Prints the sentence of `Display`, so that a `main` that returns the error prints it too.
macro_rules! debug_as_display {
    ($($error:ident $(<$value:ident>)?),+ $(,)?) => {
        $(impl$(<$value>)? std::fmt::Debug for $error$(<$value>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        })+
    };
}

pub(crate) use debug_as_display;

debug_as_display! {
    AcknowledgeError, BatchError, BuildError, DynamicStageError, HandledError, PollError, PublishError,
    ResizeError, RingError, StartError, TakeError, TapError, TryPublishError, WhenFullError,
}
