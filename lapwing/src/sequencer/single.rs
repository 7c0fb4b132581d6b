//! One producer: a plain counter, and one release store to publish. No lock, no read-modify-write.
//!
//! In a stream a claim looks at two words, its clearance and its own count, and a publication at one, for all that there
//! might be to do: each access to memory counts there. Everything else is off that way.

use std::ops::Range;

use super::runway::{EVENTS_PER_LOOK, Runway};
use super::sealed::Claims;
use crate::Sequence;
use crate::control::Control;
use crate::error::{Stopped, TryPublishError};
use crate::ring_buffer::Prefetcher;
use crate::sync::{Ordering, fence, own};
use crate::wait::asymmetric::AsymmetricFence;
use crate::wait::event_count::{ENDED, FOLLOW_UP};

/// Bytes of events whose lines are asked for together.
const BYTES_AHEAD: u64 = 1024;

/// Sequencer of a ring with one producer. A claim that is given up is simply claimed again.
///
/// ```
/// use lapwing::{Disruptor, Producer, Single};
///
/// let (mut producer, _consumers): (Producer<u64, Single>, _) =
///     Disruptor::single_producer(8, || 0).then_poller("all").build()?;
/// drop(producer.claim()?);
/// assert_eq!(producer.claim()?.sequence(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Single {
    runway: Runway,
    note: Note,
}

/// What a producer notes of its cursor, while that is of use.
///
/// The cursor says by itself what is next, and in a stream it is at hand, since the last store of it has hardly left the
/// CPU: a note would be one more store for each event, and while stores wait for a slot's line, those that fit into the
/// CPU's queue are the limit. But a consumer that waits for each event takes the cursor's line, and a claim would wait for
/// that to come back before it knows which slot to write, whose line has to come as well.
#[derive(Debug, Default, Clone, Copy)]
struct Note {
    /// First sequence that is not published, while publications are followed up ([`FOLLOW_UP`]).
    next: Sequence,
    /// Whether the note is wanted, and the cursor better left alone: so the producer has no clearance.
    is_wanted: bool,
    /// A claim beyond this sequence settles anew whether it is.
    settled_until: Sequence,
}

impl Note {
    /// One that the first claim settles.
    fn starting_at(first: Sequence) -> Self {
        Self { next: first, is_wanted: false, settled_until: first }
    }

    /// Whether it is kept: also where a fence of the CPU's follows each publication, wanted or not.
    #[inline(always)]
    fn is_kept(control: &Control) -> bool {
        control.published.flags() & FOLLOW_UP != 0
    }

    /// Settles from `claim` on, which is granted. By value, as [`Runway::look`].
    #[cold]
    #[inline(never)]
    fn settled(control: &Control, claim: Range<Sequence>) -> Self {
        let is_wanted = !cfg!(loom) && control.is_tailed(claim.start);
        let is_to_be_kept = is_wanted || control.fence == AsymmetricFence::Full;
        match (Self::is_kept(control), is_to_be_kept) {
            (false, true) => control.published.raise(FOLLOW_UP),
            (true, false) => control.published.lower(FOLLOW_UP),
            _ => {}
        }
        Self { next: claim.start, is_wanted, settled_until: claim.end + EVENTS_PER_LOOK }
    }
}

impl Single {
    /// First sequence that is not published, hence the next to claim.
    #[inline(always)]
    fn next(&self, control: &Control) -> Sequence {
        self.next_by(control, control.published.flags())
    }

    /// The same where the `flags` of publications are at hand.
    #[inline(always)]
    fn next_by(&self, control: &Control, flags: u32) -> Sequence {
        if flags & FOLLOW_UP != 0 { self.note.next } else { own(&control.cursor) }
    }

    /// The next sequence to claim, if the ring is open.
    ///
    /// # Errors
    ///
    /// As [`why_ended`].
    #[inline(always)]
    fn next_if_open(&self, control: &Control) -> Result<Sequence, Stopped> {
        let flags = control.published.flags();
        if flags & ENDED != 0 {
            return Err(why_ended(control));
        }
        Ok(self.next_by(control, flags))
    }

    /// Claims without clearance: a lone event, whose producer is to leave the cursor alone, and whatever needs a look.
    #[inline(always)]
    fn try_claim_without(
        &mut self,
        control: &Control,
        count: u64,
    ) -> Result<Sequence, TryPublishError> {
        let next = self.next_if_open(control)?;
        let near = self.runway.near();
        let claim = next..next + count;
        self.runway.reach(control, claim.clone())?;
        self.settle(control, claim, near);
        Ok(next)
    }

    /// If `claim`, which is granted, took a look, before which the runway was `near`: settles whether to keep the note, unless
    /// that was done shortly before, and how far there is clearance.
    #[inline(always)]
    fn settle(&mut self, control: &Control, claim: Range<Sequence>, near: Sequence) {
        // Each look goes further.
        if self.runway.near() == near {
            return;
        }
        if claim.end > self.note.settled_until {
            self.note = Note::settled(control, claim);
        }
        give_clearance(control, if self.note.is_wanted { 0 } else { self.runway.near() });
    }

