//! A stage that a program polls, for threads that also do other work. Not here: how a task polls it
//! (`awaited`).
//!
//! The calls are inline, down to the poll of the reader. A call that is not inlined returns its
//! batch through memory, stored word by word and loaded in pairs of words. That costs a single
//! event 12 ns.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::time::{Duration, Instant};

#[cfg(all(test, loom))]
use lapwing_core::Spun;
use lapwing_core::{TaskPlace, UNLIMITED};

use super::access::{Access, Shared};
use super::batch::Batch;
use super::source::Source;
use super::stage_reader::StageReader;
use crate::Sequence;
use crate::activity::Doing;
use crate::awaiting::Budget;
use crate::deadline::TimeLimit;
use crate::error::{PollError, RingError};

/// The reading end of a stage without a handler.
///
/// A poller is for a thread that has its own loop: the thread asks for events when it wants them.
/// For a thread that only handles events, use a closure or an
/// [`EventHandler`](crate::EventHandler).
///
/// Events come in [batches](Batch). A batch that is dropped releases its consumed events. The next
/// call returns the others again.
///
/// # Dropping a poller
///
/// A poller that is dropped leaves the graph, and no producer or stage waits for it. If it was the
/// last consumer, the ring halts, unless the ring is closed and a consumer has drained it.
///
/// A poller that is not called holds its events, and producers stop once the ring is full. With
/// several producers, this also applies to the slot of a claim that was given up: it is free again
/// only when each poller has polled past it. A poller that is forgotten (`mem::forget`) holds its
/// events forever.
///
/// # Examples
///
/// ```
/// use lapwing::{Disruptor, error::PollError};
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
/// let mut poller = consumers.take_poller("ticks")?;
/// assert_eq!(poller.poll().err(), Some(PollError::Empty));
///
/// producer.publish(|event| *event = 7)?;
/// for (sequence, event) in poller.poll()?.iter() {
///     assert_eq!((sequence, *event), (0, 7));
/// }
///
/// producer.close();
/// assert_eq!(poller.poll().err(), Some(PollError::Closed));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Poller<E, A: Access = Shared> {
    pub(super) source: StageReader<E>,
    access: PhantomData<A>,
    /// How many events a task may take until it lets other tasks run.
    pub(super) budget: Budget,
    /// Up to where the budget is spent.
    pub(super) spent_to: Sequence,
    /// Where the task waits that has polled it last; only calls of tasks use it.
    pub(super) place: Option<TaskPlace>,
}

impl<E, A: Access> Poller<E, A> {
    pub(crate) fn new(source: StageReader<E>) -> Self {
        let spent_to = source.reader.next();
        let budget = Budget::default();
        Self { source, access: PhantomData, budget, spent_to, place: None }
    }

    /// Returns the available events. Never waits.
    ///
    /// The batch begins with the first event that is not consumed. Even if more events are
    /// available, it ends at the first of these:
    ///
    /// - the last slot of the ring,
    /// - the [longest batch](crate::Stage::max_batch) of the stage,
    /// - with several producers, a claim that was given up.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::PollError};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// assert_eq!(poller.poll().err(), Some(PollError::Empty));
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(poller.poll()?.iter().next(), Some((0, &7)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`PollError::Empty`] if no event is available yet.
    /// - [`PollError::Closed`] if the ring is closed and this poller has consumed every event.
    /// - [`PollError::Halted`] if the ring is halted, even if events are left.
    #[inline]
    pub fn poll(&mut self) -> Result<Batch<'_, E, A>, PollError> {
        let range =
            self.source.reader.poll(UNLIMITED).map_err(|end| self.noted(PollError::of(end)))?;
        Ok(Batch::new(&mut self.source, range))
    }

