//! Several producers: one counter that they claim from, and a stamp per slot to publish.
//!
//! The claim is the only write to a line that all producers share. It is a compare-and-swap, so
//! that nothing is claimed that the ring cannot hold: a claim cannot be returned, and one beyond
//! the gate would keep `try_claim` from ever succeeding and hang consumers if its owner died while
//! waiting.

use std::ops::Range;

use super::back_off::BackOff;
use super::runway::Runway;
use super::sealed::Claims;
use super::streak::Streak;
use crate::Sequence;
use crate::control::{CLAIMS_CLOSED, Control};
use crate::error::{Stopped, TryPublishError};
use crate::open_claim::OpenClaim;
use crate::ring_buffer::Prefetcher;
use crate::stamps::{Fate, Stamps};
use crate::sync::Ordering;
use crate::wait::asymmetric::AsymmetricFence;
use crate::wait::event_count::ENDED;

/// Bytes of events whose lines are asked for together: four lines, so as not to take from others what they
/// will write. The compare-and-swap of each claim waits for the stores before it, and so for their lines.
const BYTES_AHEAD: u64 = 256;

/// Sequencer of a ring with several producers. A claim that is given up becomes a tombstone, which
/// consumers skip.
///
/// ```
/// use lapwing::{Disruptor, Multi, Producer};
///
/// let (mut producer, _consumers): (Producer<u64, Multi>, _) =
///     Disruptor::multi_producer(8, || 0).then_poller("all").build()?;
/// drop(producer.claim()?);
/// assert_eq!(producer.claim()?.sequence(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Multi {
    runway: Runway,
    back_off: BackOff,
    streak: Streak,
    open: OpenClaim,
}

impl Multi {
    #[inline(always)]
    fn stamps(control: &Control) -> &Stamps {
        control.stamps.as_ref().expect("a multi-producer ring has stamps")
    }

    /// Claims from what is claimed so far, up to what `end_of` makes of it, given the limit, which
    /// it may read anew: in one step, so that nothing is ever claimed beyond the limit. A counter that is closed is beyond
    /// every limit, and who reads the limit anew learns why: nothing is asked for each event.
    #[inline(always)]
    fn claim_from(
        &mut self,
        control: &Control,
        end_of: impl Fn(&mut Runway, Sequence) -> Result<Sequence, TryPublishError>,
    ) -> Result<Range<Sequence>, TryPublishError> {
        if let Some(claim) = self.claim_in_a_row(control, &end_of) {
            return Ok(claim);
        }
        let claim = self.claim_from_counter(control, end_of)?;
        self.streak.follow(&claim);
        Ok(claim)
    }

    /// Claims where the last claim ended, if nobody else is expected to have claimed since and nobody has. Of what fails nothing
    /// is known: the number may be old.
    #[inline(always)]
    fn claim_in_a_row(
        &mut self,
        control: &Control,
        end_of: &impl Fn(&mut Runway, Sequence) -> Result<Sequence, TryPublishError>,
    ) -> Option<Range<Sequence>> {
        let claimed = self.streak.next()?;
        let end = end_of(&mut self.runway, claimed).ok()?;
        // O12, Relaxed: as in `claim_from_counter`, for both outcomes.
        let swap = control.cursor.compare_exchange_weak(
            claimed,
            end,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        swap.ok()?;
        self.streak.go_on(end);
        Some(claimed..end)
    }

    /// The same, whoever has claimed.
    #[inline(never)]
    fn claim_from_counter(
        &mut self,
        control: &Control,
        end_of: impl Fn(&mut Runway, Sequence) -> Result<Sequence, TryPublishError>,
    ) -> Result<Range<Sequence>, TryPublishError> {
        // O12, Relaxed: the counter only hands out numbers. The right to the slot comes from the
        // gate (O2).
        let mut claimed = control.cursor.load(Ordering::Relaxed);
        loop {
            let end = end_of(&mut self.runway, claimed)?;
            // O12, Relaxed: as above, for both outcomes.
            let swap = control.cursor.compare_exchange_weak(
                claimed,
                end,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            match swap {
                // Not what the swap returns, though it is the same: the address of the slot would wait for it.
                Ok(_) => return Ok(claimed..end),
                Err(_) => claimed = self.keep_off(control, claimed),
            }
        }
    }

    /// Lets others go on after a claim that was lost when `before` was claimed; what is claimed then.
    #[cold]
    #[inline(never)]
    fn keep_off(&mut self, control: &Control, before: Sequence) -> Sequence {
        let mut claimed = before;
        self.back_off.wait(|| {
            // O12, Relaxed: as in `claim_from_counter`.
            claimed = control.cursor.load(Ordering::Relaxed);
            (claimed & !CLAIMS_CLOSED).saturating_sub(before)
        });
        claimed
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
    fn check_not_halted(control: &Control) -> Result<(), Stopped> {
        control.life.halt_cause().map_or(Ok(()), |cause| Err(Stopped::Halted(cause)))
    }
}

#[allow(private_interfaces)]
impl Claims for Multi {
    const IS_MULTI: bool = true;

    fn starting_at(_: Sequence, slots: Prefetcher) -> Self {
        // The counter is shared, and the gate is read before the first claim.
        let runway = Runway::new(0, slots, slots.slots_in(BYTES_AHEAD));
        Self { runway, ..Self::default() }
    }

    fn join(&mut self, control: &Control) {
        control.open_claims.add(&self.open);
    }

    #[inline(always)]
    fn try_claim(&mut self, control: &Control, count: u64) -> Result<Sequence, TryPublishError> {
        // `move`: borrowed, the count would be stored before each swap, which waits for stores.
        let claim = self.claim_from(control, move |runway, claimed| {
            let end = claimed + count;
            runway.reach(control, claimed..end)?;
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
        let claim = self.claim_from(control, |runway, claimed| {
            let wanted = claimed + most;
            // If others have claimed since, `claimed` is old, and so is this end: the swap fails.
            runway.reach_up_to(control, claimed, wanted)
        })?;
        self.open.note(claim.start);
        Ok(claim)
    }

    fn unclaimed(&self, control: &Control) -> Sequence {
        control.claimed()
    }

    #[inline(always)]
    fn publish(&mut self, control: &Control, first: Sequence, count: u64) -> Result<(), Stopped> {
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
