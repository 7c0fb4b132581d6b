//! The part that both kinds of receiver share: a poller of slots.

use std::fmt;
use std::task::{Context, Poll};
use std::time::Instant;

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::message_slot::MessageSlot;
use crate::Sequence;
use crate::awaiting::TaskEnd;
use crate::consumer::{Access, Batch, Poller};
use crate::deadline::TimeLimit;

/// The reading end of a channel's ring.
///
/// One poll of what the senders have published finds a whole batch. The events of the batch are
/// then received one by one, each released at once, without another poll. A poll is costly, since
/// it reads the cache line of the cursor, which a sender writes all the time.
pub(super) struct Inbox<T, A: Access> {
    poller: Poller<MessageSlot<T>, A>,
    /// Number of slots in the ring.
    capacity: usize,
}

impl<T, A: Access> Inbox<T, A> {
    pub(super) fn new(poller: Poller<MessageSlot<T>, A>, capacity: usize) -> Self {
        Self { poller, capacity }
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns the sequence of the first event that is not consumed.
    pub(super) fn next(&self) -> Sequence {
        self.poller.sequence()
    }

    /// Returns the number of events that polls would return now, at most `most`.
    pub(super) fn count_readable(&self, most: u64) -> u64 {
        self.poller.count_readable(most)
    }

    /// Waits for a batch, of which the caller consumes only the first event.
    ///
    /// # Errors
    ///
    /// [`RecvError`] at the end of the channel.
    #[inline]
    pub(super) fn wait_first(&mut self) -> Result<Batch<'_, MessageSlot<T>, A>, RecvError> {
        if self.poller.has_known() {
            return Ok(self.known_first());
        }
        self.poller.expect_one(true);
        self.poller.wait().map_err(|_| RecvError)
    }

