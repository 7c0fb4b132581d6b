//! Which sequences a producer may write next, and how it publishes them. Not here: the memory of
//! the events (`ring_buffer`), which events a stage may read (`reading`), and how a producer waits
//! on a full ring (`lapwing::producer`).
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
//! the advice. `Publication` has the
//! word that lets a single producer claim without a check. [`Producer`] turns claims into references.

mod batch;
mod claim;
mod gate;

mod limit;

mod multi;
mod single;

mod producer;

pub use batch::ClaimBatch;
pub use claim::Claim;
pub use multi::MultiClaims;
pub use producer::{Granted, Producer, Trying, Wish};
pub use single::SingleClaims;

use crate::Sequence;
use crate::advice::ClaimAdvice;
use crate::control::Control;

/// How the producers of a ring claim: alone or beside others.
pub trait Claims: steps::Steps {
    /// The advice that it asks.
    type Advice: ClaimAdvice;

    /// Whether several producers of one ring may claim in this way.
    const IS_MULTI: bool;
}

/// The steps of a claim, for this crate alone: a [`Producer`] calls them in the right order.
pub(crate) mod steps {
    use std::fmt::Debug;
    use std::ops::Range;

    use crate::Sequence;
    use crate::control::Control;
    use crate::error::{ClaimError, Ended};

    /// The claiming side of one producer. No other thread accesses it.
    pub trait Steps: Debug + Send + Sized {
        /// Claims `count` sequences, `1..=capacity`, and returns the first. Never waits.
        fn try_claim(&mut self, control: &Control, count: u64) -> Result<Sequence, ClaimError>;

        /// Claims as many sequences as are free, in `1..=most`; `most` is at most the capacity.
        /// Returns `Full` if no sequence is free. Never waits.
        fn try_claim_up_to(
            &mut self,
            control: &Control,
            most: u64,
        ) -> Result<Range<Sequence>, ClaimError>;

        /// Publishes the claimed sequences `first..first + count`.
        ///
        /// # Errors
        ///
        /// The reason, if the ring ended before the publication. Consumers then never see the
        /// events. The caller still holds the claim and must [abandon](Self::abandon) it.
        fn publish(&mut self, control: &Control, first: Sequence, count: u64) -> Result<(), Ended>;

        /// Gives up the claimed sequences `first..first + count`. Consumers never see their events.
        fn abandon(&mut self, control: &Control, first: Sequence, count: u64);
    }
}

/// What a producer asks before it waits for free slots.
impl Control {
    /// Whether a claim of `count` sequences would be granted at present, or refused for good. Loads
    /// the gate.
    #[must_use]
    pub fn is_claimable(&self, count: u64) -> bool {
        gate::is_passable(self, self.claimed().saturating_add(count))
    }

    /// Returns the sequence that the slowest consumer must finish before `count` sequences can be
    /// claimed.
    #[must_use]
    pub fn wrap_point(&self, count: u64) -> Sequence {
        self.claimed().saturating_add(count).saturating_sub(self.capacity())
    }

    /// Returns the number of slots that are free to claim; 0 if no consumer is left. Loads the gate.
    #[must_use]
    pub fn free_slots(&self) -> u64 {
        // The gate is loaded first: a claim in between makes the number too small, never too large.
        let limit = gate::limit(self);
        limit.map_or(0, |limit| limit.saturating_sub(self.claimed()))
    }

    /// Returns the number of slots that are claimed and that the slowest consumer has not released;
    /// 0 if no consumer is left. Loads the gate. If other threads claim or release slots meanwhile, the
    /// number may be too large, but is never too small.
    #[must_use]
    pub fn held_slots(&self) -> u64 {
        // The gate is loaded first: a claim or a release in between makes the number too large.
        let Some(limit) = gate::limit(self) else { return 0 };
        // A single producer's cursor may be past the end of a closed ring, whose events were refused.
        let claimed = self.claimed();
        let claimed = self.end().map_or(claimed, |end| claimed.min(end));
        self.capacity().saturating_sub(limit.saturating_sub(claimed))
    }

    /// Whether the claim that begins at `first`, which a producer was granted, is neither published
    /// nor given up. Always false in a ring with one producer.
    #[must_use]
    pub fn is_claim_held(&self, first: Sequence) -> bool {
        gate::is_held(self, first)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
