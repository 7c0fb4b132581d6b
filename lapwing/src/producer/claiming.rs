//! Claiming slots to publish later: one or a batch; waiting, not waiting, or for a time. Not here:
//! what a claim may do (`claim`, `batch`), as many as are free (`up_to`), how a producer waits
//! (`wait`).

use std::time::{Duration, Instant};

use super::Sequencer;
use super::{Claim, ClaimBatch, Producer};
use crate::Sequence;
use crate::error::{BatchError, PublishError, PublishTimeoutError, TryPublishError};
use crate::protocol::claims::Claims;

impl<E, S: Sequencer> Producer<E, S> {
    /// Claims the next slot, to be filled and published, or given up by dropping the claim.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    ///
    /// let mut claim = producer.claim()?;
    /// *claim = 7;
    /// assert_eq!(claim.publish()?, 0);
    /// assert_eq!(poller.poll()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`publish`](Self::publish).
    ///
    /// # Blocking
    ///
    /// As [`publish`](Self::publish).
    #[inline]
    pub fn claim(&mut self) -> Result<Claim<'_, E, S>, PublishError> {
        let sequence = self.claim_sequences(1)?;
        Ok(Claim::new(self, sequence))
    }

    /// As [`claim`](Self::claim), but never waits.
    ///
    /// A value is moved into a claim, so a full ring does not lose it:
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, _consumers) = Disruptor::single_producer(1, String::new)
    ///     .stage("all").poller()
    ///     .build()?;
    ///
    /// producer.publish(|line| line.push_str("first"))?; // the one slot
    /// let line = String::from("second");
    /// let unsent = match producer.try_claim() {
    ///     Ok(mut claim) => {
    ///         *claim = line;
    ///         claim.publish()?;
    ///         None
    ///     }
    ///     Err(_) => Some(line),
    /// };
    /// assert_eq!(unsent.as_deref(), Some("second"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Disruptor, error::PublishTimeoutError};
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(1, || 0_u64).stage("all").poller().build()?;
    ///
    /// let patience = Duration::from_millis(1);
    /// assert_eq!(producer.claim_timeout(patience)?.publish()?, 0); // the one slot
    /// assert_eq!(producer.claim_timeout(patience).err(), Some(PublishTimeoutError::TimedOut));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    ///
    /// let mut batch = producer.claim_batch(2)?;
    /// batch.slots().iter_mut().for_each(|slot| *slot = 7);
    /// assert_eq!(batch.publish()?, 0..2);
    /// assert_eq!(poller.poll()?.as_slice(), [7, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
        Ok(ClaimBatch::new(self, first..first + count))
    }

    /// As [`claim_batch`](Self::claim_batch), but never waits.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::BatchError};
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(4, || 0_u64).stage("all").poller().build()?;
    ///
    /// assert_eq!(producer.try_claim_batch(3)?.publish()?, 0..3);
    /// assert_eq!(producer.try_claim_batch(2).err(), Some(BatchError::Full)); // one is free
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`try_publish_batch`](Self::try_publish_batch).
    #[inline]
    pub fn try_claim_batch(&mut self, count: usize) -> Result<ClaimBatch<'_, E, S>, BatchError> {
        let count = self.checked_count(count)?;
        let first = self.try_claim_sequences(count)?;
        Ok(ClaimBatch::new(self, first..first + count))
    }

    /// As [`claim_batch`](Self::claim_batch), but waits for `timeout` at most.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Disruptor, error::BatchError};
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(4, || 0_u64).stage("all").poller().build()?;
    ///
    /// let patience = Duration::from_millis(1);
    /// assert_eq!(producer.claim_batch_timeout(3, patience)?.publish()?, 0..3);
    /// assert_eq!(producer.claim_batch_timeout(2, patience).err(), Some(BatchError::TimedOut));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
        Ok(ClaimBatch::new(self, first..first + count))
    }

    pub(super) fn checked_count(&self, count: usize) -> Result<u64, BatchError> {
        let capacity = self.capacity();
        match count {
            0 => Err(BatchError::Zero),
            _ if count > capacity => Err(BatchError::TooLarge { requested: count, capacity }),
            _ => Ok(count as u64),
        }
    }

    #[inline]
    pub(super) fn try_claim_sequences(&mut self, count: u64) -> Result<Sequence, TryPublishError> {
        self.claims.try_claim(&self.ring.control, count)
    }

    #[inline]
    fn claim_sequences(&mut self, count: u64) -> Result<Sequence, PublishError> {
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
