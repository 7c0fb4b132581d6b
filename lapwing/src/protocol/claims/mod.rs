//! Which sequences a producer may write next: claims and publications. Not here: the memory of the events
//! (`ring_buffer`), what stages may read (`reading`), how a producer waits on a full ring (`producer::wait`).
//!
//! ```text
//! slowest
//! consumer        cursor           limit = slowest consumer + capacity
//!  ├───────────────┼────────────────┤
//!  | slots in use  |   free slots   |    try_claim(n): cursor + n <= limit, or Full
//! ```

mod gate;
mod limit;
mod multi;
mod single;
mod window;

use std::fmt::Debug;
use std::ops::Range;

pub(crate) use gate::oldest_own_claim;
pub(crate) use multi::MultiClaims;
pub(crate) use single::SingleClaims;
pub(crate) use window::ClaimWindow;

use crate::Sequence;
use crate::error::{RingError, TryPublishError};
use crate::protocol::control::Control;

/// The claiming side of one producer. Other threads do not touch it.
#[allow(private_interfaces)]
pub trait Claims: Debug + Send {
    /// Whether several producers of one ring may claim this way.
    const IS_MULTI: bool;

    /// Claims `count` sequences, `1..=capacity`, and returns the first. Never waits.
    fn try_claim(&mut self, control: &Control, count: u64) -> Result<Sequence, TryPublishError>;

    /// Claims as many sequences as are free, in `1..=most`; `most` is at most the capacity. Never waits.
    /// Returns `Full` if no sequence is free.
    fn try_claim_up_to(
        &mut self,
        control: &Control,
        most: u64,
    ) -> Result<Range<Sequence>, TryPublishError>;

    /// Publishes the claimed sequences `first..first + count`.
    ///
    /// # Errors
    ///
    /// The reason, if the ring ended before the publication. No consumer sees the events. The caller keeps
    /// the claim and must [abandon](Self::abandon) it.
    fn publish(&mut self, control: &Control, first: Sequence, count: u64) -> Result<(), RingError>;

    /// Gives up the claimed sequences `first..first + count`. No consumer sees their events.
    fn abandon(&mut self, control: &Control, first: Sequence, count: u64);
}

/// Whether a claim of `count` sequences would now be granted, or refused for good. Reads the gate.
pub(crate) fn is_claimable(control: &Control, count: u64) -> bool {
    gate::is_passable(control, control.claimed() + count)
}

/// The sequence that the slowest consumer must finish before `count` sequences can be claimed.
pub(crate) fn wrap_point(control: &Control, count: u64) -> Sequence {
    (control.claimed() + count).saturating_sub(control.capacity)
}

/// Number of slots that are free to claim; 0 if no consumer is left. Reads the gate.
pub(crate) fn free_slots(control: &Control) -> u64 {
    // The gate is read first: a later claim makes the number too small, never too large.
    let limit = gate::limit(control);
    limit.map_or(0, |limit| limit.saturating_sub(control.claimed()))
}

#[cfg(all(test, not(loom)))]
mod tests;
