//! Offering events: each call says what becomes of its event if the ring is full, so that a program
//! can choose as it runs.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::Sequencer;
use super::{Claim, ClaimBatch, Producer, Slots};
use crate::Sequence;
use crate::error::{BatchError, OfferError, TryPublishError};
use crate::sync::Ordering;

/// What [`offer`](Producer::offer) and [`offer_batch`](Producer::offer_batch) do if the ring is full.
/// An argument of these calls, and no setting of a producer: the other calls say by their name what
/// they do.
///
/// ```
/// use std::time::Duration;
/// use lapwing::{Disruptor, error::OfferError, producer::WhenFull};
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(1, || 0_u64).stage("all").poller().build()?;
/// let mut poller = consumers.take_poller("all")?;
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
    /// The producer waits until there is room, as [`publish`](Producer::publish) does.
    #[default]
    Wait,
    /// The producer waits for this long at most, as [`publish_timeout`](Producer::publish_timeout)
    /// does.
    Timeout(Duration),
    /// The producer gets [`OfferError::Full`] at once, as from
    /// [`try_publish`](Producer::try_publish).
    Refuse,
    /// The new event is dropped at once, and [counted](Producer::dropped). Those in the ring stay.
    DropNew,
}

impl<E, S: Sequencer> Producer<E, S> {
    /// Number of events that this producer has dropped because the ring was full, by
    /// [`WhenFull::DropNew`]. The count is exact; a clone starts at 0 and counts its own.
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

    /// Publishes one event, filled in place by `fill`, and returns its sequence; if the ring is
    /// full, does what `when_full` says. `None` means that the event was dropped; `fill` has then not
    /// run.
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
    /// [`OfferError::Closed`] and [`OfferError::Halted`] if the ring is so: such an event is refused,
    /// and not counted as dropped. If the ring is full, [`OfferError::TimedOut`] by
    /// [`WhenFull::Timeout`], [`OfferError::Full`] by [`WhenFull::Refuse`], and
    /// [`OfferError::WouldDeadlock`] by a policy that waits.
    ///
    /// # Blocking
    ///
    /// With [`WhenFull::Wait`] as [`publish`](Self::publish), with [`WhenFull::Timeout`] as
    /// [`publish_timeout`](Self::publish_timeout), and never with the others.
    #[inline]
    pub fn offer(
        &mut self,
        when_full: WhenFull,
        fill: impl FnOnce(&mut E),
    ) -> Result<Option<Sequence>, OfferError> {
        let Some(sequence) = self.offer_sequences(1, when_full)? else {
            return Ok(None);
        };
        let mut claim = Claim::new(self, sequence);
        fill(&mut claim);
        Ok(Some(claim.publish()?))
    }

    /// As [`offer`](Self::offer) with `count` events at once: all of them, or none.
    ///
    /// ```
    /// use lapwing::{Disruptor, producer::WhenFull};
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(4, || 0_u64).stage("all").poller().build()?;
    ///
    /// let drop_new = WhenFull::DropNew;
    /// assert_eq!(producer.offer_batch(3, drop_new, |slots| assert_eq!(slots.len(), 3))?, Some(0..3));
    /// assert_eq!(producer.offer_batch(2, drop_new, |_| unreachable!("one is free"))?, None);
    /// assert_eq!(producer.dropped(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BatchError::Zero`] and [`BatchError::TooLarge`] for a `count` that can never be, which is
    /// not counted as dropped, and as [`offer`](Self::offer).
    ///
    /// # Blocking
    ///
    /// As [`offer`](Self::offer), until `count` slots are free.
    #[inline]
    pub fn offer_batch(
        &mut self,
        count: usize,
        when_full: WhenFull,
        fill: impl for<'b> FnOnce(&mut Slots<'b, E>),
    ) -> Result<Option<Range<Sequence>>, BatchError> {
        let count = self.checked_count(count)?;
        let Some(first) = self.offer_sequences(count, when_full)? else {
            return Ok(None);
        };
        let mut batch = ClaimBatch::new(self, first..first + count);
        fill(&mut batch.slots());
        Ok(Some(batch.publish()?))
    }

    /// Claims `count` sequences; `None` if as many events are dropped.
    #[inline]
    fn offer_sequences(
        &mut self,
        count: u64,
        when_full: WhenFull,
    ) -> Result<Option<Sequence>, OfferError> {
        match self.try_claim_sequences(count) {
            Ok(first) => Ok(Some(first)),
            Err(TryPublishError::Full) => self.offer_to_full_ring(count, when_full),
            Err(stopped) => Err(stopped.into()),
        }
    }

    #[cold]
    fn offer_to_full_ring(
        &mut self,
        count: u64,
        when_full: WhenFull,
    ) -> Result<Option<Sequence>, OfferError> {
        match when_full {
            WhenFull::Wait => Ok(Some(self.wait_to_claim(count)?)),
            WhenFull::Timeout(timeout) => {
                let deadline = Instant::now().checked_add(timeout);
                Ok(Some(self.wait_to_claim_until(count, deadline)?))
            }
            WhenFull::Refuse => Err(OfferError::Full),
            WhenFull::DropNew => {
                self.count_dropped(count);
                Ok(None)
            }
        }
    }

    fn count_dropped(&mut self, count: u64) {
        self.dropped += count;
        // O13, Relaxed: a total that nothing else depends on.
        self.ring.control.dropped.fetch_add(count, Ordering::Relaxed);
    }
}
