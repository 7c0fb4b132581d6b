//! Offering events: an argument of each call says what happens to the event if the ring is full, so
//! that a program can choose at run time.

use std::ops::Range;
use std::time::Duration;

use lapwing_core::Granted;

use super::wait::Refused;
use super::{Producer, Sequencer, Slots};
use crate::Sequence;
use crate::error::{BatchError, OfferError, TryPublishError};

/// What [`offer`](Producer::offer) and [`offer_batch`](Producer::offer_batch) do if the ring is
/// full.
///
/// It is an argument of these two calls, not a setting of a producer. The other calls have one
/// fixed behavior each: [`publish`](Producer::publish) waits,
/// [`try_publish`](Producer::try_publish) returns an error.
///
/// ```
/// use std::time::Duration;
/// use lapwing::{Disruptor, error::OfferError, producer::WhenFull};
///
/// let (mut producer, _consumers) =
///     Disruptor::single_producer(1, || 0_u64).stage("all").poller().build()?;
///
/// let (prices, orders) = (WhenFull::DropNew, WhenFull::Timeout(Duration::from_millis(1)));
///
/// assert_eq!(producer.offer(prices, |event| *event = 7)?, Some(0)); // the one slot
/// assert_eq!(producer.offer(prices, |event| *event = 8)?, None);
/// assert_eq!(producer.offer(orders, |event| *event = 9), Err(OfferError::TimedOut));
/// assert_eq!(producer.dropped(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenFull {
    /// The producer waits for free slots, as [`publish`](Producer::publish) does.
    #[default]
    Wait,
    /// The producer waits at most for this time, as [`publish_timeout`](Producer::publish_timeout)
    /// does. If the time is too long for the clock, there is no limit.
    Timeout(Duration),
    /// The call returns [`OfferError::Full`] at once, or [`BatchError::Full`] for a batch.
    /// [`try_publish`](Producer::try_publish) does the same.
    Refuse,
    /// The call drops the new event, or the whole batch, at once and [counts](Producer::dropped)
    /// each event. The events in the ring stay.
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
    ///     producer.offer(WhenFull::DropNew, |event| *event = price)?; // two find a slot
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
    /// has then not run.
    ///
    /// ```
    /// use lapwing::{Disruptor, producer::WhenFull};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(1, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    ///
    /// let drop_new = WhenFull::DropNew;
    /// assert_eq!(producer.offer(drop_new, |event| *event = 7)?, Some(0)); // the one slot
    /// assert_eq!(producer.offer(drop_new, |_| unreachable!("dropped"))?, None);
    /// poller.poll()?.consume_all();
    /// assert_eq!(producer.offer(drop_new, |event| *event = 9)?, Some(1));
    /// assert_eq!(producer.dropped(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The event is not published, and it does not count as dropped. `fill` may have run if the
    /// ring was closed or halted. With another error it has not.
    ///
    /// - [`OfferError::Closed`] if the ring was closed before it granted the slot or, with a single
    ///   producer, before the publication.
    /// - [`OfferError::Halted`] if the ring was halted before the publication.
    /// - [`OfferError::Full`] if the ring is full, with [`WhenFull::Refuse`].
    /// - [`OfferError::TimedOut`] if no slot became free in time, with [`WhenFull::Timeout`].
    /// - [`OfferError::WouldDeadlock`] if the ring is full and only this thread can free a slot,
    ///   with a policy that waits.
    ///   [`PublishError::WouldDeadlock`](crate::error::PublishError::WouldDeadlock) describes the
    ///   cases.
    ///
    /// # Blocking
    ///
    /// With [`WhenFull::Wait`], waits while the ring is full, until the slowest consumer releases a
    /// slot or the ring is closed or halted. With [`WhenFull::Timeout`], waits at most for that
    /// time. Both use the producer's wait strategy. With [`WhenFull::Refuse`] and
    /// [`WhenFull::DropNew`], the call does not wait for a slot.
    ///
    /// If this thread also polls the ring, or has yet to start its stages, these consumers cannot
    /// advance during the wait. With [`WhenFull::Wait`], the call may then never return.
    ///
    /// If another thread closes or halts the ring at the same moment, a single producer waits until
    /// that thread has counted the accepted events. The count takes a few instructions and one
    /// system call.
    #[inline]
    pub fn offer(
        &mut self,
        when_full: WhenFull,
        fill: impl FnOnce(&mut E),
    ) -> Result<Option<Sequence>, OfferError> {
        let mut claim = match self.claim_or(|refused| refused.offered(when_full)) {
            Ok(claim) => claim,
            Err(None) => return Ok(None),
            Err(Some(error)) => return Err(error),
        };
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
    /// let offered = producer.offer_batch(3, drop_new, |slots| assert_eq!(slots.len(), 3))?;
    /// assert_eq!(offered, Some(0..3));
    /// assert_eq!(producer.offer_batch(2, drop_new, |_| unreachable!("one is free"))?, None);
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
    ///   enough, with a policy that waits.
    ///   [`PublishError::WouldDeadlock`](crate::error::PublishError::WouldDeadlock) describes the
    ///   cases.
    ///
    /// # Blocking
    ///
    /// With [`WhenFull::Wait`], waits until `count` slots are free at the same time, or the ring is
    /// closed or halted. With [`WhenFull::Timeout`], waits at most for that time. Both use the
    /// producer's wait strategy. With [`WhenFull::Refuse`] and [`WhenFull::DropNew`], the call does
    /// not wait for slots.
    ///
    /// If this thread also polls the ring, or has yet to start its stages, these consumers cannot
    /// advance during the wait. With [`WhenFull::Wait`], the call may then never return.
    ///
    /// If another thread closes or halts the ring at the same moment, a single producer waits until
    /// that thread has counted the accepted events. The count takes a few instructions and one
    /// system call.
    #[inline]
    pub fn offer_batch(
        &mut self,
        count: usize,
        when_full: WhenFull,
        fill: impl for<'b> FnOnce(&mut Slots<'b, E>),
    ) -> Result<Option<Range<Sequence>>, BatchError> {
        let count = self.checked_count(count)?;
        let mut batch = match self.claim_batch_or(count, |refused| refused.offered(when_full)) {
            Ok(batch) => batch,
            Err(None) => return Ok(None),
            Err(Some(error)) => return Err(error.into()),
        };
        fill(&mut batch.slots());
        Ok(Some(batch.publish()?))
    }
}

impl<'p, S: Sequencer> Refused<'_, 'p, '_, S> {
    /// Does what `when_full` says. `Err(None)` if the events are dropped.
    #[cold]
    fn offered(mut self, when_full: WhenFull) -> Result<Granted<'p>, Option<OfferError>> {
        match (self.why(), when_full) {
            (TryPublishError::Full, WhenFull::Wait) => {
                self.wait().map_err(|error| Some(error.into()))
            }
            (TryPublishError::Full, WhenFull::Timeout(timeout)) => {
                self.wait_for(timeout).map_err(|error| Some(error.into()))
            }
            (TryPublishError::Full, WhenFull::Refuse) => Err(Some(OfferError::Full)),
            (TryPublishError::Full, WhenFull::DropNew) => {
                self.count_dropped();
                Err(None)
            }
            (stopped, _) => Err(Some(stopped.into())),
        }
    }
}
