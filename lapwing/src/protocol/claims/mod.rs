//! Who may write next: claims and publications. Not here: where events lie (`ring_buffer`), who
//! reads them (`reading`), how a producer waits on a full ring (`producer::wait`).
//!
//! ```text
//!              next wrap: gate + capacity
//! gate ────────────┐
//!  | slots in use  |   free slots   |
//!  ├───────────────┼────────────────┤
//!  slowest       cursor           limit      try_claim(n): cursor + n <= limit, or Full
//!  consumer
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
use crate::protocol::ring_buffer::Addresses;

/// What one producer knows of the ring. All its state is the producer's own.
#[allow(private_interfaces)]
pub trait Claims: Debug + Send {
    /// Whether a ring may have several producers that claim this way.
    const IS_MULTI: bool;

    /// What a new producer of the ring of `control` knows, whose slots have these addresses.
    fn new(control: &Control, slots: Addresses) -> Self;

    /// Claims `count` sequences, `1..=capacity`, and returns the first; never waits.
    fn try_claim(&mut self, control: &Control, count: u64) -> Result<Sequence, TryPublishError>;

    /// Claims as many sequences as are free, `1..=most`, `most` being at most the capacity;
    /// never waits. Full if none is free.
    fn try_claim_up_to(
        &mut self,
        control: &Control,
        most: u64,
    ) -> Result<Range<Sequence>, TryPublishError>;

    /// Publishes the claimed sequences `first..first + count`.
    ///
    /// # Errors
    ///
    /// Why the ring had ended before. No consumer has seen the events or will, and the claim is still the caller's, to
    /// be [abandoned](Self::abandon).
    fn publish(&mut self, control: &Control, first: Sequence, count: u64) -> Result<(), RingError>;

    /// Gives up the claimed sequences `first..first + count`: no consumer will see their events.
    fn abandon(&mut self, control: &Control, first: Sequence, count: u64);
}

/// Whether a claim of `count` sequences would now be granted or stopped, by a fresh look at
/// the gate.
pub(crate) fn is_claimable(control: &Control, count: u64) -> bool {
    gate::is_passable(control, control.claimed() + count)
}

/// The sequence that the slowest consumer has to finish before `count` can be claimed.
pub(crate) fn wrap_point(control: &Control, count: u64) -> Sequence {
    (control.claimed() + count).saturating_sub(control.capacity)
}

/// Number of slots that are free to be claimed, by a fresh look at the gate; 0 once no
/// consumer is left.
pub(crate) fn free_slots(control: &Control) -> u64 {
    // The gate first: what is claimed since makes the number too small, never too large.
    let limit = gate::limit(control);
    limit.map_or(0, |limit| limit.saturating_sub(control.claimed()))
}

#[cfg(all(test, not(loom)))]
mod tests;
