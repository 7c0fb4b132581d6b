//! One producer: a plain counter, and one release store to publish. No lock, no read-modify-write.
//!
//! The cursor says what is next to claim: only this producer stores it. It keeps no copy, since a third store for each event
//! costs 0.7 to 0.85 of a stream's throughput where stores wait for cache lines (`perf/results/experiments.md`, "Stores in
//! flight").

use std::ops::Range;

use super::Claims;
use super::limit::ClaimLimit;
use crate::Sequence;
use crate::error::{Stopped, TryPublishError};
use crate::protocol::advice::ClaimAdvice;
use crate::protocol::control::Control;
use crate::protocol::parking::asymmetric::AsymmetricFence;
use crate::protocol::parking::event_count::ENDED;
use crate::protocol::ring_buffer::Addresses;
use crate::sync::{Ordering, fence, own};

/// The claims of the only producer of a ring. A claim that is given up is claimed again.
#[derive(Debug)]
pub struct SingleClaims<A>(ClaimLimit<A>);

/// First sequence that is not published, hence the next to claim.
#[inline]
fn next(control: &Control) -> Sequence {
    own(&control.cursor)
}

impl<A: ClaimAdvice> SingleClaims<A> {
    /// A claim that needs a look at the gate or at the end of the ring.
    #[cold]
    #[inline(never)]
    fn check(&mut self, control: &Control, claim: Range<Sequence>) -> Result<(), TryPublishError> {
        check_open(control)?;
        self.0.reach(control, claim)
    }
}

#[allow(private_interfaces)]
impl<A: ClaimAdvice> Claims for SingleClaims<A> {
    const IS_MULTI: bool = false;

    fn new(control: &Control, slots: Addresses) -> Self {
        let first = control.claimed();
        Self(ClaimLimit::new(A::new(slots, None, first), first))
    }

    #[inline]
    fn try_claim(&mut self, control: &Control, count: u64) -> Result<Sequence, TryPublishError> {
        let next = next(control);
        if !self.0.covers(next + count) || control.published.flags() & ENDED != 0 {
            self.check(control, next..next + count)?;
        }
        Ok(next)
    }

    fn try_claim_up_to(
        &mut self,
        control: &Control,
        most: u64,
    ) -> Result<Range<Sequence>, TryPublishError> {
        check_open(control)?;
        let next = next(control);
        Ok(next..self.0.reach_up_to(control, next, next + most)?)
    }

    #[inline]
    fn publish(&mut self, control: &Control, first: Sequence, count: u64) -> Result<(), Stopped> {
        debug_assert_eq!(first, next(control), "a single producer publishes in order");
        let end = first + count;
        // O1, Release: pairs with the Acquire in `barrier::published`; carries the events below
        // `end`.
        control.cursor.store(end, Ordering::Release);
        // O6 and O8: between the store of the cursor and the looks for sleepers and for a close. Where that takes more than
        // the compiler's order, `FOLLOW_UP` is raised.
        AsymmetricFence::Membarrier.light();
        if control.published.flags() == 0 { Ok(()) } else { follow_up(control, end) }
    }

    fn abandon(&mut self, _: &Control, _: Sequence, _: u64) {}
}

/// What comes after the store of the cursor, up to `end`, unless no flag is raised and no thread sleeps.
#[cold]
fn follow_up(control: &Control, end: Sequence) -> Result<(), Stopped> {
    // O6 and O8: as in `publish`.
    control.fence.light();
    control.notify_published();
    if control.published.flags() & ENDED == 0 { Ok(()) } else { accepted(control, end) }
}

/// Whether events up to `end`, just published, came before the close or the halt that the caller has seen.
fn accepted(control: &Control, end: Sequence) -> Result<(), Stopped> {
    let why = why_ended(control);
    if control.life.settled_end() >= end { Ok(()) } else { Err(why) }
}

/// Whether the ring has not ended, as its flags say.
///
/// # Errors
///
/// As [`why_ended`].
fn check_open(control: &Control) -> Result<(), Stopped> {
    if control.published.flags() & ENDED == 0 { Ok(()) } else { Err(why_ended(control)) }
}

/// Why the ring accepts nothing more.
#[cold]
fn why_ended(control: &Control) -> Stopped {
    // O32: pairs with the Release in `Epoch::raise`; brings the reason.
    fence(Ordering::Acquire);
    control.life.why_not_open()
}
