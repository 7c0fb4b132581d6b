//! One producer: a plain counter, and one release store to publish. No lock, no read-modify-write.

use std::ops::Range;

use super::gate;
use super::sealed::Claims;
use crate::Sequence;
use crate::control::Control;
use crate::error::{Stopped, TryPublishError};
use crate::sync::Ordering;

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
    /// First sequence that is not published, hence the next to claim.
    next: Sequence,
    /// First sequence that could not be claimed when the gate was last read; never too high.
    limit: Sequence,
}

#[allow(private_interfaces)]
impl Claims for Single {
    const IS_MULTI: bool = false;

    fn starting_at(first: Sequence) -> Self {
        Self { next: first, limit: first }
    }

    #[inline(always)]
    fn try_claim(&mut self, control: &Control, count: u64) -> Result<Sequence, TryPublishError> {
        if !control.life.is_open() {
            return Err(control.life.stopped().map_or(TryPublishError::Full, Into::into));
        }
        let end = self.next + count;
        if end > self.limit {
            self.limit = gate::refresh(control, end)?;
        }
        Ok(self.next)
    }

    fn try_claim_up_to(
        &mut self,
        control: &Control,
        most: u64,
    ) -> Result<Range<Sequence>, TryPublishError> {
        if let Some(stopped) = control.life.stopped() {
            return Err(stopped.into());
        }
        let wanted = self.next + most;
        if wanted > self.limit {
            self.limit = gate::refresh(control, self.next + 1)?;
        }
        Ok(self.next..wanted.min(self.limit))
    }

    fn unclaimed(&self, _: &Control) -> Sequence {
        self.next
    }

    #[inline(always)]
    fn publish(&mut self, control: &Control, first: Sequence, count: u64) -> Result<(), Stopped> {
        debug_assert_eq!(first, self.next, "a single producer publishes in order");
        let end = first + count;
        self.next = end;
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
