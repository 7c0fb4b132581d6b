//! What both kinds of receiver have: a poller of slots.

use std::fmt;
use std::time::Duration;

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::letter::Letter;
use crate::Sequence;
use crate::consumer::{Access, Batch, Poller};

/// The reading end of a channel's ring.
///
/// A look at what the senders have published shows a whole batch. The events of it are then
/// received one by one, each released at once, without another look: that is what the line of the
/// cursor costs, which a sender writes all the time.
pub(super) struct Inbox<T, A: Access> {
    poller: Poller<Letter<T>, A>,
    /// Slots of the ring.
    capacity: usize,
}

impl<T, A: Access> Inbox<T, A> {
    pub(super) fn new(poller: Poller<Letter<T>, A>, capacity: usize) -> Self {
        Self { poller, capacity }
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// A batch of which the caller consumes the first event and no other; waits for it.
    ///
    /// # Errors
    ///
    /// [`RecvError`] at the end of the channel.
    #[inline]
    pub(super) fn wait_first(&mut self) -> Result<Batch<'_, Letter<T>, A>, RecvError> {
        if self.poller.has_known() {
            return Ok(self.known_first());
        }
        self.poller.expect_one(true);
        self.poller.wait().map_err(|_| RecvError)
    }

    /// As [`wait_first`](Self::wait_first), but never waits.
    ///
    /// # Errors
    ///
    /// [`TryRecvError`] if there is none.
    #[inline]
    pub(super) fn poll_first(&mut self) -> Result<Batch<'_, Letter<T>, A>, TryRecvError> {
        if self.poller.has_known() {
            return Ok(self.known_first());
        }
        self.poller.expect_one(true);
        self.poller.poll().map_err(TryRecvError::new)
    }

    /// As [`wait_first`](Self::wait_first), but waits for `timeout` at most.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError`] if none came in time.
    #[inline]
    pub(super) fn wait_first_timeout(
        &mut self,
        timeout: Duration,
    ) -> Result<Batch<'_, Letter<T>, A>, RecvTimeoutError> {
        if self.poller.has_known() {
            return Ok(self.known_first());
        }
        self.poller.expect_one(true);
        self.poller.wait_timeout(timeout).map_err(RecvTimeoutError::new)
    }

    /// Hands the first event to `pass` and lets go of it, if it is known: what a receiver does with all but the first of a look.
    #[inline]
    pub(super) fn pass_known<R>(
        &mut self,
        pass: impl FnOnce(Sequence, &Letter<T>) -> R,
    ) -> Option<R> {
        self.poller.pass_known(pass)
    }

    /// The first event of those that are known, of a broadcast: a `Receiver` passes those first.
    #[inline]
    fn known_first(&mut self) -> Batch<'_, Letter<T>, A> {
        self.poller.next_known().expect("what a look has shown stays until it is consumed")
    }

    /// All events that are there, up to the end of the ring, to consume any number of; waits for
    /// one.
    ///
    /// # Errors
    ///
    /// As [`wait_first`](Self::wait_first).
    pub(super) fn wait_batch(&mut self) -> Result<Batch<'_, Letter<T>, A>, RecvError> {
        self.poller.expect_one(false);
        self.poller.wait().map_err(|_| RecvError)
    }

    /// As [`wait_batch`](Self::wait_batch), but never waits.
    ///
    /// # Errors
    ///
    /// As [`poll_first`](Self::poll_first).
    pub(super) fn poll_batch(&mut self) -> Result<Batch<'_, Letter<T>, A>, TryRecvError> {
        self.poller.expect_one(false);
        self.poller.poll().map_err(TryRecvError::new)
    }

    /// As [`wait_batch`](Self::wait_batch), but waits for `timeout` at most.
    ///
    /// # Errors
    ///
    /// As [`wait_first_timeout`](Self::wait_first_timeout).
    pub(super) fn wait_batch_timeout(
        &mut self,
        timeout: Duration,
    ) -> Result<Batch<'_, Letter<T>, A>, RecvTimeoutError> {
        self.poller.expect_one(false);
        self.poller.wait_timeout(timeout).map_err(RecvTimeoutError::new)
    }

    /// Accepts nothing any more: senders get their values back.
    pub(super) fn close(&self) {
        self.poller.close();
    }
}

impl<T, A: Access> fmt::Debug for Inbox<T, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").field("capacity", &self.capacity).finish_non_exhaustive()
    }
}
