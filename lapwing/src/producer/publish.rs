//! Publishing by a closure on the slot: one event or a batch; waiting, not waiting, or for a time.

use std::ops::Range;
use std::time::Duration;

use super::Sequencer;
use super::{Producer, Slots};
use crate::Sequence;
use crate::error::{BatchError, PublishError, PublishTimeoutError, TryPublishError};

impl<E, S: Sequencer> Producer<E, S> {
    /// Publishes one event, filled in place by `fill`, and returns its sequence.
    ///
    /// A panic of `fill` passes through; the event is then not published, and nobody waits for it.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    ///
    /// assert_eq!(producer.publish(|event| *event = 7)?, 0);
    /// assert_eq!(producer.publish(|event| *event = 8)?, 1);
    /// assert_eq!(poller.poll()?.as_slice(), [7, 8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The event is not published. [`PublishError::Closed`] and [`PublishError::Halted`] if the ring
    /// was closed or halted before; [`PublishError::WouldDeadlock`] if the ring is full and only this
    /// thread could free a slot, since it handles an event or holds a claim of the same ring.
    ///
    /// # Blocking
    ///
    /// Wait-free for a single producer and lock-free for many while a slot is free; otherwise waits
    /// on the slowest consumer, by the producer's wait strategy. A poller that this thread holds as
    /// well is waited for in vain: [`try_publish`](Self::try_publish) does not wait.
    #[inline]
    pub fn publish(&mut self, fill: impl FnOnce(&mut E)) -> Result<Sequence, PublishError> {
        let mut claim = self.claim()?;
        fill(&mut claim);
        Ok(claim.publish()?)
    }

    /// As [`publish`](Self::publish), but never waits.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::TryPublishError};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(1, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    ///
    /// assert_eq!(producer.try_publish(|event| *event = 7), Ok(0)); // the one slot
    /// assert_eq!(producer.try_publish(|event| *event = 8), Err(TryPublishError::Full));
    /// poller.poll()?.consume_all();
    /// assert_eq!(producer.try_publish(|event| *event = 8), Ok(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TryPublishError::Full`] if no slot is free, and as [`publish`](Self::publish).
    #[inline]
    pub fn try_publish(&mut self, fill: impl FnOnce(&mut E)) -> Result<Sequence, TryPublishError> {
        let mut claim = self.try_claim()?;
        fill(&mut claim);
        Ok(claim.publish()?)
    }

    /// As [`publish`](Self::publish), but waits for `timeout` at most. One that is too long for the
    /// clock is no limit.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Disruptor, error::PublishTimeoutError};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(1, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    ///
    /// let patience = Duration::from_millis(1);
    /// assert_eq!(producer.publish_timeout(patience, |event| *event = 7), Ok(0)); // the one slot
    /// let result = producer.publish_timeout(patience, |event| *event = 8);
    /// assert_eq!(result, Err(PublishTimeoutError::TimedOut));
    /// assert_eq!(poller.poll()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`PublishTimeoutError::TimedOut`] if the ring stayed full, and as
    /// [`publish`](Self::publish).
    ///
    /// # Blocking
    ///
    /// As [`publish`](Self::publish), for `timeout` and the time that the system takes to wake the
    /// thread.
    #[inline]
    pub fn publish_timeout(
        &mut self,
        timeout: Duration,
        fill: impl FnOnce(&mut E),
    ) -> Result<Sequence, PublishTimeoutError> {
        let mut claim = self.claim_timeout(timeout)?;
        fill(&mut claim);
        Ok(claim.publish()?)
    }

    /// Publishes `count` events at once, filled in place by `fill`, and returns their sequences.
    ///
    /// A panic of `fill` passes through; none of the events is then published.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    ///
    /// let sequences = producer.publish_batch(3, |slots| {
    ///     for (value, slot) in (10..).zip(slots.iter_mut()) {
    ///         *slot = value;
    ///     }
    /// })?;
    /// assert_eq!(sequences, 0..3);
    /// assert_eq!(poller.poll()?.as_slice(), [10, 11, 12]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BatchError::Zero`] and [`BatchError::TooLarge`] for a `count` that can never be, and as
    /// [`publish`](Self::publish).
    ///
    /// # Blocking
    ///
    /// As [`publish`](Self::publish), until `count` slots are free.
    #[inline]
    pub fn publish_batch(
        &mut self,
        count: usize,
        fill: impl for<'b> FnOnce(&mut Slots<'b, E>),
    ) -> Result<Range<Sequence>, BatchError> {
        let mut batch = self.claim_batch(count)?;
        fill(&mut batch.slots());
        Ok(batch.publish()?)
    }

    /// As [`publish_batch`](Self::publish_batch), but never waits.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::BatchError};
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(4, || 0_u64).stage("all").poller().build()?;
    ///
    /// let sequences = producer.try_publish_batch(3, |slots| {
    ///     slots.iter_mut().for_each(|slot| *slot = 7);
    /// })?;
    /// assert_eq!(sequences, 0..3);
    /// let result = producer.try_publish_batch(2, |_| unreachable!("one slot is free"));
    /// assert_eq!(result, Err(BatchError::Full));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BatchError::Full`] if fewer than `count` slots are free, and as
    /// [`publish_batch`](Self::publish_batch).
    #[inline]
    pub fn try_publish_batch(
        &mut self,
        count: usize,
        fill: impl for<'b> FnOnce(&mut Slots<'b, E>),
    ) -> Result<Range<Sequence>, BatchError> {
        let mut batch = self.try_claim_batch(count)?;
        fill(&mut batch.slots());
        Ok(batch.publish()?)
    }

    /// As [`publish_batch`](Self::publish_batch), but waits for `timeout` at most.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Disruptor, error::BatchError};
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(4, || 0_u64).stage("all").poller().build()?;
    ///
    /// let patience = Duration::from_millis(1);
    /// let sequences = producer.publish_batch_timeout(3, patience, |slots| {
    ///     slots.iter_mut().for_each(|slot| *slot = 7);
    /// })?;
    /// assert_eq!(sequences, 0..3);
    /// let result = producer.publish_batch_timeout(2, patience, |_| unreachable!("one is free"));
    /// assert_eq!(result, Err(BatchError::TimedOut));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BatchError::TimedOut`] if too few slots became free, and as
    /// [`publish_batch`](Self::publish_batch).
    ///
    /// # Blocking
    ///
    /// As [`publish_timeout`](Self::publish_timeout), until `count` slots are free.
    #[inline]
    pub fn publish_batch_timeout(
        &mut self,
        count: usize,
        timeout: Duration,
        fill: impl for<'b> FnOnce(&mut Slots<'b, E>),
    ) -> Result<Range<Sequence>, BatchError> {
        let mut batch = self.claim_batch_timeout(count, timeout)?;
        fill(&mut batch.slots());
        Ok(batch.publish()?)
    }
}
