//! The publishing end. Not here: who may claim what (`sequencer`).
//!
//! Everything that publishes goes through a claim, so that a panic in the caller's code meets the
//! claim's drop: nothing half-written is ever seen, and nobody waits for it.

mod batch;
mod claim;
mod wait;

use std::fmt;
use std::ops::Range;
use std::time::{Duration, Instant};

pub use batch::{ClaimBatch, Slots};
pub use claim::Claim;

use crate::Sequence;
use crate::error::{BatchError, PublishTimeoutError, Stopped, TryPublishError};
use crate::ring::Ring;
use crate::sequencer::{Multi, Sequencer, Single};
use crate::sync::Arc;
use crate::wait::AnyWaitStrategy;

/// The one producer of a ring: `&mut self` and no `Clone` say what Java has to check as it runs.
///
/// ```compile_fail,E0599
/// let (producer, _) = lapwing::Disruptor::single_producer(8, || 0).then("a", |_, _, _| {}).build().unwrap();
/// let second = producer.clone();
/// ```
///
/// ```
/// let (producer, _) = lapwing::Disruptor::multi_producer(8, || 0).then("a", |_, _, _| {}).build().unwrap();
/// let second = producer.clone();
/// # drop((producer, second));
/// ```
pub type SingleProducer<E> = Producer<E, Single>;

/// One of any number of producers of a ring; clone it for each thread.
pub type MultiProducer<E> = Producer<E, Multi>;

/// The publishing end of a ring, for one producer ([`SingleProducer`]) or one of many
/// ([`MultiProducer`]).
///
/// An event is written in place, into a slot that holds the event of a lap ago, and seen by nobody
/// before it is published. When the last producer is dropped, the ring is closed: consumers drain
/// it and end.
///
/// A call that fails has published nothing, and keeps no slot. It has not run its closure either,
/// but for one case: a single producer's ring that is closed between the claim and the publication.
/// To keep a value that does not fit, claim first and move the value into the claim. An event that
/// was published before a halt may not be handled.
///
/// ```
/// use lapwing::Disruptor;
///
/// let (mut producer, consumers) = Disruptor::single_producer(8, String::new)
///     .then("print", |line, sequence, _| assert_eq!(line, &format!("line {sequence}")))
///     .build()?;
/// let running = consumers.start()?;
///
/// producer.publish(|line| line.replace_range(.., "line 0"))?; // a closure on the slot in place
///
/// let mut claim = producer.claim()?; // in two steps
/// claim.replace_range(.., "line 1");
/// assert_eq!(claim.publish()?, 1);
///
/// producer.publish_batch(3, |slots| {
///     for (number, line) in (2..).zip(slots.iter_mut()) {
///         *line = format!("line {number}");
///     }
/// })?;
/// running.shutdown()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// What is lent to a closure cannot be kept:
///
/// ```compile_fail,E0521
/// # let (mut producer, _consumers) =
/// #     lapwing::Disruptor::single_producer(8, || 0_u64).then("a", |_, _, _| {}).build().unwrap();
/// let mut kept: Vec<&mut u64> = Vec::new();
/// producer.publish(|event| kept.push(event)).unwrap();
/// ```
///
/// ```
/// # let (mut producer, _consumers) =
/// #     lapwing::Disruptor::single_producer(8, || 0_u64).then("a", |_, _, _| {}).build().unwrap();
/// let mut kept: Vec<u64> = Vec::new();
/// producer.publish(|event| kept.push(*event)).unwrap();
/// ```
pub struct Producer<E, S: Sequencer> {
    ring: Arc<Ring<E>>,
    sequencer: S,
    strategy: Box<dyn AnyWaitStrategy>,
}

impl<E, S: Sequencer> Producer<E, S> {
    pub(crate) fn new(ring: Arc<Ring<E>>, strategy: Box<dyn AnyWaitStrategy>) -> Self {
        ring.control.life.add_producer();
        Self { ring, sequencer: S::default(), strategy }
    }

