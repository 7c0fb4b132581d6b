//! A claimed slot that a producer fills. Not here: its right to the slot (`lapwing_core`).

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::Sequencer;
use crate::Sequence;
use crate::error::RingError;

/// A claimed slot. Read and write its event through the claim, then [`publish`](Self::publish) it.
///
/// The event still has the value that was last written to its slot, or that the factory made.
///
/// ```
/// use lapwing::Disruptor;
///
/// let (mut producer, mut consumers) =
///     Disruptor::multi_producer(8, || 0_u64).stage("all").poller().build()?;
/// let mut poller = consumers.take_poller("all")?;
///
/// let mut claim = producer.claim()?;
/// *claim = 1;
/// drop(claim); // given up: no consumer sees the 1
/// let mut claim = producer.try_claim()?;
/// *claim = 2;
/// assert_eq!(claim.sequence(), 1);
/// claim.publish()?;
///
/// assert_eq!(poller.poll()?.iter().collect::<Vec<_>>(), [(1, &2)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Dropping a claim
///
/// A claim that is dropped without being published is abandoned, and no consumer sees its event. A
/// single producer claims the same slot again next time. With several producers the sequence
/// becomes a tombstone, which consumers skip.
///
/// If a claim of several producers is forgotten (`mem::forget`), every consumer waits there until
/// the ring is halted, since the claim might still be published.
///
/// # Holding a claim
///
/// Consumers do not pass a claim that is held. So publish or drop a claim before its thread waits
/// for the same ring. A producer on this thread that would wait for the claim returns
/// [`WouldDeadlock`](crate::error::PublishError::WouldDeadlock). Other waits, such as
/// [`Poller::wait`](crate::Poller::wait) or [`Running::shutdown`](crate::Running::shutdown), do not
/// detect it.
///
/// For the same reason a claim is not [`Send`]: it stays on the thread that made it.
#[must_use = "dropping a claim gives it up; call `publish`"]
pub struct Claim<'a, E, S: Sequencer>(lapwing_core::Claim<'a, E, S::Claims>);

impl<'a, E, S: Sequencer> Claim<'a, E, S> {
    #[inline]
    pub(super) fn new(claim: lapwing_core::Claim<'a, E, S::Claims>) -> Self {
        Self(claim)
    }

    /// Returns the sequence that the event will have.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    ///
    /// let mut claim = producer.claim()?;
    /// *claim = claim.sequence() + 10;
    /// assert_eq!((claim.sequence(), *claim), (0, 10));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        self.0.sequence()
    }

    /// Publishes the event and returns its sequence.
    ///
    /// `Ok` means that the event was published. If the ring is halted later, or at the same moment,
    /// consumers may not handle it.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::RingError};
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("check").read(|event, _, _| assert_eq!(*event, 7))
    ///     .build()?;
    ///
    /// let running = consumers.start()?;
    /// let mut claim = producer.claim()?;
    /// *claim = 7;
    /// assert_eq!(claim.publish(), Ok(0));
    ///
    /// let claim = producer.claim()?;
    /// running.close();
    /// assert_eq!(claim.publish(), Err(RingError::Closed));
    /// assert_eq!(running.shutdown()?.stages().next().unwrap().processed(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The event is not published. No consumer has seen it, and none will.
    ///
    /// - [`RingError::Closed`] if the ring has a single producer and was closed while the claim was
    ///   held. A ring with several producers accepts each claim that it granted before the close.
    /// - [`RingError::Halted`] if the ring was halted while the claim was held.
    ///
    /// # Blocking
    ///
    /// Does not wait for consumers. If another thread closes or halts the ring at the same moment,
    /// a single producer waits until that thread has counted the accepted events. The count takes a
    /// few instructions and one system call.
    #[inline(always)]
    pub fn publish(self) -> Result<Sequence, RingError> {
        self.publish_or_keep().map_err(|(_refused, why)| why)
    }

    /// Publishes the event like [`publish`](Self::publish). An error hands the claim back, so that
    /// the caller can take back what it put into the slot.
    #[inline(always)]
    pub(crate) fn publish_or_keep(self) -> Result<Sequence, (Self, RingError)> {
        self.0.publish().map_err(|(refused, why)| (Self(refused), RingError::of(why)))
    }
}

impl<E, S: Sequencer> Deref for Claim<'_, E, S> {
    type Target = E;

    #[inline]
    fn deref(&self) -> &E {
        &self.0
    }
}

impl<E, S: Sequencer> DerefMut for Claim<'_, E, S> {
    #[inline]
    fn deref_mut(&mut self) -> &mut E {
        &mut self.0
    }
}

impl<E, S: Sequencer> fmt::Debug for Claim<'_, E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim").field("sequence", &self.sequence()).finish_non_exhaustive()
    }
}
