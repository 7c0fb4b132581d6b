//! A stage that is asked for events, for threads that also do other things.
//!
//! Asking is in line, down to the look of the reader: a batch that is handed back by a call goes through memory,
//! written in words and read in pairs of words, and that costs a lone event 12 ns.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::time::{Duration, Instant};

use super::access::{Access, Shared};
use super::batch::Batch;
use super::source::Source;
use super::stage_reader::StageReader;
use crate::Sequence;
use crate::activity::Doing;
use crate::error::{PollError, RingError, WaitTimeoutError};
#[cfg(all(test, loom))]
use crate::protocol::reading::Spun;
use crate::protocol::reading::UNLIMITED;

/// The reading end of a stage without a handler.
///
/// Events come in [batches](Batch), which release what was consumed of them and nothing else. A
/// poller that is dropped leaves the graph: it holds nobody back any more, and if it was the last
/// consumer, the ring halts, unless it is closed and drained. One that is forgotten (`mem::forget`)
/// holds its events for ever. So does one that is not asked: of several producers, also the slot of a
/// claim that was given up is free again only when each poller has looked past it.
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
    source: StageReader<E>,
    access: PhantomData<A>,
}

impl<E, A: Access> Poller<E, A> {
    pub(crate) fn new(source: StageReader<E>) -> Self {
        Self { source, access: PhantomData }
    }

    /// The events that are there, up to the end of the ring at most. Those that were not consumed
    /// the last time come again. Never waits.
    ///
    /// ```
    /// # use lapwing::{Disruptor, error::PollError};
    /// # let (mut producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// assert_eq!(poller.poll().err(), Some(PollError::Empty));
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(poller.poll()?.iter().next(), Some((0, &7)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`PollError::Empty`] if there are none, [`PollError::Closed`] if there will never be any,
    /// and [`PollError::Halted`] if the ring is halted.
    #[inline]
    pub fn poll(&mut self) -> Result<Batch<'_, E, A>, PollError> {
        let range = self.source.reader.poll(UNLIMITED).map_err(|end| self.noted(end))?;
        Ok(Batch::new(&mut self.source, range))
    }

