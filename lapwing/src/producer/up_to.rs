//! Claiming as many slots as are free, and how many that is. Not here: batches of a given size
//! (`claiming`).

use std::time::{Duration, Instant};

use super::Sequencer;
use super::{ClaimBatch, Producer};
use crate::error::BatchError;
use crate::protocol::claims::{self, Claims};

impl<E, S: Sequencer> Producer<E, S> {
    /// Claims the slots that are free, at least one and at most `max`, to be filled and published
    /// together, or given up by dropping the claim. A `max` beyond the capacity is no limit.
    ///
    /// [`claim_batch`](Self::claim_batch) waits until all that it asks for are free; this waits for
    /// the first and takes what is there. So a long list goes into a ring as fast as consumers make
    /// room:
    ///
    /// ```
    /// use std::thread;
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(4, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    ///
    /// let prices: Vec<u64> = (0..100).collect();
    /// thread::scope(|scope| {
    ///     let reader = scope.spawn(move || {
    ///         let mut read = Vec::new();
    ///         while let Ok(mut batch) = poller.wait() {
    ///             read.extend(batch.iter().map(|(_, price)| *price));
    ///         }
    ///         read
    ///     });
    ///     let mut left = &prices[..];
    ///     while !left.is_empty() {
    ///         let mut batch = producer.claim_up_to(left.len())?;
    ///         let (now, later) = left.split_at(batch.len()); // one to four of them
    ///         batch.slots().copy_from_slice(now)?;
    ///         batch.publish()?;
    ///         left = later;
    ///     }
    ///     drop(producer);
    ///     assert_eq!(reader.join().unwrap(), prices);
    ///     Ok::<(), Box<dyn std::error::Error>>(())
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BatchError::Zero`] for a `max` of 0, and as [`publish`](Self::publish).
    ///
    /// # Blocking
    ///
    /// As [`publish`](Self::publish), until one slot is free.
    pub fn claim_up_to(&mut self, max: usize) -> Result<ClaimBatch<'_, E, S>, BatchError> {
        let most = self.checked_most(max)?;
        let range = self.claims.try_claim_up_to(&self.ring.control, most).or_else(|_| {
            self.wait_for(1, |claims, control| claims.try_claim_up_to(control, most))
        })?;
        Ok(ClaimBatch::new(self, range))
    }

    /// As [`claim_up_to`](Self::claim_up_to), but never waits.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::BatchError};
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(4, || 0_u64).stage("all").poller().build()?;
    ///
    /// assert_eq!(producer.try_claim_up_to(3)?.publish()?, 0..3);
    /// assert_eq!(producer.try_claim_up_to(3)?.publish()?, 3..4); // one was free
    /// assert_eq!(producer.try_claim_up_to(3).err(), Some(BatchError::Full));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BatchError::Full`] if no slot is free, [`BatchError::Zero`] for a `max` of 0, and
    /// [`BatchError::Closed`] or [`BatchError::Halted`] if the ring is so.
    pub fn try_claim_up_to(&mut self, max: usize) -> Result<ClaimBatch<'_, E, S>, BatchError> {
        let most = self.checked_most(max)?;
        let range = self.claims.try_claim_up_to(&self.ring.control, most)?;
        Ok(ClaimBatch::new(self, range))
    }

    /// As [`claim_up_to`](Self::claim_up_to), but waits for `timeout` at most.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Disruptor, error::BatchError};
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(4, || 0_u64).stage("all").poller().build()?;
    ///
    /// let patience = Duration::from_millis(1);
    /// assert_eq!(producer.claim_up_to_timeout(9, patience)?.publish()?, 0..4);
    /// assert_eq!(producer.claim_up_to_timeout(9, patience).err(), Some(BatchError::TimedOut));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BatchError::TimedOut`] if no slot became free, and as [`claim_up_to`](Self::claim_up_to).
    ///
    /// # Blocking
    ///
    /// As [`publish_timeout`](Self::publish_timeout).
    pub fn claim_up_to_timeout(
        &mut self,
        max: usize,
        timeout: Duration,
    ) -> Result<ClaimBatch<'_, E, S>, BatchError> {
        let most = self.checked_most(max)?;
        let deadline = Instant::now().checked_add(timeout);
        let range =
            self.wait_until(1, deadline, |claims, control| claims.try_claim_up_to(control, most));
        Ok(ClaimBatch::new(self, range?))
    }

    /// Number of slots that could be claimed now; a look, which may be old at once. At most the
    /// [capacity](Self::capacity); 0 once no consumer is left. It says nothing of whether the ring
    /// is still open.
    ///
    /// A single producer can rely on that many: consumers make more of them, and nobody else takes
    /// any, but for a consumer that takes a [seat](crate::graph::Seats) and starts further back. Of several
    /// producers, another one may.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(4, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    ///
    /// assert_eq!(producer.free_slots(), 4);
    /// producer.publish_batch(3, |_| {})?;
    /// assert_eq!(producer.free_slots(), 1);
    /// poller.poll()?.consume(2);
    /// assert_eq!(producer.free_slots(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// Never; reads one cache line for each consumer that holds producers back.
    #[must_use]
    pub fn free_slots(&self) -> usize {
        claims::free_slots(&self.ring.control) as usize
    }

    /// Most slots that a claim of up to `max` may get.
    fn checked_most(&self, max: usize) -> Result<u64, BatchError> {
        if max == 0 { Err(BatchError::Zero) } else { Ok(max.min(self.capacity()) as u64) }
    }
}
