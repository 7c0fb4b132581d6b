//! Claiming slots to publish later: one or a batch, with a wait or without one. Not here: what a
//! claim can do (`claim`, `batch`), claims of as many slots as are free (`up_to`), claims by a
//! policy (`when_full`), how a producer waits (`wait`).

use lapwing_core::{Claims, Granted};

use super::wait::Refused;
use super::{Claim, ClaimBatch, Producer, Sequencer};
use crate::deadline::TimeLimit;
use crate::error::{BatchError, PublishError, TryPublishError, WhenFullError};

impl<E, S: Sequencer> Producer<E, S> {
    /// Claims the next slot. Fill and publish it, or drop the claim to give it up.
    ///
    /// The event still has the value that was last written to its slot, or that the factory made.
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
    /// Nothing is claimed.
    ///
    /// - [`PublishError::Closed`] if the ring is closed.
    /// - [`PublishError::Halted`] if the ring is halted.
    /// - [`PublishError::WouldDeadlock`] if the ring is full and only this thread can free a slot,
    ///   because it handles an event or holds a claim of the same ring.
    ///
    /// # Blocking
    ///
    /// Waits while the ring is full, until the slowest consumer releases a slot or the ring is
    /// closed or halted. It uses the producer's wait strategy. [`try_claim`](Self::try_claim) does
    /// not wait, and [`claim_or`](Self::claim_or) waits for a limited time.
    ///
    /// If this thread also polls the ring, or has yet to start its stages, these consumers cannot
    /// advance during the wait, and the call may never return.
    #[inline]
    pub fn claim(&mut self) -> Result<Claim<'_, E, S>, PublishError> {
        self.claim_with(|refused| refused.wait())
    }

    /// Claims the next slot if it is free, without waiting.
    ///
    /// [`claim`](Self::claim) waits for the slot instead. If the ring is full, the caller still
    /// owns the value that it meant to move into the slot.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::TryPublishError};
    ///
    /// let (mut producer, _consumers) = Disruptor::single_producer(1, String::new)
    ///     .stage("all").poller()
    ///     .build()?;
    ///
    /// let mut claim = producer.try_claim()?; // the one slot
    /// *claim = String::from("first");
    /// claim.publish()?;
    /// assert_eq!(producer.try_claim().err(), Some(TryPublishError::Full));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Nothing is claimed.
    ///
    /// - [`TryPublishError::Full`] if no slot is free.
    /// - [`TryPublishError::Closed`] if the ring is closed.
    /// - [`TryPublishError::Halted`] if the ring is halted.
    #[inline]
    pub fn try_claim(&mut self) -> Result<Claim<'_, E, S>, TryPublishError> {
        self.claim_with(|refused| refused.give_up())
    }

    /// Claims the next `count` slots. Fill and publish them together, or drop the claim to give
    /// them up.
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
    /// batch.slots().iter_mut().for_each(|slot| *slot = 7);
    /// assert_eq!(batch.publish()?, 0..2);
    /// assert_eq!(poller.poll()?.as_slice(), [7, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Nothing is claimed.
    ///
    /// - [`BatchError::Zero`] if `count` is 0.
    /// - [`BatchError::TooLarge`] if `count` is larger than the [capacity](Self::capacity).
    /// - [`BatchError::Closed`] if the ring is closed.
    /// - [`BatchError::Halted`] if the ring is halted.
    /// - [`BatchError::WouldDeadlock`] if too few slots are free and only this thread can free
    ///   enough, because it handles an event or holds a claim of the same ring.
    ///
    /// # Blocking
    ///
    /// Waits until `count` slots are free at the same time, or the ring is closed or halted. It
    /// uses the producer's wait strategy. [`try_claim_batch`](Self::try_claim_batch) does not wait,
    /// and [`claim_batch_or`](Self::claim_batch_or) waits for a limited time.
    ///
    /// If this thread also polls the ring, or has yet to start its stages, these consumers cannot
    /// advance during the wait, and the call may never return.
    #[inline]
    pub fn claim_batch(&mut self, count: usize) -> Result<ClaimBatch<'_, E, S>, BatchError> {
        let count = self.checked_count(count)?;
        Ok(self.claim_batch_with(count, |refused| refused.wait())?)
    }

    /// Claims the next `count` slots if they are free, without waiting.
    ///
    /// [`claim_batch`](Self::claim_batch) waits for the slots instead.
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
    /// Nothing is claimed.
    ///
    /// - [`BatchError::Full`] if fewer than `count` slots are free.
    /// - [`BatchError::Zero`] if `count` is 0.
    /// - [`BatchError::TooLarge`] if `count` is larger than the [capacity](Self::capacity).
    /// - [`BatchError::Closed`] if the ring is closed.
    /// - [`BatchError::Halted`] if the ring is halted.
    #[inline]
    pub fn try_claim_batch(&mut self, count: usize) -> Result<ClaimBatch<'_, E, S>, BatchError> {
        let count = self.checked_count(count)?;
        Ok(self.claim_batch_with(count, |refused| refused.give_up())?)
    }

    /// Claims the next slot, waiting for it for as long as `limit` allows.
    #[inline]
    pub(crate) fn claim_within(
        &mut self,
        limit: TimeLimit,
    ) -> Result<Claim<'_, E, S>, WhenFullError> {
        self.claim_with(|refused| refused.wait_within(limit))
    }

    pub(super) fn checked_count(&self, count: usize) -> Result<u64, BatchError> {
        let capacity = self.capacity();
        match count {
            0 => Err(BatchError::Zero),
            _ if count > capacity => Err(BatchError::TooLarge { requested: count, capacity }),
            _ => Ok(count as u64),
        }
    }

    /// Claims the next slot. If the ring refuses it, `decide` says what to do.
    // Otherwise a program with several calls of `publish` for one type calls this for each event.
    // See E75 in `lab/results/experiments.md`.
    #[inline(always)]
    pub(super) fn claim_with<X>(
        &mut self,
        decide: impl for<'p> FnOnce(Refused<'_, 'p, '_, S>) -> Result<Granted<'p>, X>,
    ) -> Result<Claim<'_, E, S>, X> {
        let Self { core, shared, waits, open, dropped, .. } = self;
        let claim = core.claim(|trying, why| {
            decide(Refused { trying, why, count: 1, shared, waits, dropped })
        })?;
        if S::Claims::IS_MULTI {
            open.note(claim.sequence());
        }
        Ok(Claim::new(claim))
    }

    /// Claims the next `count` slots. If the ring refuses them, `decide` says what to do.
    #[inline]
    pub(super) fn claim_batch_with<X>(
        &mut self,
        count: u64,
        decide: impl for<'p> FnOnce(Refused<'_, 'p, '_, S>) -> Result<Granted<'p>, X>,
    ) -> Result<ClaimBatch<'_, E, S>, X> {
        let Self { core, shared, waits, open, dropped, .. } = self;
        let claim = core.claim_batch(count, |trying, why| {
            decide(Refused { trying, why, count, shared, waits, dropped })
        })?;
        if S::Claims::IS_MULTI {
            open.note(claim.sequences().start);
        }
        Ok(ClaimBatch::new(claim))
    }
}
