//! Publishing and claiming by a policy: an argument of each call says what happens if the ring is
//! full, so that a program can choose at run time. Not here: the calls that always wait, or never
//! (`publish`, `claiming`, `up_to`).

use std::ops::Range;
use std::time::Duration;

use lapwing_core::Granted;

use super::wait::Refused;
use super::{Claim, ClaimBatch, Producer, Sequencer, Slots};
use crate::Sequence;
use crate::deadline::TimeLimit;
use crate::error::{BatchError, TryPublishError, WhenFullError};

/// What a call that takes it does if the ring is full.
///
/// It is an argument of [`publish_or`](Producer::publish_or), [`claim_or`](Producer::claim_or),
/// [`publish_batch_or`](Producer::publish_batch_or), [`claim_batch_or`](Producer::claim_batch_or)
/// and [`claim_up_to_or`](Producer::claim_up_to_or), not a setting of a producer. The other calls
/// have one fixed behavior each: [`publish`](Producer::publish) waits,
/// [`try_publish`](Producer::try_publish) returns an error.
///
/// ```
/// use std::time::Duration;
/// use lapwing::{Disruptor, error::WhenFullError, producer::WhenFull};
///
/// let (mut producer, _consumers) =
///     Disruptor::single_producer(1, || 0_u64).stage("all").poller().build()?;
///
/// let (prices, orders) = (WhenFull::DropNew, WhenFull::Timeout(Duration::from_millis(1)));
///
/// assert_eq!(producer.publish_or(prices, |event| *event = 7)?, Some(0)); // the one slot
/// assert_eq!(producer.publish_or(prices, |event| *event = 8)?, None);
/// assert_eq!(producer.publish_or(orders, |event| *event = 9), Err(WhenFullError::TimedOut));
/// assert_eq!(producer.dropped(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenFull {
    /// The producer waits for free slots, as [`publish`](Producer::publish) does.
    #[default]
    Wait,
    /// The producer waits at most for this time. If the time is too long for the clock, there is no
    /// limit. If no slot, or for a batch too few, became free in time, the call returns
    /// [`WhenFullError::TimedOut`], or [`BatchError::TimedOut`].
    Timeout(Duration),
    /// The call returns [`WhenFullError::Full`] at once, or [`BatchError::Full`] for a batch.
    /// [`try_publish`](Producer::try_publish) does the same.
    Refuse,
    /// The call drops the new event, or the whole batch, at once and [counts](Producer::dropped)
    /// each event. The events in the ring stay. The result is `Ok(None)`, with this policy alone.
    DropNew,
}

