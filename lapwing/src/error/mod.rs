//! Every public error, with the call that returns it: small, `Copy` where it can be, one per
//! operation. Here is the one that all ends of a ring share.
//!
//! A call that returns one has published nothing, holds no slot, and has lost no event that was
//! accepted.

mod build;
mod consume;
mod length;
mod lifecycle;
mod offer;
mod placement;
mod publish;
mod seat;
mod tap;

use std::error::Error;
use std::fmt;

pub use build::BuildError;
pub use consume::{AcknowledgeError, PollError, WaitTimeoutError};
pub use length::LengthError;
pub use lifecycle::{ResizeError, StartError, TakeError};
pub use offer::OfferError;
pub use placement::PlacementError;
pub use publish::{BatchError, PublishError, PublishTimeoutError, TryPublishError};
pub use seat::SeatError;
pub use tap::{TapError, TapTimeoutError};

/// Why a wait for events came back empty: [`Poller::wait`](crate::Poller::wait); and why a claim
/// came too late: [`Claim::publish`](crate::Claim::publish),
/// [`ClaimBatch::publish`](crate::ClaimBatch::publish). Part of every error of a producer.
///
/// ```
/// use lapwing::{Disruptor, Stopped};
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).then_poller("all").build()?;
/// let poller = consumers.take_poller("all")?;
/// let claim = producer.claim()?;
/// drop(poller); // nobody is left to read
/// assert_eq!(claim.publish(), Err(Stopped::Halted));
///
/// # let (producer, mut consumers) =
/// #     Disruptor::single_producer(8, || 0_u64).then_poller("all").build()?;
/// # let mut poller = consumers.take_poller("all")?;
/// drop(producer); // of another ring
/// assert_eq!(poller.wait().err(), Some(Stopped::Closed));
/// assert_eq!(Stopped::Closed.to_string(), "the ring is closed");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Closed: no event is accepted any more; for a poller, and everything before has been
    /// consumed.
    Closed,
    /// Halted, by [`Running::halt`](crate::Running::halt), by a stage that panicked, or since no
    /// consumer is left. A closed ring that somebody has drained stays closed, whoever leaves it.
    /// The event of a call that had begun may have been seen.
    Halted,
}

impl Stopped {
    fn text(self) -> &'static str {
        match self {
            Self::Closed => "the ring is closed",
            Self::Halted => {
                "the ring is halted: a stage panicked, nobody consumes, or halt was called"
            }
        }
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Error for Stopped {}
