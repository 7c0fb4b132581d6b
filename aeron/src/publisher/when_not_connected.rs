//! What a publisher does without a subscriber.

use std::time::Duration;

/// What a [`Publisher`](crate::Publisher) does with events while no subscriber is connected.
///
/// A subscriber that has died counts as connected until the driver notices. With its defaults, that
/// takes 10 s if the process died, and 5 s if its machine or its own driver did. Meanwhile the
/// stage waits once the term is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum WhenNotConnected {
    /// Waits until a subscriber connects. A halt or a stop of the stage ends the wait. A
    /// shutdown does not: it drains the ring first.
    #[default]
    Wait,
    /// Drops the batch and counts its events as [dropped](crate::PublisherFigures::dropped). A
    /// subscriber that was connected before and connects again sees a [gap](crate::Notice::Gap).
    Drop,
    /// Fails at once with [`SendError::NotConnected`](crate::SendError::NotConnected).
    Fail,
    /// Waits for this long, then fails with
    /// [`SendError::NotConnected`](crate::SendError::NotConnected).
    WaitFor(Duration),
}
