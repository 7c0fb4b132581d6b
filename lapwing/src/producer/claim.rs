//! A claimed slot in a producer's hand.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::MutexGuard;

use super::Producer;
use super::Sequencer;
use crate::Sequence;
use crate::error::RingError;
use crate::protocol::claims::Claims;
use crate::protocol::control::Control;
use crate::protocol::ring::Ring;
use crate::protocol::ring_buffer::RingBuffer;

/// A slot that is claimed and not published: read and write its event, then
/// [`publish`](Self::publish) it.
///
/// A claim that is dropped without being published is abandoned. A single producer claims the slot
/// again next time. With several producers the sequence becomes a tombstone, which consumers skip.
/// If a claim of several producers is forgotten (`mem::forget`), every consumer stops there, since
/// the claim might still be published.
///
/// Publish or drop a claim before its thread waits for the same ring. Consumers do not get past a
/// claim that is held. A producer on this thread that would wait for it returns
/// [`WouldDeadlock`](crate::error::PublishError::WouldDeadlock); other waits, such as
/// [`Poller::wait`](crate::Poller::wait) or [`Running::shutdown`](crate::Running::shutdown), do not
/// notice it. For the same reason a claim is not [`Send`]: it stays on the thread that made it.
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
/// drop(claim); // given up: nobody sees the 1
/// let mut claim = producer.try_claim()?;
/// *claim = 2;
/// assert_eq!(claim.sequence(), 1);
/// claim.publish()?;
///
/// assert_eq!(poller.poll()?.iter().collect::<Vec<_>>(), [(1, &2)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "dropping a claim gives it up; call `publish`"]
pub struct Claim<'a, E, S: Sequencer> {
    claims: &'a mut S::Claims,
    /// By themselves rather than by the producer: so the compiler need not read them again after what a
    /// caller writes to the event, of which it does not know that it is no producer.
    control: &'a Control,
    buffer: &'a RingBuffer<E>,
    sequence: Sequence,
    /// Shared between threads only if events may be.
    event: PhantomData<&'a mut E>,
    /// Stays on the thread that its producer has noted (`open_claim`).
    thread: PhantomData<MutexGuard<'static, ()>>,
}

impl<'a, E, S: Sequencer> Claim<'a, E, S> {
    #[inline]
    pub(super) fn new(producer: &'a mut Producer<E, S>, sequence: Sequence) -> Self {
        let Producer { ring, claims, .. } = producer;
        let Ring { control, buffer, .. } = &*ring;
        let (event, thread) = (PhantomData, PhantomData);
        Self { claims, control, buffer, sequence, event, thread }
    }

    /// Sequence that the event will have.
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
        self.sequence
    }

    /// Publishes the event and returns its sequence.
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
    /// No consumer has seen the event, and none will. [`RingError::Closed`] if the only producer's ring
    /// was closed while the claim was held. A ring with several producers accepts each claim that it
    /// granted before the close. [`RingError::Halted`] if the ring was halted while the claim was held.
    ///
    /// `Ok` says that the event was published. If the ring is halted later, or at the same moment,
    /// consumers may not handle it.
    ///
    /// # Blocking
    ///
    /// Does not wait for consumers. If another thread closes or halts the ring at the same moment, a
    /// single producer waits until that thread has counted the accepted events: a few instructions
    /// and one system call.
    #[inline(always)]
    pub fn publish(self) -> Result<Sequence, RingError> {
        self.publish_or_keep().map_err(|(_refused, why)| why)
    }

    /// As [`publish`](Self::publish), but an error hands the claim back, so that the caller can take out of the slot what
    /// it put there.
    #[inline]
    pub(crate) fn publish_or_keep(self) -> Result<Sequence, (Self, RingError)> {
        // Published, so not abandoned.
        let mut claim = ManuallyDrop::new(self);
        let Self { claims, control, buffer, sequence, .. } = &mut *claim;
        buffer.watch_write(*sequence..*sequence + 1);
        match claims.publish(control, *sequence, 1) {
            Ok(()) => Ok(*sequence),
            Err(why) => Err((ManuallyDrop::into_inner(claim), why)),
        }
    }
}

impl<E, S: Sequencer> Deref for Claim<'_, E, S> {
    type Target = E;

    #[inline]
    fn deref(&self) -> &E {
        // SAFETY: I1: this claim owns the slot until it is published or given up, which takes
        // `self`; `publish_or_keep` hands it back only if the slot was not settled.
        unsafe { self.buffer.event(self.sequence) }
    }
}

impl<E, S: Sequencer> DerefMut for Claim<'_, E, S> {
    #[inline]
    fn deref_mut(&mut self) -> &mut E {
        // SAFETY: I1: as in `deref`, and `self` is borrowed as mutable.
        unsafe { self.buffer.event_mut(self.sequence) }
    }
}

impl<E, S: Sequencer> Drop for Claim<'_, E, S> {
    fn drop(&mut self) {
        self.claims.abandon(self.control, self.sequence, 1);
    }
}

impl<E, S: Sequencer> fmt::Debug for Claim<'_, E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim").field("sequence", &self.sequence).finish_non_exhaustive()
    }
}
