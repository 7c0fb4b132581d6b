//! Several claimed slots that a producer fills.

use std::fmt;
use std::ops::Range;

use super::{Sequencer, Slots};
use crate::Sequence;
use crate::error::RingError;

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
pub struct ClaimBatch<'a, E, S: Sequencer>(lapwing_core::ClaimBatch<'a, E, S::Claims>);

impl<'a, E, S: Sequencer> ClaimBatch<'a, E, S> {
    #[inline]
    pub(super) fn new(claim: lapwing_core::ClaimBatch<'a, E, S::Claims>) -> Self {
        Self(claim)
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
        self.0.sequences()
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
        let Range { start, end } = self.0.sequences();
        (end - start) as usize
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
        let first = self.0.sequences().start;
        let (before_wrap, after_wrap) = self.0.slots();
        Slots::new(before_wrap, after_wrap, first)
    }

    /// The events with their sequences, for rings whose events are never borrowed mutably (I13).
    #[inline]
    pub(crate) fn events(&self) -> impl DoubleEndedIterator<Item = (Sequence, &E)> {
        self.0.events()
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
        self.0.publish().map_err(|(refused, why)| (Self(refused), RingError::of(why)))
    }
}

impl<E, S: Sequencer> fmt::Debug for ClaimBatch<'_, E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClaimBatch").field("range", &self.sequences()).finish_non_exhaustive()
    }
}
