//! The claims of a single producer: a plain counter, and one release store to publish. The hot path
//! has no lock and no read-modify-write instruction.

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
use crate::sync::{Ordering, fence};

/// The claims of the only producer of a ring. An abandoned sequence is claimed again.
#[derive(Debug)]
pub struct SingleClaims<A> {
    limit: ClaimLimit<A>,
    /// First unpublished sequence, if the producer keeps a count. The window is then closed, so
    /// every claim is checked, and `FOLLOW_UP` is raised, so every publication updates the count.
    count: Option<Sequence>,
}

impl<A: ClaimAdvice> SingleClaims<A> {
    /// Creates the claims of the producer of the ring of `control`.
    pub(crate) fn new(control: &Control, advice: A) -> Self {
        Self { limit: ClaimLimit::new(advice, control.claimed()), count: None }
    }

    /// Returns the next sequence to claim. Without a count it is the cursor, which only this
    /// producer stores.
    fn next(&self, control: &Control) -> Sequence {
        self.count.unwrap_or_else(|| control.publication().own_end())
    }

    /// Checks a claim against the end of the ring and the gate.
    #[cold]
    #[inline(never)]
    fn check(&mut self, control: &Control, count: u64) -> Result<Sequence, ClaimError> {
        check_open(control)?;
        let next = self.next(control);
        let claim = next..next + count;
        self.limit.reach(control, claim.clone())?;
        self.grant(control, &claim);
        Ok(next)
    }

    /// The slow path of a publication up to `end`. Runs when a flag is raised or a thread is
    /// parked.
    ///
    /// Not inlined, so that a loop that publishes keeps more in registers: 1.1 times the unicast
    /// throughput on an EPYC (Zen 4).
    #[cold]
    #[inline(never)]
    fn follow_up(&mut self, control: &Control, end: Sequence) -> Result<(), Ended> {
        if let Some(count) = &mut self.count {
            *count = end;
        }
        // O6 and O8: between the store of the cursor and the loads of the mark and the flag.
        control.fence().light();
        control.parking().notify_published();
        if control.parking().published().flags() & ENDED == 0 {
            Ok(())
        } else {
            accepted(control, end)
        }
    }

    /// Grants `claim`: opens the window for the next claims, or keeps a count instead.
    fn grant(&mut self, control: &Control, claim: &Range<Sequence>) {
        let backlog = || claim.start.saturating_sub(control.stages().finished_by_first());
        let keeps_count = self.limit.advice.keeps_count(claim, backlog);
        if keeps_count != self.count.is_some() {
            control.follow_up_publications(keeps_count);
        }
        self.count = keeps_count.then_some(claim.start);
        control.publication().window().open(if keeps_count { 0 } else { self.limit.window() });
        // O33: between the store of the window and the load of the flag.
        control.fence().light();
        let _ = check_open(control); // closes the window of a ring that has ended
    }
}

impl<A: ClaimAdvice> Claims for SingleClaims<A> {
    type Advice = A;

    const IS_MULTI: bool = false;
}

impl<A: ClaimAdvice> Steps for SingleClaims<A> {
    #[inline]
    fn try_claim(&mut self, control: &Control, count: u64) -> Result<Sequence, ClaimError> {
        let end = control.publication().window().end();
        if end != 0 {
            let next = control.publication().own_end();
            if next + count <= end {
                return Ok(next);
            }
        }
        self.check(control, count)
    }

    fn try_claim_up_to(
        &mut self,
        control: &Control,
        most: u64,
    ) -> Result<Range<Sequence>, ClaimError> {
        check_open(control)?;
        let next = self.next(control);
        let claim = next..self.limit.reach_up_to(control, next, next + most)?;
        self.grant(control, &claim);
        Ok(claim)
    }

    #[inline]
    fn publish(&mut self, control: &Control, first: Sequence, count: u64) -> Result<(), Ended> {
        debug_assert_eq!(
            first,
            control.publication().own_end(),
            "a single producer publishes in order"
        );
        let end = first + count;
        control.publication().publish(end);
        // O6 and O8: between the store of the cursor and the checks for parked threads and for a
        // close. Where a compiler fence is not enough, `FOLLOW_UP` is raised.
        AsymmetricFence::Membarrier.light();
        if control.parking().published().flags() == 0 {
            Ok(())
        } else {
            self.follow_up(control, end)
        }
    }

    fn abandon(&mut self, _: &Control, _: Sequence, _: u64) {}
}

/// Checks that the events up to `end`, just published, precede the close or halt that the caller
/// saw. If the thread that ends the ring has not fixed the end yet, fixes it behind these events:
/// no later event is accepted, since only the caller could publish it.
fn accepted(control: &Control, end: Sequence) -> Result<(), Ended> {
    control.publication().window().close();
    let why = why_ended(control);
    // O8: whichever thread fixes the end, the events count or this producer learns that they do not.
    if control.life().fix_end(end) >= end { Ok(()) } else { Err(why) }
}

/// Checks the flag for the end of the ring. After an error, no further claim is granted, even if the
/// thread that ends the ring has not closed the window yet.
///
/// # Errors
///
/// [`Ended::Closed`] or [`Ended::Halted`], if the ring has ended.
fn check_open(control: &Control) -> Result<(), Ended> {
    if control.parking().published().flags() & ENDED == 0 {
        return Ok(());
    }
    control.publication().window().close();
    Err(why_ended(control))
}

/// Returns why the ring accepts nothing more.
#[cold]
fn why_ended(control: &Control) -> Ended {
    // O32: pairs with the Release in `Epoch::raise`; brings the reason.
    fence(Ordering::Acquire);
    control.life().why_not_open()
}
