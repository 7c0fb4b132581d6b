//! Several producers: one counter that they claim from, and a stamp per slot to publish.
//!
//! The claim is the only write to a line that all producers share. It is a compare-and-swap, so
//! that nothing is claimed that the ring cannot hold: a claim cannot be returned, and one beyond
//! the gate would keep `try_claim` from ever succeeding and hang consumers if its owner died while
//! waiting.

use std::ops::Range;

use super::Claims;
use super::limit::ClaimLimit;
use crate::Sequence;
use crate::error::{RingError, TryPublishError};
use crate::open_claim::OpenClaim;
use crate::protocol::advice::ClaimAdvice;
use crate::protocol::control::{CLAIMS_CLOSED, Control};
use crate::protocol::parking::asymmetric::AsymmetricFence;
use crate::protocol::parking::event_count::ENDED;
use crate::protocol::ring_buffer::Addresses;
use crate::protocol::stamps::{Fate, Stamps};
use crate::sync::Ordering;

/// The claims of one of several producers. A claim that is given up becomes a tombstone, which
/// consumers skip.
#[derive(Debug)]
pub struct MultiClaims<A> {
    limit: ClaimLimit<A>,
    open: OpenClaim,
}

impl<A: ClaimAdvice> MultiClaims<A> {
    #[inline(always)]
    fn stamps(control: &Control) -> &Stamps {
        control.stamps.as_ref().expect("a multi-producer ring has stamps")
    }

    /// Claims from the counter up to what `end_of` makes of it, given the limit, which it may read anew: in one step, so that
    /// nothing is ever claimed beyond the limit. A counter that is closed is beyond every limit, and the look at the limit
    /// learns why: no claim asks whether the ring is open.
    #[inline(always)]
    fn claim(
        &mut self,
        control: &Control,
        end_of: impl Fn(&mut ClaimLimit<A>, Sequence) -> Result<Sequence, TryPublishError>,
    ) -> Result<Range<Sequence>, TryPublishError> {
        if let Some(claim) = self.claim_as_expected(control, &end_of) {
            return Ok(claim);
        }
        let claim = self.claim_from_counter(control, end_of)?;
        self.limit.advice.claimed(&claim, false);
        Ok(claim)
    }

    /// Claims from what the counter is expected to be. `None` if there is no such number, or if it is wrong: it may be old, so
    /// nothing is made of an error either.
    #[inline(always)]
    fn claim_as_expected(
        &mut self,
        control: &Control,
        end_of: &impl Fn(&mut ClaimLimit<A>, Sequence) -> Result<Sequence, TryPublishError>,
    ) -> Option<Range<Sequence>> {
        let claimed = self.limit.advice.expected_counter()?;
        let end = end_of(&mut self.limit, claimed).ok()?;
        if !try_swap(control, claimed, end) {
            return None;
        }
        let claim = claimed..end;
        self.limit.advice.claimed(&claim, true);
        Some(claim)
    }

    /// Claims from what the counter is.
    #[inline(never)]
    fn claim_from_counter(
        &mut self,
        control: &Control,
        end_of: impl Fn(&mut ClaimLimit<A>, Sequence) -> Result<Sequence, TryPublishError>,
    ) -> Result<Range<Sequence>, TryPublishError> {
        // O12, Relaxed: the counter only hands out numbers. The right to the slot comes from the
        // gate (O2).
        let mut claimed = control.cursor.load(Ordering::Relaxed);
        loop {
            let end = end_of(&mut self.limit, claimed)?;
            if try_swap(control, claimed, end) {
                // Not what the swap returns, though it is the same: the address of the slot would wait for it.
                return Ok(claimed..end);
            }
            claimed = self.lost(control, claimed);
        }
    }

    /// Backs off after a claim that was lost when the counter was `before`. Returns the counter.
    #[cold]
    #[inline(never)]
    fn lost(&mut self, control: &Control, before: Sequence) -> Sequence {
        // O12, Relaxed: as in `claim_from_counter`.
        let counter = || control.cursor.load(Ordering::Relaxed);
        self.limit.advice.lost(|| (counter() & !CLAIMS_CLOSED).saturating_sub(before));
        counter()
    }

    /// Stamps the claims, and wakes the threads that wait for them.
    ///
    /// The compare-and-swap of the next claim begins when all before it has ended, so each instruction in between takes its
    /// time. Sleepers and the need for a fence stand in one word.
    #[inline(always)]
    fn settle(control: &Control, first: Sequence, count: u64, fate: Fate) {
        Self::stamps(control).settle(first..first + count, fate);
        // O6: between the stamps and the look for sleepers. Where that takes more than the compiler's order, there is a
        // `follow_up`.
        AsymmetricFence::Membarrier.light();
        if control.published.flags() != 0 {
            Self::follow_up(control);
        }
    }

    /// What comes after the stamps, unless it is known that no thread sleeps.
    #[inline]
    fn follow_up(control: &Control) {
        if control.is_signalled {
            // O6: as in `settle`.
            control.fence.light();
            control.notify_published();
        }
    }

    /// Whether a claim in a ring that has ended may still be published. A close waits for the claims that were granted
    /// before it; a halt does not. A halt that does not show yet counts as later than the publication.
    #[cold]
    fn check_not_halted(control: &Control) -> Result<(), RingError> {
        control.life.halt_cause().map_or(Ok(()), |cause| Err(RingError::Halted(cause)))
    }
}

#[allow(private_interfaces)]
impl<A: ClaimAdvice> Claims for MultiClaims<A> {
    const IS_MULTI: bool = true;

    fn new(control: &Control, slots: Addresses) -> Self {
        let advice = A::new(slots, Some(Self::stamps(control).addresses()), control.claimed());
        let open = OpenClaim::default();
        control.open_claims.add(&open);
        // The counter is shared, so the gate is read before the first claim.
        Self { limit: ClaimLimit::new(advice, 0), open }
    }

    #[inline(always)]
    fn try_claim(&mut self, control: &Control, count: u64) -> Result<Sequence, TryPublishError> {
        // `move`: borrowed, the count would be stored before each swap, which waits for stores.
        let claim = self.claim(control, move |limit, claimed| {
            let end = claimed + count;
            limit.reach(control, claimed..end)?;
            Ok(end)
        });
        let first = claim?.start;
        self.open.note(first);
        Ok(first)
    }

    fn try_claim_up_to(
        &mut self,
        control: &Control,
        most: u64,
    ) -> Result<Range<Sequence>, TryPublishError> {
        let claim = self.claim(control, |limit, claimed| {
            // If others have claimed since, `claimed` is old, and so is this end: the swap fails.
            limit.reach_up_to(control, claimed, claimed + most)
        })?;
        self.open.note(claim.start);
        Ok(claim)
    }

    #[inline(always)]
    fn publish(&mut self, control: &Control, first: Sequence, count: u64) -> Result<(), RingError> {
        if control.published.flags() & ENDED != 0 {
            Self::check_not_halted(control)?;
        }
        Self::settle(control, first, count, Fate::Published);
        Ok(())
    }

    #[cold]
    fn abandon(&mut self, control: &Control, first: Sequence, count: u64) {
        Self::settle(control, first, count, Fate::Tombstone);
    }
}

/// Claims from `claimed` to `end`, if `claimed` is still what the counter is.
#[inline(always)]
fn try_swap(control: &Control, claimed: Sequence, end: Sequence) -> bool {
    // O12, Relaxed: as in `claim_from_counter`, for both outcomes.
    let ordering = Ordering::Relaxed;
    control.cursor.compare_exchange_weak(claimed, end, ordering, ordering).is_ok()
}
