//! A poller that a task polls. Not here: the same from a thread (`poller`).

use std::mem;
use std::ops::Range;
use std::task::{Context, Poll, ready};

use super::access::Access;
use super::batch::Batch;
use super::poller::{Poller, end_of_ring};
use super::source::Source;
use crate::Sequence;
use crate::awaiting::{ReadyEnd, TaskEnd, polled};
use crate::error::{PollError, RingError};

impl<E, A: Access> Poller<E, A> {
    /// Returns the available events, and waits as a task for the first one if there are none.
    ///
    /// The batch ends where a batch of [`wait`](Self::wait) ends. The thread of the task does not wait:
    /// other tasks run on it meanwhile, and the publication wakes this one. So the
    /// [wait strategy](crate::Stage::wait_strategy) of the stage has no effect. No runtime is needed,
    /// and any will do.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::RingError};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// let thread = std::thread::spawn(move || producer.publish(|event| *event = 7));
    ///
    /// let sum = pollster::block_on(async {
    ///     let mut sum = 0;
    ///     loop {
    ///         match poller.wait_async().await {
    ///             Ok(mut batch) => sum += batch.iter().map(|(_, event)| event).sum::<u64>(),
    ///             Err(RingError::Closed) => return Ok(sum), // the producer is dropped
    ///             Err(halted) => return Err(halted),
    ///         }
    ///     }
    /// })?;
    /// assert_eq!(sum, 7);
    /// thread.join().unwrap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`RingError::Closed`] if the ring is closed and this poller has consumed every event.
    /// - [`RingError::Halted`] if the ring is halted, even if events are left.
    ///
    /// # Cancellation
    ///
    /// A future that is dropped before it is ready has consumed nothing: the next call returns the
    /// same events. This makes it safe in `select!` and with a timeout.
    ///
    /// # Fairness
    ///
    /// After 1,024 events without a wait, the call lets other tasks of the thread run once.
    pub async fn wait_async(&mut self) -> Result<Batch<'_, E, A>, RingError> {
        let range = polled(self, Self::poll_find).await?;
        Ok(Batch::new(&mut self.source, range))
    }

    /// Polls for the available events as a task. If there are none, the task is woken when there may be.
    ///
    /// This is [`wait_async`](Self::wait_async) without a future, for code that is polled itself: a
    /// `Stream`, a future that is written by hand, or a loop that waits for several things.
    ///
    /// - `Poll::Ready(Ok(batch))`: the available events. The batch ends where a batch of
    ///   [`wait`](Self::wait) ends.
    /// - `Poll::Ready(Err(_))`: the ring has ended for this poller.
    /// - `Poll::Pending`: there is no event yet. The waker of `context` is registered, and is called
    ///   when an event may be available or the ring has ended.
    ///
    /// ```
    /// use std::task::{Context, Poll, Waker};
    /// use lapwing::{Disruptor, error::RingError};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// let mut context = Context::from_waker(Waker::noop());
    ///
    /// assert!(poller.poll_wait(&mut context).is_pending());
    /// producer.publish(|event| *event = 7)?; // calls the waker
    /// let Poll::Ready(found) = poller.poll_wait(&mut context) else { panic!("there is an event") };
    /// let mut batch = found?;
    /// assert_eq!(batch.as_slice(), [7]);
    /// batch.consume_all();
    /// drop(batch);
    ///
    /// drop(producer);
    /// let Poll::Ready(found) = poller.poll_wait(&mut context) else { panic!("the ring is closed") };
    /// assert_eq!(found.err(), Some(RingError::Closed));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`RingError::Closed`] if the ring is closed and this poller has consumed every event.
    /// - [`RingError::Halted`] if the ring is halted, even if events are left.
    ///
    /// # Cancellation
    ///
    /// A poller has one registration. Only the waker of the last poll is called, and a poll that is ready
    /// leaves none. If you do not poll again after `Pending`, the waker stays registered until it is
    /// called, until the next call of this method or of [`wait_async`](Self::wait_async), or until the
    /// poller is dropped. [`poll`](Self::poll) and [`wait`](Self::wait) leave it registered,
    /// [`select`](crate::select::select) does not. No event is
    /// consumed before you take it from a batch.
    ///
    /// # Fairness
    ///
    /// After 1,024 events without a wait, the call returns `Pending` once and calls the waker at once.
    pub fn poll_wait(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Batch<'_, E, A>, RingError>> {
        let range = ready!(self.poll_find(context))?;
        Poll::Ready(Ok(Batch::new(&mut self.source, range)))
    }

    /// Polls like [`poll_wait`](Self::poll_wait), and leaves what it finds to
    /// [`pass_known`](Self::pass_known).
    pub(crate) fn poll_wait_known(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), RingError>> {
        let found = ready!(self.poll_find(context));
        Poll::Ready(found.map(|_| self.count_find()))
    }

    /// Begins a poll: gives up the place of the last one, and lets other tasks run if this one has taken
    /// as many events as its budget allows.
    #[inline]
    pub(crate) fn poll_budget(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.leave_place();
        let next = self.sequence();
        self.budget.spend(next - mem::replace(&mut self.spent_to, next));
        self.budget.poll(context)
    }

    /// Begins the budget anew, for a thread: others need not wait until it has let them run.
    pub(crate) fn refill_budget(&mut self) {
        self.spent_to = self.sequence();
        self.budget.refill();
    }

    /// Polls for the next events.
    fn poll_find(&mut self, context: &mut Context<'_>) -> Poll<Result<Range<Sequence>, RingError>> {
        ready!(self.poll_budget(context));
        loop {
            match self.source.poll() {
                Err(PollError::Empty) => {}
                found => return Poll::Ready(found.map_err(|end| end_of_ring(self.noted(end)))),
            }
            if self.source.poll_wait(&mut self.place, context).is_pending() {
                self.budget.refill();
                return Poll::Pending;
            }
        }
    }
}

impl<E, A: Access> ReadyEnd for Poller<E, A> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.refill_budget();
        self.poll_find(context).map(drop)
    }
}

impl<E, A: Access> TaskEnd for Poller<E, A> {
    #[inline]
    fn leave_place(&mut self) {
        if self.place.is_some() {
            self.place = None;
        }
    }
}
