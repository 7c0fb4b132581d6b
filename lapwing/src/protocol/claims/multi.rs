//! The claims of several producers. They claim from a shared counter, the cursor, and publish with
//! one stamp per slot.
//!
//! On the hot path, the claim is the only write to a cache line that all producers share. It is a
//! compare-and-swap rather than a fetch-and-add, so that it never claims more than the ring can
//! hold. A claim cannot be returned to the counter. A claim beyond the gate would therefore make
//! every later `try_claim` fail, and would hang consumers if its thread died while it waited.

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
use crate::protocol::stamps::{Fate, Stamps};
use crate::sync::Ordering;

/// The claims of one of several producers. An abandoned claim becomes a tombstone, which consumers
/// skip.
#[derive(Debug)]
pub struct MultiClaims<A> {
    limit: ClaimLimit<A>,
    open: OpenClaim,
}

impl<A: ClaimAdvice> MultiClaims<A> {
    /// Creates the claims of one more producer of the ring of `control`.
    pub(crate) fn new(control: &Control, advice: A) -> Self {
        let open = OpenClaim::default();
        control.open_claims.add(&open);
        // The counter is shared, so the first claim loads the gate.
        Self { limit: ClaimLimit::new(advice, 0), open }
    }

    #[inline]
    fn stamps(control: &Control) -> &Stamps {
        control.stamps.as_ref().expect("a multi-producer ring has stamps")
    }

    /// Claims from the counter up to the sequence that `end_of` returns, in one atomic step, so
    /// that no claim exceeds the limit. `end_of` gets the limit and may load the gate. A closed
    /// counter is beyond every limit, so the check of the limit then finds the reason. A claim does
    /// not load the state of the ring otherwise.
    #[inline]
    fn claim(
        &mut self,
        control: &Control,
        end_of: impl Fn(&mut ClaimLimit<A>, Sequence) -> Result<Sequence, TryPublishError>,
    ) -> Result<Range<Sequence>, TryPublishError> {
        // O12, Relaxed: the counter only assigns numbers. The right to the slot comes from the gate
        // (O2).
        let mut claimed = control.cursor.load(Ordering::Relaxed);
        loop {
            let end = end_of(&mut self.limit, claimed)?;
            if try_swap(control, claimed, end) {
                // The result of the swap is the same range, but the slot's address would depend on
                // it.
                return Ok(claimed..end);
            }
            claimed = self.lost(control, claimed);
        }
    }

    /// Backs off after a claim from the value `before` lost the race. Returns the new value of the
    /// counter.
    #[cold]
    #[inline(never)]
    fn lost(&mut self, control: &Control, before: Sequence) -> Sequence {
        self.limit.advice.back_off();
        // O12, Relaxed: the counter only assigns numbers.
        let counter = control.cursor.load(Ordering::Relaxed);
        self.limit.advice.backed_off((counter & !CLAIMS_CLOSED).saturating_sub(before));
        counter
    }

    /// Stamps the claims and wakes the threads that wait for them.
    ///
    /// The compare-and-swap of the next claim starts only after all earlier instructions have
    /// completed, so each instruction here adds latency. One word therefore shows both whether a
    /// thread is parked and whether a fence is needed.
    #[inline(always)]
    fn settle(control: &Control, first: Sequence, count: u64, fate: Fate) {
        Self::stamps(control).settle(first..first + count, fate);
        // O6: between the stamps and the check for parked threads. Where a compiler fence is not
        // enough, a flag is raised and `follow_up` runs.
        AsymmetricFence::Membarrier.light();
        if control.published.flags() != 0 {
            Self::follow_up(control);
        }
    }

    /// The slow path after the stamps. Runs unless it is known that no thread is parked.
    #[inline]
    fn follow_up(control: &Control) {
        if control.is_signalled {
            // O6: between the stamps and the check for parked threads.
            control.fence.light();
            control.notify_published();
        }
    }

    /// Checks that a claim may still be published in a ring that has ended. A close waits for the
    /// claims granted before it; a halt does not. A halt that is not visible yet counts as later
    /// than the publication.
    #[cold]
    fn check_not_halted(control: &Control) -> Result<(), RingError> {
        control.life.halt_cause().map_or(Ok(()), |cause| Err(RingError::Halted(cause)))
    }
}

#[allow(private_interfaces)]
impl<A: ClaimAdvice> Claims for MultiClaims<A> {
    const IS_MULTI: bool = true;

    #[inline]
    fn try_claim(&mut self, control: &Control, count: u64) -> Result<Sequence, TryPublishError> {
        // `move`: a borrowed count would be stored to memory before each swap, which waits for
        // stores.
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
            // If another producer has claimed since, `claimed` and this end are stale and the swap
            // fails.
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

/// Claims `claimed..end` if the counter still has the value `claimed`.
#[inline]
fn try_swap(control: &Control, claimed: Sequence, end: Sequence) -> bool {
    // O12, Relaxed: the counter only assigns numbers, for both outcomes.
    let ordering = Ordering::Relaxed;
    control.cursor.compare_exchange_weak(claimed, end, ordering, ordering).is_ok()
}
