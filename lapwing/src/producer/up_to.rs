//! Claiming as many slots as are free, and their number. Not here: batches of a given size
//! (`claiming`), the same by a policy (`when_full`).

use lapwing_core::{Claims, Granted};

use super::wait::Refused;
use super::{ClaimBatch, Producer, Sequencer};
use crate::error::BatchError;

impl<E, S: Sequencer> Producer<E, S> {
    /// Claims the free slots, at least one and at most `max`. Fill and publish them together, or
    /// drop the claim to give them up.
    ///
    /// [`claim_batch`](Self::claim_batch) waits until all requested slots are free. This call waits
    /// only for the first one, and claims those that are free by then. A program can therefore
    /// publish a list that is longer than the ring, as fast as consumers free slots:
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(4, || 0_u64)
    ///     .stage("check").read(|price, sequence, _| assert_eq!(*price, sequence))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// let prices: Vec<u64> = (0..100).collect();
    /// let mut left = &prices[..];
    /// while !left.is_empty() {
    ///     let mut batch = producer.claim_up_to(left.len())?;
    ///     let (now, later) = left.split_at(batch.len()); // one to four of them
    ///     batch.slots().copy_from_slice(now)?;
    ///     batch.publish()?;
    ///     left = later;
    /// }
    /// let report = running.shutdown()?;
    /// assert_eq!(report.stages().next().unwrap().processed(), 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// If `max` is above the [capacity](Self::capacity), the limit is the capacity.
    ///
    /// # Errors
    ///
    /// Nothing is claimed.
    ///
    /// - [`BatchError::Zero`] if `max` is 0.
    /// - [`BatchError::Closed`] if the ring is closed.
    /// - [`BatchError::Halted`] if the ring is halted.
    /// - [`BatchError::WouldDeadlock`] if the ring is full and only this thread can free a slot,
    ///   because it handles an event or holds a claim of the same ring.
    ///
    /// # Blocking
    ///
    /// Waits until one slot is free, or the ring is closed or halted. It uses the producer's wait
    /// strategy. With [`WhenFull::Refuse`](crate::producer::WhenFull::Refuse),
    /// [`claim_up_to_or`](Self::claim_up_to_or) does not wait.
    ///
    /// If this thread also polls the ring, or has yet to start its stages, these consumers cannot
    /// advance during the wait, and the call may never return.
    pub fn claim_up_to(&mut self, max: usize) -> Result<ClaimBatch<'_, E, S>, BatchError> {
        let most = self.checked_most(max)?;
        Ok(self.claim_up_to_with(most, |refused| refused.wait())?)
    }

    /// Claims the free slots, at most `max`, without waiting.
    pub(crate) fn try_claim_up_to(
        &mut self,
        max: usize,
    ) -> Result<ClaimBatch<'_, E, S>, BatchError> {
        let most = self.checked_most(max)?;
        Ok(self.claim_up_to_with(most, |refused| refused.give_up())?)
    }

    /// Returns the number of slots that are free at this moment, at most the
    /// [capacity](Self::capacity).
    ///
    /// It is 0 once no consumer is left. It does not tell whether the ring is open.
    ///
    /// A single producer can rely on this number as long as the ring is open, since consumers only
    /// free more slots. The one exception is a consumer that takes a [dynamic
    /// stage](crate::graph::DynamicStages) and starts at an older event. With several producers,
    /// another producer may claim the slots first.
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
    /// Does not wait. It reads one cache line for each stage, worker and dynamic stage that can
    /// hold producers back.
    #[must_use]
    pub fn free_slots(&self) -> usize {
        self.control().free_slots() as usize
    }

    /// Returns the number of slots that are claimed and that the slowest consumer has not released;
    /// 0 if no consumer is left.
    pub(crate) fn held_slots(&self) -> usize {
        self.control().held_slots() as usize
    }

    /// Most slots that a claim of up to `max` may get.
    pub(super) fn checked_most(&self, max: usize) -> Result<u64, BatchError> {
        if max == 0 { Err(BatchError::Zero) } else { Ok(max.min(self.capacity()) as u64) }
    }

    /// Claims the free slots, at most `most`. If the ring has none, `decide` says what to do.
    pub(super) fn claim_up_to_with<X>(
        &mut self,
        most: u64,
        decide: impl for<'p> FnOnce(Refused<'_, 'p, '_, S>) -> Result<Granted<'p>, X>,
    ) -> Result<ClaimBatch<'_, E, S>, X> {
        let Self { core, shared, waits, open, dropped, .. } = self;
        let claim = core.claim_up_to(most, |trying, why| {
            decide(Refused { trying, why, count: 1, shared, waits, dropped })
        })?;
        if S::Claims::IS_MULTI {
            open.note(claim.sequences().start);
        }
        Ok(ClaimBatch::new(claim))
    }
}
