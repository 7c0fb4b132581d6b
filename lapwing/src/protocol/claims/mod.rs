//! Which sequences a producer may write next, and how it publishes them. Not here: the memory of
//! the events (`ring_buffer`), which events a stage may read (`reading`), and how a producer waits
//! on a full ring (`producer::wait`).
//!
//! ```text
//! slowest
//! consumer        cursor           limit = slowest consumer + capacity
//!  ├───────────────┼────────────────┤
//!  | slots in use  |   free slots   |    try_claim(n): cursor + n <= limit, or Full
//! ```
//!
//! [`SingleClaims`] serves the only producer of a ring, [`MultiClaims`] each of several. Both use
//! `limit` (how far this producer may claim), which asks `gate` (how far consumers have read) and
//! the advice. `window` is the word that lets a single producer claim without a check.

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

/// The claiming side of one producer. No other thread accesses it.
#[allow(private_interfaces)]
pub trait Claims: Debug + Send {
    /// Whether several producers of one ring may claim in this way.
    const IS_MULTI: bool;

    /// Claims `count` sequences, `1..=capacity`, and returns the first. Never waits.
    fn try_claim(&mut self, control: &Control, count: u64) -> Result<Sequence, TryPublishError>;

    /// Claims as many sequences as are free, in `1..=most`; `most` is at most the capacity. Returns
    /// `Full` if no sequence is free. Never waits.
    fn try_claim_up_to(
        &mut self,
        control: &Control,
        most: u64,
    ) -> Result<Range<Sequence>, TryPublishError>;

    /// Publishes the claimed sequences `first..first + count`.
    ///
    /// # Errors
    ///
    /// The reason, if the ring ended before the publication. Consumers then never see the events.
    /// The caller still holds the claim and must [abandon](Self::abandon) it.
    fn publish(&mut self, control: &Control, first: Sequence, count: u64) -> Result<(), RingError>;

    /// Gives up the claimed sequences `first..first + count`. Consumers never see their events.
    fn abandon(&mut self, control: &Control, first: Sequence, count: u64);
}

/// Whether a claim of `count` sequences would be granted at present, or refused for good. Loads the
/// gate.
pub(crate) fn is_claimable(control: &Control, count: u64) -> bool {
    gate::is_passable(control, control.claimed() + count)
}

/// Returns the sequence that the slowest consumer must finish before `count` sequences can be
/// claimed.
pub(crate) fn wrap_point(control: &Control, count: u64) -> Sequence {
    (control.claimed() + count).saturating_sub(control.capacity)
}

/// Returns the number of slots that are free to claim; 0 if no consumer is left. Loads the gate.
pub(crate) fn free_slots(control: &Control) -> u64 {
    // The gate is loaded first: a claim in between makes the number too small, never too large.
    let limit = gate::limit(control);
    limit.map_or(0, |limit| limit.saturating_sub(control.claimed()))
}

#[cfg(all(test, not(loom)))]
mod tests;
