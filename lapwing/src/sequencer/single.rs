//! One producer: a plain counter, and one release store to publish. No lock, no read-modify-write.

use std::ops::Range;

use super::runway::Runway;
use super::sealed::Claims;
use crate::Sequence;
use crate::control::Control;
use crate::error::{Stopped, TryPublishError};
use crate::ring_buffer::Prefetcher;
use crate::sync::{Ordering, own};
use crate::wait::asymmetric::AsymmetricFence;

/// Bytes of events whose lines are asked for together, unless events are small.
const BYTES_AHEAD: u64 = 1024;

/// Most events from one look at how its consumers wait to the next.
const EVENTS_PER_LOOK: u64 = 4096;

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
#[derive(Debug, Default, Clone, Copy)]
pub struct Single {
    runway: Runway,
    /// Not 0 while it keeps the note. A word, so that a claim asks for it and for a close at once.
    keeps_note: u32,
    /// What [`next`](Self::next) is, while it is kept.
    note: Sequence,
    /// The claim of this sequence settles anew whether it is.
    unsettled: Sequence,
}

impl Single {
    /// First sequence that is not published, hence the next to claim.
    ///
    /// The cursor says so, and in a stream it is at hand, since the last store of it has hardly left the CPU: a note of it
    /// would be one more store for each event, and while stores wait for a slot's line, those that fit into the CPU's
    /// queue are the limit. But a consumer that waits for each event takes the cursor's line, and a claim would wait for
    /// that to come back before it knows which slot to write, whose line has to come as well. Hence the note.
    #[inline(always)]
    fn next(&self, control: &Control) -> Sequence {
        if self.keeps_note == 0 { own(&control.cursor) } else { self.note }
    }

    /// What is known after a look, if `claim` may then be claimed.
    #[cold]
    #[inline(never)]
    fn look(mut self, control: &Control, claim: Range<Sequence>) -> Result<Self, TryPublishError> {
        self.runway = self.runway.look(control, claim.clone())?;
        self.settle(control, claim);
        Ok(self)
    }

    /// Settles whether to keep the note, unless that was done shortly before `claim`, which is granted.
    fn settle(&mut self, control: &Control, claim: Range<Sequence>) {
        if claim.end > self.unsettled {
            self.keeps_note = control.is_tailed(claim.start).into();
            self.note = claim.start;
            self.unsettled = claim.end + EVENTS_PER_LOOK;
        }
        self.runway.end_at(self.unsettled);
    }

    /// What comes after the store of the cursor, up to `end`, unless it is known that nobody sleeps, that the ring is open,
    /// and that there is no note.
    #[inline]
    fn follow_up(&mut self, control: &Control, end: Sequence) -> Result<(), Stopped> {
        self.note = end;
        // O6 and O8: as in `publish`.
        control.fence.light();
        control.notify_published();
        if control.life.is_open() { Ok(()) } else { accepted(control, end) }
    }
}

#[allow(private_interfaces)]
impl Claims for Single {
    const IS_MULTI: bool = false;

    fn starting_at(first: Sequence, slots: Prefetcher) -> Self {
        let stride = if slots.are_large() { slots.slots_in(BYTES_AHEAD) } else { 0 };
        let runway = Runway::new(first, slots, stride);
        // Settled at the first claim.
        Self { runway, keeps_note: 1, note: first, unsettled: first }
    }

    #[inline(always)]
    fn try_claim(&mut self, control: &Control, count: u64) -> Result<Sequence, TryPublishError> {
        let next = if control.life.state() | self.keeps_note == 0 {
            own(&control.cursor)
        } else {
            control.life.check_open()?;
            self.next(control)
        };
        let end = next + count;
        if !self.runway.covers(end) {
            *self = self.look(control, next..end)?;
        }
        Ok(next)
    }

    fn try_claim_up_to(
        &mut self,
        control: &Control,
        most: u64,
    ) -> Result<Range<Sequence>, TryPublishError> {
        control.life.check_open()?;
        let next = self.next(control);
        let claim = next..self.runway.reach_up_to(control, next, next + most)?;
        self.settle(control, claim.clone());
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
        // the compiler's order, there is a note, hence a `follow_up`.
        AsymmetricFence::Membarrier.light();
        if control.published.mark() | control.life.state() | self.keeps_note == 0 {
            return Ok(());
        }
        self.follow_up(control, end)
    }

    fn abandon(&mut self, _: &Control, _: Sequence, _: u64) {}
}

/// Whether events up to `end`, just published, came before a close or a halt.
#[cold]
fn accepted(control: &Control, end: Sequence) -> Result<(), Stopped> {
    if control.life.is_halted() {
        return Err(Stopped::Halted);
    }
    if control.life.settled_end() < end { Err(Stopped::Closed) } else { Ok(()) }
}