impl<E, S: Sequencer> Producer<E, S> {
    /// Returns the number of events that this producer has dropped because the ring was full, by
    /// [`WhenFull::DropNew`].
    ///
    /// The count is exact. A clone starts at 0 and counts its own drops.
    /// [`Snapshot::dropped`](crate::monitor::Snapshot::dropped) is the sum of all producers.
    ///
    /// ```
    /// use lapwing::{Disruptor, producer::WhenFull};
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::multi_producer(2, || 0_u64).stage("all").poller().build()?;
    ///
    /// for price in 0..5 {
    ///     producer.publish_or(WhenFull::DropNew, |event| *event = price)?; // two find a slot
    /// }
    /// assert_eq!((producer.dropped(), producer.clone().dropped()), (3, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Publishes one event and returns its sequence, or does what `when_full` says if the ring is
    /// full.
    ///
    /// `fill` writes the event in place. The result is `None` if the event was dropped, and `fill`
    /// has then not run. If `fill` panics, the panic is passed on, and the event is neither
    /// published nor counted as dropped.
    ///
    /// ```
    /// use lapwing::{Disruptor, producer::WhenFull};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(1, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    ///
    /// let drop_new = WhenFull::DropNew;
    /// assert_eq!(producer.publish_or(drop_new, |event| *event = 7)?, Some(0)); // the one slot
    /// assert_eq!(producer.publish_or(drop_new, |_| unreachable!("dropped"))?, None);
    /// poller.poll()?.consume_all();
    /// assert_eq!(producer.publish_or(drop_new, |event| *event = 9)?, Some(1));
    /// assert_eq!(producer.dropped(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The event is not published, and it does not count as dropped. `fill` may have run if the
    /// ring was closed or halted. With another error it has not.
    ///
    /// - [`WhenFullError::Closed`] if the ring was closed before it granted the slot or, with a
    ///   single producer, before the publication.
    /// - [`WhenFullError::Halted`] if the ring was halted before the publication.
    /// - [`WhenFullError::Full`] if the ring is full, with [`WhenFull::Refuse`].
    /// - [`WhenFullError::TimedOut`] if no slot became free in time, with [`WhenFull::Timeout`].
    /// - [`WhenFullError::WouldDeadlock`] if the ring is full and only this thread can free a slot,
    ///   with a policy that waits. The call then returns at once.
    ///   [`PublishError::WouldDeadlock`](crate::error::PublishError::WouldDeadlock) describes the
    ///   cases.
    ///
    /// # Blocking
    ///
    /// With [`WhenFull::Wait`], waits while the ring is full, until the slowest consumer releases a
    /// slot or the ring is closed or halted. With [`WhenFull::Timeout`], waits at most for that
    /// time, and longer by the time that the system takes to wake the thread. Both use the
    /// producer's wait strategy. With [`WhenFull::Refuse`] and [`WhenFull::DropNew`], the call does
    /// not wait for a slot.
    ///
    /// If this thread also polls the ring, or has yet to start its stages, these consumers cannot
    /// advance during the wait. With [`WhenFull::Wait`], the call may then never return.
    ///
    /// If another thread closes or halts the ring at the same moment, a single producer waits until
    /// that thread has counted the accepted events. The count takes a few instructions and one
    /// system call.
    #[inline]
    pub fn publish_or(
        &mut self,
        when_full: WhenFull,
        fill: impl FnOnce(&mut E),
    ) -> Result<Option<Sequence>, WhenFullError> {
        let Some(mut claim) = self.claim_or(when_full)? else { return Ok(None) };
        fill(&mut claim);
        Ok(Some(claim.publish()?))
    }

