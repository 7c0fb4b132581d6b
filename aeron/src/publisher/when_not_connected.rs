//! What a publisher does without a subscriber.

use std::time::Duration;

/// What a [`Publisher`](crate::Publisher) does with events while no subscriber is connected.
///
/// A subscriber that has gone counts as connected until the driver notices: 5 s for IPC, 10 s for
/// UDP, if the driver has its defaults. The publisher then holds the ring once the term is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum WhenNotConnected {
    /// Holds the ring until a subscriber connects. A halt or a stop of the stage ends the wait. A
    /// shutdown does not: it drains the ring first.
    #[default]
    Wait,
    /// Drops the batch and counts its events as [dropped](crate::PublisherFigures::dropped). A
    /// subscriber that was connected before and connects again sees a [gap](crate::Notice::Gap).
    Drop,
    /// Fails at once with [`SendError::NotConnected`](crate::SendError::NotConnected).
    Fail,
    /// Holds the ring for this long, then fails with
    /// [`SendError::NotConnected`](crate::SendError::NotConnected).
    WaitFor(Duration),
}