    /// What comes after the store of the cursor, up to `end`, unless no flag is raised and nobody sleeps.
    #[inline]
    fn follow_up(&mut self, control: &Control, end: Sequence) -> Result<(), Stopped> {
        self.note.next = end;
        // O6 and O8: as in `publish`.
        control.fence.light();
        control.notify_published();
        if control.published.flags() & ENDED == 0 { Ok(()) } else { accepted(control, end) }
    }
}

#[allow(private_interfaces)]
impl Claims for Single {
    const IS_MULTI: bool = false;

    fn starting_at(first: Sequence, slots: Prefetcher) -> Self {
        let runway = Runway::new(first, slots, slots.slots_in(BYTES_AHEAD));
        Self { runway, note: Note::starting_at(first) }
    }

    #[inline(always)]
    fn try_claim(&mut self, control: &Control, count: u64) -> Result<Sequence, TryPublishError> {
        let clear = control.clearance.end();
        if clear != 0 {
            let next = own(&control.cursor);
            if next + count <= clear {
                return Ok(next);
            }
        }
        off_the_stream();
        self.try_claim_without(control, count)
    }

    fn try_claim_up_to(
        &mut self,
        control: &Control,
        most: u64,
    ) -> Result<Range<Sequence>, TryPublishError> {
        let next = self.next_if_open(control)?;
        let near = self.runway.near();
        let claim = next..self.runway.reach_up_to(control, next, next + most)?;
        self.settle(control, claim.clone(), near);
        Ok(claim)
    }

    fn unclaimed(&self, control: &Control) -> Sequence {
        self.next(control)
    }

    #[inline(always)]
    fn publish(&mut self, control: &Control, first: Sequence, count: u64) -> Result<(), Stopped> {
        debug_assert_eq!(first, self.next(control), "a single producer publishes in order");
        let end = first + count;
        // O1, Release: pairs with the Acquire in `Barrier::published`; carries the events below
        // `end`.
        control.cursor.store(end, Ordering::Release);
        // O6 and O8: between the store of the cursor and the looks for sleepers and for a close. Where that takes more than
        // the compiler's order, `FOLLOW_UP` is raised.
        AsymmetricFence::Membarrier.light();
        if control.published.flags() == 0 {
            return Ok(());
        }
        off_the_stream();
        self.follow_up(control, end)
    }

    fn abandon(&mut self, _: &Control, _: Sequence, _: u64) {}
}

/// Gives the producer clearance up to `end`, but not in a ring that has ended.
#[cold]
#[inline(never)]
fn give_clearance(control: &Control, end: Sequence) {
    control.clearance.give(end);
    // O33: between the clearance and the look for the flag.
    control.fence.light();
    if control.published.flags() & ENDED != 0 {
        control.clearance.withdraw();
    }
}

/// Says that what follows is rare in a stream, so that the compiler lays it aside: there each jump counts that is taken.
#[cold]
#[inline(always)]
fn off_the_stream() {}

/// Why the ring accepts nothing more, as its flags say.
#[cold]
fn why_ended(control: &Control) -> Stopped {
    // O32: pairs with the Release in `Epoch::raise`; brings the reason.
    fence(Ordering::Acquire);
    control.life.why_not_open()
}

/// Whether events up to `end`, just published, came before the close or the halt that the caller has seen.
#[cold]
fn accepted(control: &Control, end: Sequence) -> Result<(), Stopped> {
    // The thread that ends the ring may not have come to that yet: no claim after this one is granted.
    control.clearance.withdraw();
    let why = why_ended(control);
    if control.life.settled_end() >= end { Ok(()) } else { Err(why) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sequencer::tests::control;

    /// Publishes events one by one until the note has been settled, each one while its consumer is `behind` so many;
    /// whether there is one then.
    fn keeps_note_after(single: &mut Single, control: &Control, behind: u64) -> bool {
        for _ in 0..=2 * EVENTS_PER_LOOK {
            let next = single.next(control);
            control.advance(0, next.saturating_sub(behind));
            assert_eq!(single.try_claim(control, 1), Ok(next));
            single.publish(control, next, 1).unwrap();
            assert_eq!((single.next(control), control.claimed()), (next + 1, next + 1));
        }
        assert_eq!(control.clearance.end() == 0, single.note.is_wanted);
        Note::is_kept(control)
    }

    #[test]
    fn a_note_is_kept_while_a_consumer_waits_for_each_event() {
        let control = control::<Single>(1 << 15);
        let mut single = Single::starting_at(0, Prefetcher::default());
        // A full fence takes longer than the note, which is then always kept.
        let is_fenced = control.fence == AsymmetricFence::Full;
        for _ in 0..3 {
            assert!(keeps_note_after(&mut single, &control, 0));
            assert_eq!(keeps_note_after(&mut single, &control, 100), is_fenced);
        }
    }

    #[test]
    fn a_claim_that_is_given_up_is_claimed_again_with_and_without_a_note() {
        let control = control::<Single>(1 << 15);
        let mut single = Single::starting_at(0, Prefetcher::default());
        for behind in [0, 100] {
            keeps_note_after(&mut single, &control, behind);
            let next = single.try_claim(&control, 1).unwrap();
            single.abandon(&control, next, 1);
            assert_eq!(single.try_claim_up_to(&control, 3), Ok(next..next + 3));
            single.publish(&control, next, 3).unwrap();
            assert_eq!(single.next(&control), next + 3);
        }
    }
}
