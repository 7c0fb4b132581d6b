//! A claimed run of slots in a producer's hand: at most two slices, since it may cross the wrap.

use std::fmt;
use std::iter::Chain;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::slice;

use super::Producer;
use crate::Sequence;
use crate::error::{LengthError, Stopped};
use crate::sequencer::Sequencer;

/// The events of a claimed run, in order: up to the end of the ring, and from its start on.
///
/// ```
/// # let (mut producer, mut consumers) =
/// #     lapwing::Disruptor::single_producer(4, || 0_u64).then_poller("all").build()?;
/// # let mut poller = consumers.take_poller("all")?;
/// # producer.claim_batch(3)?.publish()?;
/// # poller.poll()?.consume_all();
/// // Of a ring of four slots, three have been used.
/// producer.publish_batch(3, |slots| {
///     assert_eq!((slots.len(), slots.first_sequence()), (3, 3));
///     let (before_wrap, after_wrap) = slots.as_mut_slices();
///     assert_eq!((before_wrap.len(), after_wrap.len()), (1, 2));
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Slots<'a, E> {
    before_wrap: &'a mut [E],
    after_wrap: &'a mut [E],
    first: Sequence,
}

impl<E> Slots<'_, E> {
    /// Number of events.
    ///
    /// ```
    /// # let (mut producer, _consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).then_poller("all").build()?;
    /// producer.publish_batch(3, |slots| assert_eq!(slots.len(), 3))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // a batch has at least one event
    pub fn len(&self) -> usize {
        self.before_wrap.len() + self.after_wrap.len()
    }

    /// Sequence that the first event will have.
    ///
    /// ```
    /// # let (mut producer, mut consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).then_poller("all").build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// producer.publish_batch(3, |slots| {
    ///     let first = slots.first_sequence();
    ///     slots.iter_mut().zip(first..).for_each(|(slot, sequence)| *slot = sequence);
    /// })?;
    /// assert_eq!(poller.poll()?.as_slice(), [0, 1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn first_sequence(&self) -> Sequence {
        self.first
    }

    /// The events as two slices. The second one is empty unless the run crosses the end of the
    /// ring.
    ///
    /// ```
    /// # let (mut producer, mut consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).then_poller("all").build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// let prices = [7, 8, 9];
    /// producer.publish_batch(prices.len(), |slots| {
    ///     let (before_wrap, after_wrap) = slots.as_mut_slices();
    ///     let (start, end) = prices.split_at(before_wrap.len());
    ///     before_wrap.copy_from_slice(start);
    ///     after_wrap.copy_from_slice(end);
    /// })?;
    /// assert_eq!(poller.poll()?.as_slice(), prices);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn as_mut_slices(&mut self) -> (&mut [E], &mut [E]) {
        (self.before_wrap, self.after_wrap)
    }

    /// Goes through the events.
    ///
    /// ```
    /// # let (mut producer, mut consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).then_poller("all").build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// producer.publish_batch(2, |slots| {
    ///     for slot in slots.iter_mut() {
    ///         *slot += 1; // it held the event of a lap ago, or the factory's
    ///     }
    /// })?;
    /// assert_eq!(poller.poll()?.as_slice(), [1, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn iter_mut(&mut self) -> Chain<slice::IterMut<'_, E>, slice::IterMut<'_, E>> {
        self.before_wrap.iter_mut().chain(self.after_wrap.iter_mut())
    }

    /// Copies `events` into the slots, one to each, across the wrap.
    ///
    /// ```
    /// # let (mut producer, mut consumers) =
    /// #     lapwing::Disruptor::single_producer(4, || 0_u64).then_poller("all").build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// # producer.claim_batch(3)?.publish()?;
    /// # poller.poll()?.consume_all();
    /// // Of a ring of four slots, three have been used.
    /// let prices = [7, 8, 9];
    /// let mut batch = producer.claim_batch(prices.len())?;
    /// batch.slots().copy_from_slice(&prices)?;
    /// batch.publish()?;
    /// assert_eq!(poller.poll()?.as_slice(), [7]); // up to the end of the ring
    /// # poller.poll()?.consume_all();
    /// assert_eq!(poller.poll()?.as_slice(), [8, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LengthError`] if there are not as many events as slots; nothing is then written.
    pub fn copy_from_slice(&mut self, events: &[E]) -> Result<(), LengthError>
    where
        E: Copy,
    {
        let (start, end) = self.split(events)?;
        self.before_wrap.copy_from_slice(start);
        self.after_wrap.copy_from_slice(end);
        Ok(())
    }

    /// Clones `events` into the slots, one to each, across the wrap; what a slot has allocated is
    /// used again where [`Clone::clone_from`] does so. A panic of it passes through.
    ///
    /// ```
    /// # let (mut producer, mut consumers) = lapwing::Disruptor::single_producer(4, String::new)
    /// #     .then_poller("all")
    /// #     .build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// let lines = ["first".to_owned(), "second".to_owned()];
    /// let mut batch = producer.claim_batch(lines.len())?;
    /// batch.slots().clone_from_slice(&lines)?;
    /// batch.publish()?;
    /// assert_eq!(poller.poll()?.as_slice(), lines);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`copy_from_slice`](Self::copy_from_slice).
    pub fn clone_from_slice(&mut self, events: &[E]) -> Result<(), LengthError>
    where
        E: Clone,
    {
        let (start, end) = self.split(events)?;
        self.before_wrap.clone_from_slice(start);
        self.after_wrap.clone_from_slice(end);
        Ok(())
    }

    /// The parts of `events` that go before and after the wrap.
    fn split<'b>(&self, events: &'b [E]) -> Result<(&'b [E], &'b [E]), LengthError> {
        if events.len() != self.len() {
            return Err(LengthError { events: events.len(), slots: self.len() });
        }
        Ok(events.split_at(self.before_wrap.len()))
    }
}

