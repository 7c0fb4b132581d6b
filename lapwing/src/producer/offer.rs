//! Offering events: what becomes of one that finds the ring full is the producer's policy, chosen
//! once, in place of a choice of calls.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::{Claim, ClaimBatch, Producer, Slots};
use crate::Sequence;
use crate::error::{BatchError, OfferError, TryPublishError};
use crate::sequencer::Sequencer;
use crate::sync::Ordering;

/// What becomes of an event that is [offered](Producer::offer) to a full ring. Each producer has
/// its own choice; the other calls say by their name what they do.
///
/// ```
/// use std::time::Duration;
/// use lapwing::{Disruptor, OfferError, WhenFull};
///
/// # let (mut prices, mut consumers) =
/// #     Disruptor::multi_producer(1, || 0_u64).then_poller("all").build()?;
/// # let mut poller = consumers.take_poller("all")?;
/// let mut orders = prices.clone();
/// prices.set_when_full(WhenFull::DropNew); // the next price is a better one
/// orders.set_when_full(WhenFull::Timeout(Duration::from_millis(1))); // somebody has to know
///
/// assert_eq!(prices.offer(|event| *event = 7)?, Some(0)); // the one slot
/// assert_eq!(prices.offer(|event| *event = 8)?, None);
/// assert_eq!(orders.offer(|event| *event = 9), Err(OfferError::TimedOut));
/// assert_eq!((prices.dropped(), orders.dropped()), (1, 0));
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
    /// Chooses what becomes of an event that is [offered](Self::offer) to a full ring;
    /// [`WhenFull::Wait`] by default. Of several producers, only of those that this one offers, and
    /// of its later clones.
    ///
    /// ```
    /// # use lapwing::{Disruptor, OfferError, WhenFull};
    /// # let (mut producer, _consumers) =
    /// #     Disruptor::single_producer(1, || 0_u64).then_poller("all").build()?;
    /// producer.offer(|event| *event = 7)?; // the one slot
    /// producer.set_when_full(WhenFull::Refuse);
    /// assert_eq!(producer.offer(|event| *event = 8), Err(OfferError::Full));
    /// producer.set_when_full(WhenFull::DropNew);
    /// assert_eq!(producer.offer(|event| *event = 8), Ok(None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_when_full(&mut self, when_full: WhenFull) {
        self.when_full = when_full;
    }

    /// What becomes of an event that is [offered](Self::offer) to a full ring.
    ///
    /// ```
    /// # use lapwing::{Disruptor, WhenFull};
    /// # let (mut producer, _consumers) =
    /// #     Disruptor::multi_producer(1, || 0_u64).then_poller("all").build()?;
    /// assert_eq!(producer.when_full(), WhenFull::Wait);
    /// producer.set_when_full(WhenFull::DropNew);
    /// assert_eq!(producer.clone().when_full(), WhenFull::DropNew);
    /// # Ok::<(), lapwing::BuildError>(())
    /// ```
    #[must_use]
    pub fn when_full(&self) -> WhenFull {
        self.when_full
    }

    /// Number of events that this producer has dropped since the ring was full, by
    /// [`WhenFull::DropNew`]: exact, its own, and 0 for a new clone.
    ///
    /// ```
    /// # use lapwing::{Disruptor, WhenFull};
    /// # let (mut producer, _consumers) =
    /// #     Disruptor::multi_producer(2, || 0_u64).then_poller("all").build()?;
    /// producer.set_when_full(WhenFull::DropNew);
    /// for price in 0..5 {
    ///     producer.offer(|event| *event = price)?; // two find a slot
    /// }
    /// assert_eq!((producer.dropped(), producer.clone().dropped()), (3, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Publishes one event, filled in place by `fill`, and returns its sequence; if the ring is
    /// full, does what [`set_when_full`](Self::set_when_full) chose. `None` says that the event was
    /// dropped: `fill` has then not run.
    ///
    /// ```
    /// # use lapwing::{Disruptor, WhenFull};
    /// # let (mut producer, mut consumers) =
    /// #     Disruptor::single_producer(1, || 0_u64).then_poller("all").build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// producer.set_when_full(WhenFull::DropNew);
    /// assert_eq!(producer.offer(|event| *event = 7)?, Some(0)); // the one slot
    /// assert_eq!(producer.offer(|_| unreachable!("dropped"))?, None);
    /// poller.poll()?.consume_all();
    /// assert_eq!(producer.offer(|event| *event = 9)?, Some(1));
    /// assert_eq!(producer.dropped(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`OfferError::Closed`] and [`OfferError::Halted`] by any policy: such an event is refused,
    /// and not counted as dropped. Of a full ring, [`OfferError::TimedOut`] by
    /// [`WhenFull::Timeout`], [`OfferError::Full`] by [`WhenFull::Refuse`], and
    /// [`OfferError::WouldDeadlock`] by a policy that waits.
    ///
    /// # Blocking
    ///
    /// By [`WhenFull::Wait`] as [`publish`](Self::publish), by [`WhenFull::Timeout`] as
    /// [`publish_timeout`](Self::publish_timeout), and never by the others.
    #[inline]
    pub fn offer(&mut self, fill: impl FnOnce(&mut E)) -> Result<Option<Sequence>, OfferError> {
        let Some(sequence) = self.offer_sequences(1)? else {
            return Ok(None);
        };
        let mut claim = Claim::new(self, sequence);
        fill(&mut claim);
        Ok(Some(claim.publish()?))
    }

    /// As [`offer`](Self::offer) with `count` events at once: all of them, or none.
    ///
    /// ```
    /// # use lapwing::{Disruptor, WhenFull};
    /// # let (mut producer, _consumers) =
    /// #     Disruptor::single_producer(4, || 0_u64).then_poller("all").build()?;
    /// producer.set_when_full(WhenFull::DropNew);
    /// assert_eq!(producer.offer_batch(3, |slots| assert_eq!(slots.len(), 3))?, Some(0..3));
    /// assert_eq!(producer.offer_batch(2, |_| unreachable!("one is free"))?, None);
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
        fill: impl for<'b> FnOnce(&mut Slots<'b, E>),
    ) -> Result<Option<Range<Sequence>>, BatchError> {
        let count = self.checked_count(count)?;
        let Some(first) = self.offer_sequences(count)? else {
            return Ok(None);
        };
        let mut batch = ClaimBatch::new(self, first..first + count);
        fill(&mut batch.slots());
        Ok(Some(batch.publish()?))
    }

    /// Claims `count` sequences by the policy; `None` if as many events are dropped.
    #[inline]
    fn offer_sequences(&mut self, count: u64) -> Result<Option<Sequence>, OfferError> {
        match self.try_claim_sequences(count) {
            Ok(first) => Ok(Some(first)),
            Err(TryPublishError::Full) => self.offer_to_full_ring(count),
            Err(stopped) => Err(stopped.into()),
        }
    }

    #[cold]
    fn offer_to_full_ring(&mut self, count: u64) -> Result<Option<Sequence>, OfferError> {
        match self.when_full {
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
