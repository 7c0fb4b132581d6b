//! One producer: a plain counter, and one release store to publish. No lock, no read-modify-write.

use std::ops::Range;

use super::runway::Runway;
use super::sealed::Claims;
use crate::Sequence;
use crate::control::Control;
use crate::error::{Stopped, TryPublishError};
use crate::ring_buffer::Prefetcher;
use crate::sync::{Ordering, own};

/// Bytes of events whose lines are asked for together, unless events are small.
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
}

impl Single {
    /// First sequence that is not published, hence the next to claim. Kept nowhere else: each event would pay for
    /// one more store, and while stores wait for a slot's line, those that fit into the CPU's queue are the limit.
    #[inline(always)]
    fn next(control: &Control) -> Sequence {
        own(&control.cursor)
    }
}

#[allow(private_interfaces)]
impl Claims for Single {
    const IS_MULTI: bool = false;

    fn starting_at(first: Sequence, slots: Prefetcher) -> Self {
        let stride = if slots.are_large() { slots.slots_in(BYTES_AHEAD) } else { 0 };
        Self { runway: Runway::new(first, slots, stride) }
    }

    #[inline(always)]
    fn try_claim(&mut self, control: &Control, count: u64) -> Result<Sequence, TryPublishError> {
        control.life.check_open()?;
        let next = Self::next(control);
        self.runway.reach(control, next..next + count)?;
        Ok(next)
    }

    fn try_claim_up_to(
        &mut self,
        control: &Control,
        most: u64,
    ) -> Result<Range<Sequence>, TryPublishError> {
        control.life.check_open()?;
        let next = Self::next(control);
        Ok(next..self.runway.reach_up_to(control, next, next + most)?)
    }

    fn unclaimed(&self, control: &Control) -> Sequence {
        Self::next(control)
    }

    #[inline(always)]
    fn publish(&mut self, control: &Control, first: Sequence, count: u64) -> Result<(), Stopped> {
        debug_assert_eq!(first, Self::next(control), "a single producer publishes in order");
        let end = first + count;
        // O1, Release: pairs with the Acquire in `Barrier::published`; carries the events below
        // `end`.
        control.cursor.store(end, Ordering::Release);
        // O6 and O8: between the store of the cursor and the looks for sleepers and for a close.
        control.fence.light();
        control.notify_published();
        if control.life.is_open() { Ok(()) } else { accepted(control, end) }
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