    /// Publishes `count` events together and returns their sequences, or does what `when_full` says
    /// if too few slots are free.
    ///
    /// All of the events are published or none. The result is `None` if they were dropped, and
    /// `fill` has then not run.
    ///
    /// ```
    /// use lapwing::{Disruptor, producer::WhenFull};
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(4, || 0_u64).stage("all").poller().build()?;
    ///
    /// let drop_new = WhenFull::DropNew;
    /// let published = producer.publish_batch_or(3, drop_new, |slots| assert_eq!(slots.len(), 3))?;
    /// assert_eq!(published, Some(0..3));
    /// assert_eq!(producer.publish_batch_or(2, drop_new, |_| unreachable!("one is free"))?, None);
    /// assert_eq!(producer.dropped(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// None of the events is published, and they do not count as dropped. `fill` may have run if
    /// the ring was closed or halted. With another error it has not.
    ///
    /// - [`BatchError::Zero`] if `count` is 0.
    /// - [`BatchError::TooLarge`] if `count` is larger than the [capacity](Self::capacity).
    /// - [`BatchError::Closed`] if the ring was closed before it granted the slots or, with a
    ///   single producer, before the publication.
    /// - [`BatchError::Halted`] if the ring was halted before the publication.
    /// - [`BatchError::Full`] if fewer than `count` slots are free, with [`WhenFull::Refuse`].
    /// - [`BatchError::TimedOut`] if fewer than `count` slots were free when the time had passed,
    ///   with [`WhenFull::Timeout`].
    /// - [`BatchError::WouldDeadlock`] if too few slots are free and only this thread can free
    ///   enough, with a policy that waits. The call then returns at once.
    ///   [`PublishError::WouldDeadlock`](crate::error::PublishError::WouldDeadlock) describes the
    ///   cases.
    ///
    /// # Blocking
    ///
    /// With [`WhenFull::Wait`], waits until `count` slots are free at the same time, or the ring is
    /// closed or halted. With [`WhenFull::Timeout`], waits at most for that time, and longer by the
    /// time that the system takes to wake the thread. Both use the producer's wait strategy. With
    /// [`WhenFull::Refuse`] and [`WhenFull::DropNew`], the call does not wait for slots.
    ///
    /// If this thread also polls the ring, or has yet to start its stages, these consumers cannot
    /// advance during the wait. With [`WhenFull::Wait`], the call may then never return.
    ///
    /// If another thread closes or halts the ring at the same moment, a single producer waits until
    /// that thread has counted the accepted events. The count takes a few instructions and one
    /// system call.
    #[inline]
    pub fn publish_batch_or(
        &mut self,
        count: usize,
        when_full: WhenFull,
        fill: impl for<'b> FnOnce(&mut Slots<'b, E>),
    ) -> Result<Option<Range<Sequence>>, BatchError> {
        let Some(mut batch) = self.claim_batch_or(count, when_full)? else { return Ok(None) };
        fill(&mut batch.slots());
        Ok(Some(batch.publish()?))
    }

    /// Claims the next slot, or does what `when_full` says if the ring is full. Fill and publish
    /// the slot, or drop the claim to give it up.
    ///
    /// The result is `None` if the event was dropped. The caller then still owns the value that it
    /// meant to move into the slot, and the event has been counted.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Disruptor, error::WhenFullError, producer::WhenFull};
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(1, || 0_u64).stage("all").poller().build()?;
    ///
    /// let patience = WhenFull::Timeout(Duration::from_millis(1));
    /// if let Some(mut claim) = producer.claim_or(patience)? {
    ///     *claim = 7;
    ///     assert_eq!(claim.publish()?, 0); // the one slot
    /// }
    /// assert_eq!(producer.claim_or(patience).err(), Some(WhenFullError::TimedOut));
    /// assert!(producer.claim_or(WhenFull::DropNew)?.is_none());
    /// assert_eq!(producer.dropped(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Nothing is claimed, and nothing counts as dropped.
    ///
    /// - [`WhenFullError::Closed`] if the ring is closed.
    /// - [`WhenFullError::Halted`] if the ring is halted.
    /// - [`WhenFullError::Full`], [`WhenFullError::TimedOut`] and [`WhenFullError::WouldDeadlock`]
    ///   as for [`publish_or`](Self::publish_or).
    ///
    /// # Blocking
    ///
    /// Waits for a slot as [`publish_or`](Self::publish_or) does.
    #[inline]
    pub fn claim_or(
        &mut self,
        when_full: WhenFull,
    ) -> Result<Option<Claim<'_, E, S>>, WhenFullError> {
        match self.claim_with(|refused| refused.answer(when_full, 1)) {
            Ok(claim) => Ok(Some(claim)),
            Err(None) => Ok(None),
            Err(Some(error)) => Err(error),
        }
    }

    /// Claims the next `count` slots, or does what `when_full` says if too few slots are free. Fill
    /// and publish them together, or drop the claim to give them up.
    ///
    /// The result is `None` if the events were dropped. All `count` of them have then been counted.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::BatchError, producer::WhenFull};
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(4, || 0_u64).stage("all").poller().build()?;
    ///
    /// let batch = producer.claim_batch_or(3, WhenFull::Refuse)?;
    /// assert_eq!(batch.map(|batch| batch.publish()), Some(Ok(0..3)));
    /// assert_eq!(producer.claim_batch_or(2, WhenFull::Refuse).err(), Some(BatchError::Full));
    /// assert!(producer.claim_batch_or(2, WhenFull::DropNew)?.is_none()); // one is free
    /// assert_eq!(producer.dropped(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Nothing is claimed, and nothing counts as dropped.
    ///
    /// - [`BatchError::Zero`] if `count` is 0.
    /// - [`BatchError::TooLarge`] if `count` is larger than the [capacity](Self::capacity).
    /// - [`BatchError::Closed`] if the ring is closed.
    /// - [`BatchError::Halted`] if the ring is halted.
    /// - [`BatchError::Full`], [`BatchError::TimedOut`] and [`BatchError::WouldDeadlock`] as for
    ///   [`publish_batch_or`](Self::publish_batch_or).
    ///
    /// # Blocking
    ///
    /// Waits for slots as [`publish_batch_or`](Self::publish_batch_or) does.
    #[inline]
    pub fn claim_batch_or(
        &mut self,
        count: usize,
        when_full: WhenFull,
    ) -> Result<Option<ClaimBatch<'_, E, S>>, BatchError> {
        let count = self.checked_count(count)?;
        match self.claim_batch_with(count, |refused| refused.answer(when_full, count)) {
            Ok(batch) => Ok(Some(batch)),
            Err(None) => Ok(None),
            Err(Some(error)) => Err(error.into()),
        }
    }

    /// Claims the free slots, at least one and at most `max`, or does what `when_full` says if no
    /// slot is free. Fill and publish them together, or drop the claim to give them up.
    ///
    /// If `max` is above the [capacity](Self::capacity), the limit is the capacity. The result is
    /// `None` if the events were dropped. As many have then been counted as a claim could have had
    /// slots: `max`, up to the capacity. Events that find no slot because a claim has fewer than
    /// `max` do not count; the caller may claim again for them.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::BatchError, producer::WhenFull};
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(4, || 0_u64).stage("all").poller().build()?;
    ///
    /// for (max, free) in [(3, 0..3), (3, 3..4)] {
    ///     let batch = producer.claim_up_to_or(max, WhenFull::Refuse)?;
    ///     assert_eq!(batch.map(|batch| batch.publish()), Some(Ok(free)));
    /// }
    /// assert_eq!(producer.claim_up_to_or(3, WhenFull::Refuse).err(), Some(BatchError::Full));
    /// assert!(producer.claim_up_to_or(3, WhenFull::DropNew)?.is_none());
    /// assert_eq!(producer.dropped(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Nothing is claimed, and nothing counts as dropped.
    ///
    /// - [`BatchError::Zero`] if `max` is 0.
    /// - [`BatchError::Closed`] if the ring is closed.
    /// - [`BatchError::Halted`] if the ring is halted.
    /// - [`BatchError::Full`] if no slot is free, with [`WhenFull::Refuse`].
    /// - [`BatchError::TimedOut`] if no slot became free in time, with [`WhenFull::Timeout`].
    /// - [`BatchError::WouldDeadlock`] if the ring is full and only this thread can free a slot,
    ///   with a policy that waits. The call then returns at once.
    ///
    /// # Blocking
    ///
    /// Waits for the first slot as [`publish_or`](Self::publish_or) does.
    pub fn claim_up_to_or(
        &mut self,
        max: usize,
        when_full: WhenFull,
    ) -> Result<Option<ClaimBatch<'_, E, S>>, BatchError> {
        let most = self.checked_most(max)?;
        match self.claim_up_to_with(most, |refused| refused.answer(when_full, most)) {
            Ok(batch) => Ok(Some(batch)),
            Err(None) => Ok(None),
            Err(Some(error)) => Err(error.into()),
        }
    }
}

impl<'p, S: Sequencer> Refused<'_, 'p, '_, S> {
    /// Does what `when_full` says. `Err(None)` if the claim's `events` are dropped.
    #[cold]
    fn answer(
        mut self,
        when_full: WhenFull,
        events: u64,
    ) -> Result<Granted<'p>, Option<WhenFullError>> {
        match (self.why(), when_full) {
            (TryPublishError::Full, WhenFull::Wait) => {
                self.wait().map_err(|error| Some(error.into()))
            }
            (TryPublishError::Full, WhenFull::Timeout(timeout)) => {
                self.wait_within(TimeLimit::For(timeout)).map_err(Some)
            }
            (TryPublishError::Full, WhenFull::Refuse) => Err(Some(WhenFullError::Full)),
            (TryPublishError::Full, WhenFull::DropNew) => {
                self.count_dropped(events);
                Err(None)
            }
            (stopped, _) => Err(Some(stopped.into())),
        }
    }
}
