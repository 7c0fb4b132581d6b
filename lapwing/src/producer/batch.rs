//! A run of slots that a producer has claimed and not published.

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

/// A run of slots that are claimed and not published: fill them, then [`publish`](Self::publish)
/// them together.
///
/// A run that is dropped without being published is abandoned, as a [`Claim`](crate::producer::Claim) is. It
/// also stays on the thread that made it.
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
    /// Shared between threads only if events may be.
    events: PhantomData<&'a mut [E]>,
    /// Stays on the thread that its producer has noted (`open_claim`).
    thread: PhantomData<MutexGuard<'static, ()>>,
}

impl<'a, E, S: Sequencer> ClaimBatch<'a, E, S> {
    #[inline]
    pub(super) fn new(producer: &'a mut Producer<E, S>, range: Range<Sequence>) -> Self {
        Self { producer, range, events: PhantomData, thread: PhantomData }
    }

    /// Sequences that the events will have.
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

    /// Number of events.
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

    /// The events, to fill.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    ///
    /// let mut batch = producer.claim_batch(2)?;
    /// for slot in batch.slots().iter_mut() {
    ///     *slot = 7;
    /// }
    /// assert!(batch.slots().iter_mut().all(|slot| *slot == 7)); // not published yet
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn slots(&mut self) -> Slots<'_, E> {
        let buffer = &self.producer.ring.buffer;
        let Range { start, end } = self.range;
        let wrap = buffer.wrap_after(start).min(end);
        // SAFETY: I1: this claim owns its run until it is published or given up, which takes
        // `self` (`publish_or_keep` hands it back only if the run was not settled), and `self` is
        // borrowed as mutable. Up to the wrap at most.
        let before_wrap = unsafe { buffer.slice_mut(start..wrap) };
        // SAFETY: I1: as above; from the wrap on, and not back to `start`, since a run is at most
        // the capacity.
        let after_wrap = unsafe { buffer.slice_mut(wrap..end) };
        Slots::new(before_wrap, after_wrap, start)
    }

    /// The events with their sequences, to fill where none is ever lent as mutable (I13).
    #[inline]
    pub(crate) fn events(&self) -> impl DoubleEndedIterator<Item = (Sequence, &E)> {
        let buffer = &self.producer.ring.buffer;
        self.range.clone().map(|sequence| {
            // SAFETY: I1: as in `slots`, and `self` is borrowed.
            (sequence, unsafe { buffer.event(sequence) })
        })
    }

    /// Publishes the events together and returns their sequences.
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
    /// As [`Claim::publish`](crate::producer::Claim::publish).
    ///
    /// # Blocking
    ///
    /// As [`Claim::publish`](crate::producer::Claim::publish).
    #[inline]
    pub fn publish(self) -> Result<Range<Sequence>, RingError> {
        self.publish_or_keep().map_err(|(_refused, why)| why)
    }

    /// As [`publish`](Self::publish), but an error hands the claim back. The ring accepts all of the events or none.
    #[inline]
    pub(crate) fn publish_or_keep(self) -> Result<Range<Sequence>, (Self, RingError)> {
        // Published, so not abandoned.
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