/// A run of slots that are claimed and not published: fill them, then [`publish`](Self::publish)
/// them together.
///
/// Dropped without, they are given up like a [`Claim`](crate::Claim).
///
/// ```
/// use lapwing::Disruptor;
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).then_poller("all").build()?;
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
}

impl<'a, E, S: Sequencer> ClaimBatch<'a, E, S> {
    #[inline]
    pub(super) fn new(producer: &'a mut Producer<E, S>, range: Range<Sequence>) -> Self {
        Self { producer, range, events: PhantomData }
    }

    /// Sequences that the events will have.
    ///
    /// ```
    /// # let (mut producer, _consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).then_poller("all").build()?;
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
    /// # let (mut producer, _consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).then_poller("all").build()?;
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
    /// # let (mut producer, _consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).then_poller("all").build()?;
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
        Slots { before_wrap, after_wrap, first: start }
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
    /// # let (mut producer, mut consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).then_poller("all").build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// let batch = producer.claim_batch(3)?;
    /// assert_eq!(poller.poll().err(), Some(lapwing::PollError::Empty));
    /// assert_eq!(batch.publish()?, 0..3);
    /// assert_eq!(poller.poll()?.len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Claim::publish`](crate::Claim::publish).
    ///
    /// # Blocking
    ///
    /// As [`Claim::publish`](crate::Claim::publish).
    #[inline]
    pub fn publish(self) -> Result<Range<Sequence>, Stopped> {
        // Published, so not given up.
        let mut batch = ManuallyDrop::new(self);
        let range = batch.range.clone();
        let Producer { ring, sequencer, .. } = &mut *batch.producer;
        ring.buffer.watch_write(range.clone());
        sequencer.publish(&ring.control, range.start, range.end - range.start).map(|()| range)
    }

    /// As [`publish`](Self::publish), but hands the claim back if the ring was closed before it
    /// counted the events, of which a close counts all or none. A halt is no error here.
    #[inline]
    pub(crate) fn publish_or_keep(self) -> Result<Range<Sequence>, Self> {
        // Published, so not given up.
        let mut batch = ManuallyDrop::new(self);
        let range = batch.range.clone();
        let Producer { ring, sequencer, .. } = &mut *batch.producer;
        ring.buffer.watch_write(range.clone());
        match sequencer.publish(&ring.control, range.start, range.end - range.start) {
            Err(_) if ring.control.has_refused(range.start) => Err(ManuallyDrop::into_inner(batch)),
            _ => Ok(range),
        }
    }
}

impl<E, S: Sequencer> Drop for ClaimBatch<'_, E, S> {
    fn drop(&mut self) {
        let Producer { ring, sequencer, .. } = &mut *self.producer;
        sequencer.abandon(&ring.control, self.range.start, self.range.end - self.range.start);
    }
}

impl<E, S: Sequencer> fmt::Debug for ClaimBatch<'_, E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClaimBatch").field("range", &self.range).finish_non_exhaustive()
    }
}
