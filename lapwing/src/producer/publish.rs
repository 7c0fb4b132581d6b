//! Publishing through a closure that fills the slot: one event or a batch, with a wait or without
//! one. Not here: the same by a policy (`when_full`).

use std::ops::Range;

use super::Sequencer;
use super::{Producer, Slots};
use crate::Sequence;
use crate::error::{BatchError, PublishError, TryPublishError};

impl<E, S: Sequencer> Producer<E, S> {
    /// Publishes one event and returns its sequence. `fill` writes the event in place.
    ///
    /// The event still has the value that was last written to its slot, or that the factory made.
    ///
    /// If `fill` panics, the panic is passed on and the event is not published. No consumer waits
    /// for the event.
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
    /// The event is not published. `fill` may have run if the ring was closed or halted. With
    /// another error it has not.
    ///
    /// - [`PublishError::Closed`] if the ring was closed before it granted the slot or, with a
    ///   single producer, before the publication.
    /// - [`PublishError::Halted`] if the ring was halted before the publication.
    /// - [`PublishError::WouldDeadlock`] if the ring is full and only this thread can free a slot,
    ///   because it handles an event or holds a claim of the same ring.
    ///
    /// # Blocking
    ///
    /// Waits while the ring is full, until the slowest consumer releases a slot or the ring is
    /// closed or halted. It uses the producer's wait strategy. While a slot is free and the ring is
    /// open, the call is wait-free with a single producer and lock-free with several. Waking a
    /// parked thread adds a system call.
    ///
    /// If this thread also polls the ring, or has yet to start its stages, these consumers cannot
    /// advance during the wait, and the call may never return.
    ///
    /// If another thread closes or halts the ring at the same moment, a single producer waits until
    /// that thread has counted the accepted events. The count takes a few instructions and one
    /// system call.
    ///
    /// [`try_publish`](Self::try_publish) does not wait for a slot, and
    /// [`publish_or`](Self::publish_or) waits for a limited time.
    #[inline]
    pub fn publish(&mut self, fill: impl FnOnce(&mut E)) -> Result<Sequence, PublishError> {
        let mut claim = self.claim()?;
        fill(&mut claim);
        Ok(claim.publish()?)
    }

    /// Publishes one event if a slot is free, without waiting for one, and returns its sequence.
    ///
    /// [`publish`](Self::publish) waits for a free slot instead, and says what `fill` finds in the
    /// slot. If `fill` panics, the panic is passed on and the event is not published.
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
    /// The event is not published. `fill` may have run if the ring was closed or halted. With
    /// another error it has not.
    ///
    /// - [`TryPublishError::Full`] if no slot is free.
    /// - [`TryPublishError::Closed`] if the ring was closed before it granted the slot or, with a
    ///   single producer, before the publication.
    /// - [`TryPublishError::Halted`] if the ring was halted before the publication.
    ///
    /// # Blocking
    ///
    /// Does not wait for a free slot.
    ///
    /// If another thread closes or halts the ring at the same moment, a single producer waits until
    /// that thread has counted the accepted events. The count takes a few instructions and one
    /// system call.
    #[inline]
    pub fn try_publish(&mut self, fill: impl FnOnce(&mut E)) -> Result<Sequence, TryPublishError> {
        let mut claim = self.try_claim()?;
        fill(&mut claim);
        Ok(claim.publish()?)
    }

    /// Publishes `count` events together and returns their sequences. `fill` writes the events in
    /// place.
    ///
    /// Each event still has the value that was last written to its slot, or that the factory made.
    ///
    /// If `fill` panics, the panic is passed on and none of the events is published.
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
    /// None of the events is published. `fill` may have run if the ring was closed or halted. With
    /// another error it has not.
    ///
    /// - [`BatchError::Zero`] if `count` is 0.
    /// - [`BatchError::TooLarge`] if `count` is larger than the [capacity](Self::capacity).
    /// - [`BatchError::Closed`] if the ring was closed before it granted the slots or, with a
    ///   single producer, before the publication.
    /// - [`BatchError::Halted`] if the ring was halted before the publication.
    /// - [`BatchError::WouldDeadlock`] if too few slots are free and only this thread can free
    ///   enough, because it handles an event or holds a claim of the same ring.
    ///
    /// # Blocking
    ///
    /// Waits until `count` slots are free at the same time, or the ring is closed or halted. It
    /// uses the producer's wait strategy.
    ///
    /// If this thread also polls the ring, or has yet to start its stages, these consumers cannot
    /// advance during the wait, and the call may never return.
    ///
    /// If another thread closes or halts the ring at the same moment, a single producer waits until
    /// that thread has counted the accepted events. The count takes a few instructions and one
    /// system call.
    ///
    /// [`try_publish_batch`](Self::try_publish_batch) does not wait for slots, and
    /// [`publish_batch_or`](Self::publish_batch_or) waits for a limited time.
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

    /// Publishes `count` events together if that many slots are free, without waiting for them, and
    /// returns their sequences.
    ///
    /// [`publish_batch`](Self::publish_batch) waits for free slots instead.
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
    /// None of the events is published. `fill` may have run if the ring was closed or halted. With
    /// another error it has not.
    ///
    /// - [`BatchError::Full`] if fewer than `count` slots are free.
    /// - [`BatchError::Zero`] if `count` is 0.
    /// - [`BatchError::TooLarge`] if `count` is larger than the [capacity](Self::capacity).
    /// - [`BatchError::Closed`] if the ring was closed before it granted the slots or, with a
    ///   single producer, before the publication.
    /// - [`BatchError::Halted`] if the ring was halted before the publication.
    ///
    /// # Blocking
    ///
    /// Does not wait for free slots.
    ///
    /// If another thread closes or halts the ring at the same moment, a single producer waits until
    /// that thread has counted the accepted events. The count takes a few instructions and one
    /// system call.
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
}