    /// Polls for a batch, of which the caller consumes only the first event.
    ///
    /// # Errors
    ///
    /// [`TryRecvError`] if there is no event.
    #[inline]
    pub(super) fn poll_first(&mut self) -> Result<Batch<'_, MessageSlot<T>, A>, TryRecvError> {
        if self.poller.has_known() {
            return Ok(self.known_first());
        }
        self.poller.expect_one(true);
        self.poller.poll().map_err(TryRecvError::new)
    }

    /// Waits for a batch as long as `limit` allows. The caller consumes only its first event.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError`] if no event came in time.
    #[inline]
    pub(super) fn wait_first_within(
        &mut self,
        limit: TimeLimit,
    ) -> Result<Batch<'_, MessageSlot<T>, A>, RecvTimeoutError> {
        if self.poller.has_known() {
            return Ok(self.known_first());
        }
        self.poller.expect_one(true);
        self.poller.wait_within(limit).map_err(RecvTimeoutError::new)
    }

    /// Waits for an event, which the caller then [passes](Self::pass_known).
    ///
    /// # Errors
    ///
    /// [`RecvError`] at the end of the channel.
    // A caller of `recv` has the loop of a stream in line, and not the wait. See E75 in
    // `lab/results/experiments.md`.
    #[inline(never)]
    pub(super) fn wait_known(&mut self) -> Result<(), RecvError> {
        self.poller.expect_one(true);
        self.poller.wait_known().map_err(|_| RecvError)
    }

    /// Polls for an event, which the caller then [passes](Self::pass_known).
    ///
    /// # Errors
    ///
    /// [`TryRecvError`] if there is no event.
    #[inline]
    pub(super) fn poll_known(&mut self) -> Result<(), TryRecvError> {
        self.poller.expect_one(true);
        self.poller.poll_known().map_err(TryRecvError::new)
    }

    /// Waits for an event until `deadline`, if there is one. The caller then
    /// [passes](Self::pass_known) the event.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError`] if no event came in time.
    #[inline]
    pub(super) fn wait_known_until(
        &mut self,
        deadline: Option<Instant>,
    ) -> Result<(), RecvTimeoutError> {
        self.poller.expect_one(true);
        self.poller.wait_known_until(deadline).map_err(RecvTimeoutError::new)
    }

    /// Begins a poll: gives up the place of the last one, and lets other tasks run if this one has
    /// received as many values as its budget allows.
    pub(super) fn poll_budget(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.poller.poll_budget(context)
    }

    /// Polls as a task for a batch, of which the caller consumes only the first event.
    ///
    /// # Errors
    ///
    /// [`RecvError`] at the end of the channel.
    pub(super) fn poll_wait_first(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Batch<'_, MessageSlot<T>, A>, RecvError>> {
        self.poller.expect_one(true);
        self.poller.poll_wait(context).map_err(|_| RecvError)
    }

    /// Polls as a task for an event, which the caller then [passes](Self::pass_known).
    ///
    /// # Errors
    ///
    /// [`RecvError`] at the end of the channel.
    pub(super) fn poll_wait_known(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), RecvError>> {
        self.poller.expect_one(true);
        self.poller.poll_wait_known(context).map_err(|_| RecvError)
    }

    /// Is ready if there is an event, or the channel has ended. If not, the waker is registered.
    pub(super) fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.poller.has_known() {
            return Poll::Ready(());
        }
        self.poller.refill_budget();
        self.poll_wait_known(context).map(drop)
    }

    /// Gives up the place of the task that has polled it last.
    pub(super) fn leave_place(&mut self) {
        self.poller.leave_place();
    }

    /// Passes the first event to `pass` and releases it, if the last poll has found it. A
    /// `Receiver` takes single values in this way.
    #[inline]
    pub(super) fn pass_known<R>(
        &mut self,
        pass: impl FnOnce(Sequence, &MessageSlot<T>) -> R,
    ) -> Option<R> {
        self.poller.pass_known(pass)
    }

    /// The first of the events that the last poll has found, for a broadcast. A `Receiver` passes
    /// those with `pass_known`.
    #[inline]
    fn known_first(&mut self) -> Batch<'_, MessageSlot<T>, A> {
        self.poller.next_known().expect("an event that a poll has found stays until it is consumed")
    }

    /// Waits for at least one event. Returns all available events up to the end of the ring, of
    /// which the caller consumes any number.
    ///
    /// # Errors
    ///
    /// [`RecvError`] at the end of the channel.
    pub(super) fn wait_batch(&mut self) -> Result<Batch<'_, MessageSlot<T>, A>, RecvError> {
        self.poller.expect_one(false);
        self.poller.wait().map_err(|_| RecvError)
    }

    /// Waits as a task for at least one event. Returns what [`wait_batch`](Self::wait_batch)
    /// returns.
    ///
    /// # Errors
    ///
    /// [`RecvError`] at the end of the channel.
    pub(super) async fn wait_batch_async(
        &mut self,
    ) -> Result<Batch<'_, MessageSlot<T>, A>, RecvError> {
        self.poller.expect_one(false);
        self.poller.wait_async().await.map_err(|_| RecvError)
    }

    /// Polls for all available events up to the end of the ring, of which the caller consumes any
    /// number.
    ///
    /// # Errors
    ///
    /// [`TryRecvError`] if there is no event.
    pub(super) fn poll_batch(&mut self) -> Result<Batch<'_, MessageSlot<T>, A>, TryRecvError> {
        self.poller.expect_one(false);
        self.poller.poll().map_err(TryRecvError::new)
    }

    /// Waits for at least one event as long as `limit` allows. Returns all available events up to
    /// the end of the ring, of which the caller consumes any number.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError`] if no event came in time.
    pub(super) fn wait_batch_within(
        &mut self,
        limit: TimeLimit,
    ) -> Result<Batch<'_, MessageSlot<T>, A>, RecvTimeoutError> {
        self.poller.expect_one(false);
        self.poller.wait_within(limit).map_err(RecvTimeoutError::new)
    }

    /// Closes the ring. Senders then get their values back.
    pub(super) fn close(&self) {
        self.poller.close();
    }
}

impl<T, A: Access> fmt::Debug for Inbox<T, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").field("capacity", &self.capacity).finish_non_exhaustive()
    }
}
