//! Several claimed slots that a producer fills.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::sync::MutexGuard;

use super::Sequencer;
use super::{Producer, Slots};
use crate::Sequence;
use crate::error::RingError;
use crate::protocol::claims::Claims;

/// One or more consecutive claimed slots. Fill them through [`slots`](Self::slots), then
/// [`publish`](Self::publish) them together.
///
/// If it is dropped without being published, all of its slots are abandoned, and no consumer sees
/// their events. [`Claim`](crate::producer::Claim) describes the consequences. Like a claim, a
/// batch stays on the thread that made it.
///
/// ```
/// use lapwing::Disruptor;
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
/// let mut poller = consumers.take_poller("all")?;
///
/// let mut batch = producer.claim_batch(3)?;
/// let mut slots = batch.slots();
/// let (before_wrap, after_wrap) = slots.as_mut_slices();
/// before_wrap.copy_from_slice(&[1, 2, 3]);
/// assert!(after_wrap.is_empty());
/// assert_eq!(batch.publish()?, 0..3);
///
/// assert_eq!(poller.poll()?.as_slice(), [1, 2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "dropping a claim gives it up; call `publish`"]
pub struct ClaimBatch<'a, E, S: Sequencer> {
    producer: &'a mut Producer<E, S>,
    range: Range<Sequence>,
    /// Makes the batch `Sync` only if events are.
    events: PhantomData<&'a mut [E]>,
    /// Makes the batch `!Send`: its producer has noted the thread that made it (`open_claim`).
    thread: PhantomData<MutexGuard<'static, ()>>,
}

impl<'a, E, S: Sequencer> ClaimBatch<'a, E, S> {
    #[inline]
    pub(super) fn new(producer: &'a mut Producer<E, S>, range: Range<Sequence>) -> Self {
        Self { producer, range, events: PhantomData, thread: PhantomData }
    }

    /// Returns the sequences that the events will have.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    ///
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(producer.claim_batch(3)?.sequences(), 1..4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sequences(&self) -> Range<Sequence> {
        self.range.clone()
    }

    /// Returns the number of events in the batch.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    ///
    /// assert_eq!(producer.claim_batch(3)?.len(), 3);
    /// assert_eq!(producer.claim_up_to(100)?.len(), 8); // whatever is free
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // a batch has at least one event
    pub fn len(&self) -> usize {
        (self.range.end - self.range.start) as usize
    }

    /// Returns the events, to be filled.
    ///
    /// Each event still has the value that was last written to its slot, or that the factory made.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    ///
    /// let mut batch = producer.claim_batch(2)?;
    /// for slot in batch.slots().iter_mut() {
    ///     *slot = 7;
    /// }
    /// batch.publish()?;
    /// assert_eq!(poller.poll()?.as_slice(), [7, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn slots(&mut self) -> Slots<'_, E> {
        let buffer = &self.producer.ring.buffer;
        let Range { start, end } = self.range;
        let wrap = buffer.wrap_after(start).min(end);
        // SAFETY: I1: this claim owns its slots until it is published or given up, which takes
        // `self`. `publish_or_keep` hands it back only if the slots were not settled. `self` is
        // borrowed mutably, and the slice ends at the wrap.
        let before_wrap = unsafe { buffer.slice_mut(start..wrap) };
        // SAFETY: I1: as above. The slice begins at the wrap and does not reach `start` again,
        // since a batch has at most as many events as the ring has slots.
        let after_wrap = unsafe { buffer.slice_mut(wrap..end) };
        Slots::new(before_wrap, after_wrap, start)
    }

    /// The events with their sequences, for rings whose events are never borrowed mutably (I13).
    #[inline]
    pub(crate) fn events(&self) -> impl DoubleEndedIterator<Item = (Sequence, &E)> {
        let buffer = &self.producer.ring.buffer;
        self.range.clone().map(|sequence| {
            // SAFETY: I1: as in `slots`, and `self` is borrowed.
            (sequence, unsafe { buffer.event(sequence) })
        })
    }

    /// Publishes all events of the batch together and returns their sequences.
    ///
    /// `Ok` means that the events were published. If the ring is halted later, or at the same
    /// moment, consumers may not handle them.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    ///
    /// let batch = producer.claim_batch(3)?;
    /// assert_eq!(poller.poll().err(), Some(lapwing::error::PollError::Empty));
    /// assert_eq!(batch.publish()?, 0..3);
    /// assert_eq!(poller.poll()?.len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// None of the events is published. No consumer has seen them, and none will.
    ///
    /// - [`RingError::Closed`] if the ring has a single producer and was closed while the claim was
    ///   held. A ring with several producers accepts each claim that it granted before the close.
    /// - [`RingError::Halted`] if the ring was halted while the claim was held.
    ///
    /// # Blocking
    ///
    /// Does not wait for consumers. If another thread closes or halts the ring at the same moment,
    /// a single producer waits until that thread has counted the accepted events. The count takes a
    /// few instructions and one system call.
    #[inline]
    pub fn publish(self) -> Result<Range<Sequence>, RingError> {
        self.publish_or_keep().map_err(|(_refused, why)| why)
    }

    /// Publishes the events like [`publish`](Self::publish). An error hands the claim back. The
    /// ring accepts either all of the events or none.
    #[inline]
    pub(crate) fn publish_or_keep(self) -> Result<Range<Sequence>, (Self, RingError)> {
        // A published claim must not be abandoned.
        let mut batch = ManuallyDrop::new(self);
        let range = batch.range.clone();
        let Producer { ring, claims, .. } = &mut *batch.producer;
        ring.buffer.watch_write(range.clone());
        match claims.publish(&ring.control, range.start, range.end - range.start) {
            Ok(()) => Ok(range),
            Err(why) => Err((ManuallyDrop::into_inner(batch), why)),
        }
    }
}

impl<E, S: Sequencer> Drop for ClaimBatch<'_, E, S> {
    fn drop(&mut self) {
        let Producer { ring, claims, .. } = &mut *self.producer;
        claims.abandon(&ring.control, self.range.start, self.range.end - self.range.start);
    }
}

impl<E, S: Sequencer> fmt::Debug for ClaimBatch<'_, E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClaimBatch").field("range", &self.range).finish_non_exhaustive()
    }
}