    /// Returns at most `max` of the available events. Never waits.
    ///
    /// With a `max` of 0, the batch is empty. The batch also ends where a batch of
    /// [`poll`](Self::poll) ends.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// producer.publish_batch(3, |_| {})?;
    /// poller.poll_max(2)?.consume_all();
    /// assert_eq!(poller.poll_max(2)?.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`PollError::Empty`] if no event is available yet, also with a `max` of 0.
    /// - [`PollError::Closed`] if the ring is closed and this poller has consumed every event.
    /// - [`PollError::Halted`] if the ring is halted, even if events are left.
    #[inline]
    pub fn poll_max(&mut self, max: usize) -> Result<Batch<'_, E, A>, PollError> {
        let most = (max as u64).clamp(1, UNLIMITED);
        let range = self.source.reader.poll(most).map_err(|end| self.noted(PollError::of(end)))?;
        let end = if max == 0 { range.start } else { range.end };
        Ok(Batch::new(&mut self.source, range.start..end))
    }

    /// Returns the available events, and waits for the first one if there are none.
    ///
    /// The batch ends where a batch of [`poll`](Self::poll) ends. If events that an earlier call
    /// has found are left, the batch has only those.
    ///
    /// ```
    /// use std::thread;
    /// use lapwing::{Disruptor, error::RingError};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// let thread = thread::spawn(move || producer.publish(|event| *event = 7));
    /// assert_eq!(poller.wait()?.iter().next(), Some((0, &7)));
    /// assert_eq!(thread.join().unwrap(), Ok(0));
    /// assert_eq!(poller.wait().err(), Some(RingError::Closed)); // the producer is dropped
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`RingError::Closed`] if the ring is closed and this poller has consumed every event.
    /// - [`RingError::Halted`] if the ring is halted, even if events are left.
    ///
    /// # Blocking
    ///
    /// Waits with the [wait strategy](crate::Stage::wait_strategy) of this stage until an event is
    /// available: published, and released by all upstream stages. The wait also ends when the ring
    /// is halted, or is closed and has no event left for this poller. [`poll`](Self::poll) does not
    /// wait.
    #[inline(always)]
    pub fn wait(&mut self) -> Result<Batch<'_, E, A>, RingError> {
        match self.wait_until(None) {
            Ok(range) => Ok(Batch::new(&mut self.source, range)),
            Err(why) => Err(end_of_ring(why)),
        }
    }

    /// Returns the available events, and waits at most `timeout` for the first one if there are
    /// none.
    ///
    /// The batch ends where a batch of [`wait`](Self::wait) ends. If `timeout` is too long for the
    /// clock, there is no limit. [`wait_deadline`](Self::wait_deadline) waits until an instant
    /// instead.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Disruptor, error::PollError};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// let timeout = Duration::from_millis(1);
    /// assert_eq!(poller.wait_timeout(timeout).err(), Some(PollError::Empty));
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(poller.wait_timeout(timeout)?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`PollError::Empty`] if no event is available when `timeout` is over.
    /// - [`PollError::Closed`] if the ring is closed and this poller has consumed every event.
    /// - [`PollError::Halted`] if the ring is halted, even if events are left.
    ///
    /// # Blocking
    ///
    /// Waits with the [wait strategy](crate::Stage::wait_strategy) of this stage until an event is
    /// available: published, and released by all upstream stages. The wait also ends when the ring
    /// is halted, when it is closed and has no event left for this poller, and when `timeout` is
    /// over. The system may take additional time to wake the thread. [`poll`](Self::poll) does not
    /// wait.
    #[inline]
    pub fn wait_timeout(&mut self, timeout: Duration) -> Result<Batch<'_, E, A>, PollError> {
        self.wait_within(TimeLimit::For(timeout))
    }

    /// Returns the available events, and waits at most until `deadline` for the first one if there
    /// are none.
    ///
    /// A `deadline` that has passed does not keep the call from returning events. The batch ends
    /// where a batch of [`wait`](Self::wait) ends. [`wait_timeout`](Self::wait_timeout) waits for a
    /// time instead.
    ///
    /// Several calls can share one deadline:
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use lapwing::{Disruptor, error::PollError};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// let deadline = Instant::now() + Duration::from_millis(1);
    /// assert_eq!(poller.wait_deadline(deadline).err(), Some(PollError::Empty));
    /// producer.publish(|event| *event = 7)?;
    /// assert!(Instant::now() >= deadline);
    /// assert_eq!(poller.wait_deadline(deadline)?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`PollError::Empty`] if no event is available at `deadline`.
    /// - [`PollError::Closed`] if the ring is closed and this poller has consumed every event.
    /// - [`PollError::Halted`] if the ring is halted, even if events are left.
    ///
    /// # Blocking
    ///
    /// Waits with the [wait strategy](crate::Stage::wait_strategy) of this stage until an event is
    /// available: published, and released by all upstream stages. The wait also ends when the ring
    /// is halted, when it is closed and has no event left for this poller, and at `deadline`. The
    /// system may take additional time to wake the thread. [`poll`](Self::poll) does not wait.
    #[inline]
    pub fn wait_deadline(&mut self, deadline: Instant) -> Result<Batch<'_, E, A>, PollError> {
        self.wait_within(TimeLimit::Until(deadline))
    }

    /// Returns the sequence of the first event that is not consumed.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(poller.sequence(), 0);
    /// poller.poll()?.consume_all();
    /// assert_eq!(poller.sequence(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        self.source.reader.next()
    }

    /// Waits like [`wait_timeout`](Self::wait_timeout), for as long as `limit` allows.
    #[inline]
    pub(crate) fn wait_within(&mut self, limit: TimeLimit) -> Result<Batch<'_, E, A>, PollError> {
        let range = self.wait_until(limit.deadline())?;
        Ok(Batch::new(&mut self.source, range))
    }

    #[inline]
    fn wait_until(&mut self, deadline: Option<Instant>) -> Result<Range<Sequence>, PollError> {
        self.source.wait(deadline).map_err(|end| self.noted(end))
    }

    /// Returns `why`, and notes it for monitors if it is final.
    #[inline]
    pub(super) fn noted(&self, why: PollError) -> PollError {
        match why {
            PollError::Empty => {}
            PollError::Closed => self.note_end(Doing::Drained),
            PollError::Halted(_) => self.note_end(Doing::Halted),
        }
        why
    }

    /// Notes for monitors that no further event comes. A stage with a handler notes this itself,
    /// after the last call of its handler.
    #[cold]
    fn note_end(&self, doing: Doing) {
        self.source.activity().set(doing);
    }

    /// Waits like [`wait`](Self::wait), and leaves what it finds to [`pass_known`](Self::pass_known).
    #[inline(always)]
    pub(crate) fn wait_known(&mut self) -> Result<(), RingError> {
        match self.wait_until(None) {
            Ok(_) => {
                self.count_find();
                Ok(())
            }
            Err(why) => Err(end_of_ring(why)),
        }
    }

    /// Waits like [`wait_deadline`](Self::wait_deadline), without a limit if there is no `deadline`.
    /// Leaves what it finds to [`pass_known`](Self::pass_known).
    #[inline]
    pub(crate) fn wait_known_until(&mut self, deadline: Option<Instant>) -> Result<(), PollError> {
        let found = self.wait_until(deadline);
        found.map(|_| self.count_find())
    }

    /// Polls like [`poll`](Self::poll), and leaves what it finds to [`pass_known`](Self::pass_known).
    #[inline]
    pub(crate) fn poll_known(&mut self) -> Result<(), PollError> {
        let found = self.source.reader.poll(UNLIMITED);
        found.map_err(|end| self.noted(PollError::of(end))).map(|_| self.count_find())
    }

    /// Counts what a poll has found as a batch, for monitors.
    #[inline]
    pub(super) fn count_find(&self) {
        self.source.activity().end_batch();
    }

    /// Returns the number of events that polls would return now, at most `most`.
    pub(crate) fn count_readable(&self, most: u64) -> u64 {
        self.source.reader.count_readable(most)
    }

    /// Whether the last poll has shown the next event.
    #[inline]
    pub(crate) fn has_known(&self) -> bool {
        self.source.reader.next_known().is_some()
    }

    /// Returns the next event without a poll, if the last poll has shown it.
    #[inline]
    pub(crate) fn next_known(&mut self) -> Option<Batch<'_, E, A>> {
        let range = self.source.reader.next_known()?;
        Some(Batch::new(&mut self.source, range))
    }

    /// Passes the next event to `pass` and releases it, if the last poll has shown it. The call
    /// creates no batch, does not poll, and notes no activity.
    #[inline]
    pub(crate) fn pass_known<R>(&mut self, pass: impl FnOnce(Sequence, &E) -> R) -> Option<R> {
        self.source.reader.pass_next(pass)
    }

    /// Runs one round of the polls of a poller that [waits](Self::wait) and only spins.
    #[cfg(all(test, loom))]
    pub(crate) fn await_once(&mut self) -> Option<Batch<'_, E, A>> {
        let Spun::Batch(range) = self.source.reader.spin(1) else { return None };
        Some(Batch::new(&mut self.source, range))
    }

    /// Says whether a call that first finds nothing may return one event instead of all available
    /// events.
    #[inline]
    pub(crate) fn expect_one(&mut self, is_one_enough: bool) {
        self.source.reader.expect_one(is_one_enough);
    }

    /// Closes the ring, like [`Producer::close`](crate::Producer::close).
    pub(crate) fn close(&self) {
        self.source.control().close();
    }
}

/// Returns why a wait without a time limit has ended.
#[inline]
pub(super) fn end_of_ring(why: PollError) -> RingError {
    match why {
        PollError::Closed => RingError::Closed,
        PollError::Halted(cause) => RingError::Halted(cause),
        PollError::Empty => unreachable!("a poller has no stop handle"),
    }
}

impl<E, A: Access> Drop for Poller<E, A> {
    fn drop(&mut self) {
        let leaving = Leaving(&mut self.source);
        // First: the ring may end with its last consumer, and this task need not learn of it.
        self.place = None;
        drop(leaving);
    }
}

/// Leaves the ring when it is dropped, also if the drop of a waker panics before.
struct Leaving<'a, E>(&'a mut StageReader<E>);

impl<E> Drop for Leaving<'_, E> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl<E, A: Access> fmt::Debug for Poller<E, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poller").field("sequence", &self.sequence()).finish_non_exhaustive()
    }
}
