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
use super::steps::Steps;
use crate::Sequence;
use crate::advice::ClaimAdvice;
use crate::control::Control;
use crate::error::{ClaimError, Ended};
use crate::parking::asymmetric::AsymmetricFence;
use crate::parking::event_count::ENDED;
use crate::publication::{Fate, Stamps};

/// The claims of one of several producers. An abandoned claim becomes a tombstone, which consumers
/// skip.
#[derive(Debug)]
pub struct MultiClaims<A> {
    limit: ClaimLimit<A>,
}

impl<A: ClaimAdvice> MultiClaims<A> {
    /// Creates the claims of one more producer of the ring of `control`.
    pub(crate) fn new(advice: A) -> Self {
        // The counter is shared, so the first claim loads the gate.
        Self { limit: ClaimLimit::new(advice, 0) }
    }

    #[inline]
    fn stamps(control: &Control) -> &Stamps {
        control.publication().stamps().expect("a multi-producer ring has stamps")
    }

    /// Claims from the counter up to the sequence that `end_of` returns, in one atomic step, so
    /// that no claim exceeds the limit. `end_of` gets the limit and may load the gate. A closed
    /// counter is beyond every limit, so the check of the limit then finds the reason. A claim does
    /// not load the state of the ring otherwise.
    #[inline]
    fn claim(
        &mut self,
        control: &Control,
        end_of: impl Fn(&mut ClaimLimit<A>, Sequence) -> Result<Sequence, ClaimError>,
    ) -> Result<Range<Sequence>, ClaimError> {
        // The counter never goes back. If it is beyond the expected value, the swap fails; and what
        // is refused at the expected value is refused beyond it too.
        let expected = self.limit.advice.expected_counter();
        let claimed = expected.unwrap_or_else(|| control.publication().counter());
        match self.claim_from(control, claimed, &end_of)? {
            Some(claim) => Ok(claim),
            // A wrong expectation is no lost race.
            None => self.claim_later(control, expected.is_none().then_some(claimed), end_of),
        }
    }

    /// Claims from the counter if it is `claimed`.
    #[inline]
    fn claim_from(
        &mut self,
        control: &Control,
        claimed: Sequence,
        end_of: &impl Fn(&mut ClaimLimit<A>, Sequence) -> Result<Sequence, ClaimError>,
    ) -> Result<Option<Range<Sequence>>, ClaimError> {
        let end = end_of(&mut self.limit, claimed)?;
        if !control.publication().try_claim(claimed, end) {
            return Ok(None);
        }
        // The result of the swap is the same range, but the slot's address would depend on it.
        let claim = claimed..end;
        self.limit.advice.claimed(&claim);
        Ok(Some(claim))
    }

    /// Claims after a claim that failed. It lost the race from the value `lost` of the counter, or
    /// had a wrong expectation.
    #[cold]
    #[inline(never)]
    fn claim_later(
        &mut self,
        control: &Control,
        mut lost: Option<Sequence>,
        end_of: impl Fn(&mut ClaimLimit<A>, Sequence) -> Result<Sequence, ClaimError>,
    ) -> Result<Range<Sequence>, ClaimError> {
        loop {
            let claimed = match lost {
                Some(before) => self.lost(control, before),
                None => control.publication().counter(),
            };
            if let Some(claim) = self.claim_from(control, claimed, &end_of)? {
                return Ok(claim);
            }
            lost = Some(claimed);
        }
    }

    /// Backs off after a claim from the value `before` lost the race. Returns the new value of the
    /// counter.
    fn lost(&mut self, control: &Control, before: Sequence) -> Sequence {
        self.limit.advice.back_off();
        self.limit.advice.backed_off(control.claimed().saturating_sub(before));
        control.publication().counter()
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
        if control.parking().published().flags() != 0 {
            Self::follow_up(control);
        }
    }

    /// The slow path after the stamps. Runs unless it is known that no thread is parked.
    #[inline]
    fn follow_up(control: &Control) {
        if control.parking().is_signalled() {
            // O6: between the stamps and the check for parked threads.
            control.fence().light();
            control.parking().notify_published();
        }
    }

    /// Checks that a claim may still be published in a ring that has ended. A close waits for the
    /// claims granted before it; a halt does not. A halt that is not visible yet counts as later
    /// than the publication.
    #[cold]
    fn check_not_halted(control: &Control) -> Result<(), Ended> {
        control.halt_cause().map_or(Ok(()), |cause| Err(Ended::Halted(cause)))
    }
}

impl<A: ClaimAdvice> Claims for MultiClaims<A> {
    type Advice = A;

    const IS_MULTI: bool = true;
}

impl<A: ClaimAdvice> Steps for MultiClaims<A> {
    #[inline]
    fn try_claim(&mut self, control: &Control, count: u64) -> Result<Sequence, ClaimError> {
        // `move`: a borrowed count would be stored to memory before each swap, which waits for
        // stores.
        let claim = self.claim(control, move |limit, claimed| {
            let end = claimed + count;
            limit.reach(control, claimed..end)?;
            Ok(end)
        });
        let first = claim?.start;
        Ok(first)
    }

    fn try_claim_up_to(
        &mut self,
        control: &Control,
        most: u64,
    ) -> Result<Range<Sequence>, ClaimError> {
        let claim = self.claim(control, |limit, claimed| {
            // If another producer has claimed since, `claimed` and this end are stale and the swap
            // fails.
            limit.reach_up_to(control, claimed, claimed + most)
        })?;
        Ok(claim)
    }

    #[inline(always)]
    fn publish(&mut self, control: &Control, first: Sequence, count: u64) -> Result<(), Ended> {
        if control.parking().published().flags() & ENDED != 0 {
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