    /// As [`poll`](Self::poll), but at most `max` events; for 0, an empty batch.
    ///
    /// ```
    /// # let (mut producer, mut consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// # producer.claim_batch(3)?.publish()?;
    /// poller.poll_max(2)?.consume_all(); // three are there
    /// assert_eq!(poller.poll_max(2)?.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`poll`](Self::poll).
    #[inline]
    pub fn poll_max(&mut self, max: usize) -> Result<Batch<'_, E, A>, PollError> {
        let most = (max as u64).clamp(1, UNLIMITED);
        let range = self.source.reader.poll(most).map_err(|end| self.noted(end))?;
        let end = if max == 0 { range.start } else { range.end };
        Ok(Batch::new(&mut self.source, range.start..end))
    }

    /// As [`poll`](Self::poll), but waits for events.
    ///
    /// ```
    /// use std::thread;
    ///
    /// # let (mut producer, mut consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// let thread = thread::spawn(move || producer.publish(|event| *event = 7));
    /// assert_eq!(poller.wait()?.iter().next(), Some((0, &7))); // whichever thread is first
    /// assert_eq!(thread.join().unwrap(), Ok(0));
    /// assert_eq!(poller.wait().err(), Some(lapwing::error::RingError::Closed)); // no producer is left
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RingError::Closed`] if there will never be any, [`RingError::Halted`] if the ring is halted.
    ///
    /// # Blocking
    ///
    /// Waits by the strategy of this stage until something is published and all stages that it
    /// comes after have finished it.
    #[inline(always)]
    pub fn wait(&mut self) -> Result<Batch<'_, E, A>, RingError> {
        match self.wait_until(None) {
            Ok(range) => Ok(Batch::new(&mut self.source, range)),
            Err(WaitTimeoutError::Closed) => Err(RingError::Closed),
            Err(WaitTimeoutError::Halted(cause)) => Err(RingError::Halted(cause)),
            Err(WaitTimeoutError::TimedOut) => unreachable!("no handle stops a poller"),
        }
    }

    /// As [`wait`](Self::wait), but for `timeout` at most. One that is too long for the clock is no
    /// limit.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use lapwing::{Disruptor, error::WaitTimeoutError};
    /// # let (mut producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// let patience = Duration::from_millis(1);
    /// assert_eq!(poller.wait_timeout(patience).err(), Some(WaitTimeoutError::TimedOut));
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(poller.wait_timeout(patience)?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError::TimedOut`] if nothing came, and as [`wait`](Self::wait).
    ///
    /// # Blocking
    ///
    /// As [`wait`](Self::wait), for `timeout` and the time that the system takes to wake the
    /// thread.
    #[inline]
    pub fn wait_timeout(&mut self, timeout: Duration) -> Result<Batch<'_, E, A>, WaitTimeoutError> {
        let deadline = Instant::now().checked_add(timeout);
        let range = self.wait_until(deadline)?;
        Ok(Batch::new(&mut self.source, range))
    }

    /// First sequence that has not been consumed.
    ///
    /// ```
    /// # let (mut producer, mut consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(poller.sequence(), 0);
    /// poller.poll()?.consume_all();
    /// assert_eq!(poller.sequence(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        self.source.reader.next
    }

    /// Waits by the strategy of the stage.
    #[inline]
    fn wait_until(
        &mut self,
        deadline: Option<Instant>,
    ) -> Result<Range<Sequence>, WaitTimeoutError> {
        let range = self.source.wait(deadline);
        range.inspect_err(|end| match end {
            WaitTimeoutError::Closed => self.note_end(Doing::Drained),
            WaitTimeoutError::Halted(_) => self.note_end(Doing::Halted),
            WaitTimeoutError::TimedOut => {}
        })
    }

    /// Why there is nothing, which is noted if it stays so.
    #[inline]
    fn noted(&self, why: PollError) -> PollError {
        match why {
            PollError::Empty => {}
            PollError::Closed => self.note_end(Doing::Drained),
            PollError::Halted(_) => self.note_end(Doing::Halted),
        }
        why
    }

    /// Notes for monitors that nothing more comes. A stage with a handler does it itself, when it has ended: before
    /// that come the handler's last words.
    #[cold]
    fn note_end(&self, doing: Doing) {
        self.source.activity().set(doing);
    }

    /// Whether the last look has shown the next event.
    #[inline]
    pub(crate) fn has_known(&self) -> bool {
        self.source.reader.next_known().is_some()
    }

    /// The next event, without a look, if the last one has shown it.
    #[inline]
    pub(crate) fn next_known(&mut self) -> Option<Batch<'_, E, A>> {
        let range = self.source.reader.next_known()?;
        Some(Batch::new(&mut self.source, range))
    }

    /// Hands the next event to `pass` and lets go of it, if the last look has shown it: no batch is in anybody's hand
    /// meanwhile, and no look or note of what the thread does comes with it.
    #[inline]
    pub(crate) fn pass_known<R>(&mut self, pass: impl FnOnce(Sequence, &E) -> R) -> Option<R> {
        let known = self.source.reader.next_known()?;
        // SAFETY: I2: a look has shown it, and it is let go of below.
        let passed =
            pass(known.start, unsafe { self.source.reader.ring.buffer.event(known.start) });
        A::watch(&self.source.reader.ring.buffer, known.clone());
        self.source.release(known.end);
        Some(passed)
    }

    /// What one round of looks shows, of those of a poller that [waits](Self::wait) and spins.
    #[cfg(all(test, loom))]
    pub(crate) fn await_once(&mut self) -> Option<Batch<'_, E, A>> {
        let Spun::Batch(range) = self.source.reader.spin() else { return None };
        Some(Batch::new(&mut self.source, range))
    }

    /// Says whether one event is as good as all that are there, from a call that has found nothing at first.
    #[inline]
    pub(crate) fn expect_one(&mut self, is_one_enough: bool) {
        self.source.reader.expects_one = is_one_enough;
    }

    /// Closes the ring, as [`Producer::close`](crate::Producer::close) does.
    pub(crate) fn close(&self) {
        self.source.reader.ring.control.close();
    }
}

impl<E, A: Access> Drop for Poller<E, A> {
    fn drop(&mut self) {
        self.source.leave();
    }
}

impl<E, A: Access> fmt::Debug for Poller<E, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poller").field("sequence", &self.sequence()).finish_non_exhaustive()
    }
}