    /// Number of slots of the ring.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.ring.control.capacity as usize
    }

    /// Closes the ring for all producers: no further event is accepted, consumers drain it and end.
    pub fn close(&self) {
        self.ring.control.close();
    }

    /// Publishes one event, filled in place by `fill`, and returns its sequence.
    ///
    /// A panic of `fill` passes through; the event is then not published, and nobody waits for it.
    ///
    /// # Errors
    ///
    /// [`Stopped`] if the ring is closed or halted, or is while the call waits.
    ///
    /// # Blocking
    ///
    /// Wait-free for a single producer and lock-free for many while a slot is free; otherwise waits
    /// on the slowest consumer, by the producer's wait strategy.
    #[inline]
    pub fn publish(&mut self, fill: impl FnOnce(&mut E)) -> Result<Sequence, Stopped> {
        let mut claim = self.claim()?;
        fill(&mut claim);
        claim.publish()
    }

    /// As [`publish`](Self::publish), but never waits.
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

    /// Claims the next slot, to be filled and published, or given up by dropping the claim.
    ///
    /// # Errors
    ///
    /// As [`publish`](Self::publish).
    ///
    /// # Blocking
    ///
    /// As [`publish`](Self::publish).
    #[inline]
    pub fn claim(&mut self) -> Result<Claim<'_, E, S>, Stopped> {
        let sequence = self.claim_sequences(1)?;
        Ok(Claim::new(self, sequence))
    }

    /// As [`claim`](Self::claim), but never waits.
    ///
    /// # Errors
    ///
    /// As [`try_publish`](Self::try_publish).
    #[inline]
    pub fn try_claim(&mut self) -> Result<Claim<'_, E, S>, TryPublishError> {
        let sequence = self.try_claim_sequences(1)?;
        Ok(Claim::new(self, sequence))
    }

    /// As [`claim`](Self::claim), but waits for `timeout` at most.
    ///
    /// # Errors
    ///
    /// As [`publish_timeout`](Self::publish_timeout).
    ///
    /// # Blocking
    ///
    /// As [`publish_timeout`](Self::publish_timeout).
    #[inline]
    pub fn claim_timeout(
        &mut self,
        timeout: Duration,
    ) -> Result<Claim<'_, E, S>, PublishTimeoutError> {
        let sequence = self.claim_sequences_timeout(1, timeout)?;
        Ok(Claim::new(self, sequence))
    }

    /// Claims the next `count` slots, to be filled and published together, or given up by dropping
    /// the claim.
    ///
    /// # Errors
    ///
    /// As [`publish_batch`](Self::publish_batch).
    ///
    /// # Blocking
    ///
    /// As [`publish_batch`](Self::publish_batch).
    #[inline]
    pub fn claim_batch(&mut self, count: usize) -> Result<ClaimBatch<'_, E, S>, BatchError> {
        let count = self.checked_count(count)?;
        let first = self.claim_sequences(count)?;
        Ok(ClaimBatch::new(self, first, count))
    }

    /// As [`claim_batch`](Self::claim_batch), but never waits.
    ///
    /// # Errors
    ///
    /// As [`try_publish_batch`](Self::try_publish_batch).
    #[inline]
    pub fn try_claim_batch(&mut self, count: usize) -> Result<ClaimBatch<'_, E, S>, BatchError> {
        let count = self.checked_count(count)?;
        let first = self.try_claim_sequences(count)?;
        Ok(ClaimBatch::new(self, first, count))
    }

    /// As [`claim_batch`](Self::claim_batch), but waits for `timeout` at most.
    ///
    /// # Errors
    ///
    /// As [`publish_batch_timeout`](Self::publish_batch_timeout).
    ///
    /// # Blocking
    ///
    /// As [`publish_batch_timeout`](Self::publish_batch_timeout).
    #[inline]
    pub fn claim_batch_timeout(
        &mut self,
        count: usize,
        timeout: Duration,
    ) -> Result<ClaimBatch<'_, E, S>, BatchError> {
        let count = self.checked_count(count)?;
        let first = self.claim_sequences_timeout(count, timeout)?;
        Ok(ClaimBatch::new(self, first, count))
    }

    /// The ring, for models.
    #[cfg(all(test, loom))]
    pub(crate) fn shared(&self) -> Arc<Ring<E>> {
        Arc::clone(&self.ring)
    }

    fn checked_count(&self, count: usize) -> Result<u64, BatchError> {
        let capacity = self.capacity();
        match count {
            0 => Err(BatchError::Zero),
            _ if count > capacity => Err(BatchError::TooLarge { requested: count, capacity }),
            _ => Ok(count as u64),
        }
    }

    #[inline(always)]
    fn try_claim_sequences(&mut self, count: u64) -> Result<Sequence, TryPublishError> {
        self.sequencer.try_claim(&self.ring.control, count)
    }

    #[inline(always)]
    fn claim_sequences(&mut self, count: u64) -> Result<Sequence, Stopped> {
        self.try_claim_sequences(count).or_else(|_| self.wait_to_claim(count))
    }

    #[inline]
    fn claim_sequences_timeout(
        &mut self,
        count: u64,
        timeout: Duration,
    ) -> Result<Sequence, PublishTimeoutError> {
        self.try_claim_sequences(count)
            .or_else(|_| self.wait_to_claim_until(count, Instant::now().checked_add(timeout)))
    }
}

impl<E> Clone for MultiProducer<E> {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.ring), self.strategy.clone())
    }
}

impl<E, S: Sequencer> Drop for Producer<E, S> {
    fn drop(&mut self) {
        if self.ring.control.life.remove_producer() {
            self.ring.control.close();
        }
    }
}

impl<E, S: Sequencer> fmt::Debug for Producer<E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Producer")
            .field("capacity", &self.capacity())
            .field("sequencer", &self.sequencer)
            .finish_non_exhaustive()
    }
}
