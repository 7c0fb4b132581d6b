//! A batch of a poller: events to read, and the number of them that are consumed. Not here: the
//! iterators (`iter`).

mod iter;

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use super::access::{Access, Exclusive};
use super::stage_reader::StageReader;
use crate::Sequence;
use crate::activity::Activity;
use crate::chosen::Reads;
use crate::consumer::failing::Failing;
use crate::consumer::failure::Failure;

pub use self::iter::{Iter, IterMut};

/// Events that a call of a [`Poller`](crate::Poller) has returned, contiguous in memory and in the
/// order of their sequences.
///
/// A batch counts how many of its events are *consumed*, from its first event on:
///
/// - The iterators consume each event that they yield.
/// - [`consume`](Self::consume) and [`consume_all`](Self::consume_all) consume events without
///   reading them.
/// - [`as_slice`](Self::as_slice) consumes nothing.
///
/// When the batch is dropped, it releases the consumed events to the producers and the downstream
/// stages. An [acknowledged](crate::Stage::acknowledged) stage holds them until they are
/// acknowledged too. The next call of the poller returns the other events again.
///
/// # Examples
///
/// ```
/// use lapwing::Disruptor;
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
/// let mut poller = consumers.take_poller("ticks")?;
/// producer.publish_batch(4, |slots| slots.copy_from_slice(&[10, 11, 12, 13]).unwrap())?;
///
/// let mut batch = poller.poll()?;
/// assert_eq!(batch.as_slice(), [10, 11, 12, 13]);
/// batch.consume(1);
/// assert_eq!(batch.iter().next(), Some((1, &11)));
/// drop(batch);
///
/// assert_eq!(poller.poll()?.as_slice(), [12, 13]); // not consumed
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The slot of a released event is written again, so an event cannot outlive its batch:
///
/// ```compile_fail,E0505
/// use lapwing::Disruptor;
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
/// let mut poller = consumers.take_poller("ticks")?;
/// producer.publish(|event| *event = 7)?;
/// let mut batch = poller.poll()?;
/// let event = batch.iter().next();
/// drop(batch);
/// assert_eq!(event, Some((0, &7)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The same program compiles if it reads the event before it drops the batch:
///
/// ```
/// use lapwing::Disruptor;
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
/// let mut poller = consumers.take_poller("ticks")?;
/// producer.publish(|event| *event = 7)?;
/// let mut batch = poller.poll()?;
/// let event = batch.iter().next();
/// assert_eq!(event, Some((0, &7)));
/// drop(batch);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a batch that is dropped at once has consumed nothing"]
pub struct Batch<'a, E, A: Access> {
    /// Dropped first: the events are released before the batch counts as finished.
    core: lapwing_core::Batch<'a, E, Reads>,
    /// Only for its drop.
    _handling: Handling<'a>,
    failing: &'a Failing,
    /// Makes the batch `Sync` only if events are: the reader alone would be `Sync` with any events
    /// that are `Send`.
    events: PhantomData<(&'a mut E, A)>,
}

impl<'a, E, A: Access> Batch<'a, E, A> {
    #[inline]
    pub(crate) fn new(source: &'a mut StageReader<E>, range: Range<Sequence>) -> Self {
        let (reader, activity, failing) = source.split();
        let (core, handling) = (reader.batch(range), Handling::begin(activity));
        Self { core, _handling: handling, failing, events: PhantomData }
    }

    /// Returns the number of events that are not consumed.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// producer.publish_batch(3, |_| {})?;
    /// let mut batch = poller.poll()?;
    /// batch.consume(1);
    /// assert_eq!(batch.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        let left = self.core.left();
        (left.end - left.start) as usize
    }

    /// Returns whether every event is consumed.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// producer.publish_batch(3, |_| {})?;
    /// let mut batch = poller.poll()?;
    /// assert!(!batch.is_empty());
    /// batch.consume_all();
    /// assert!(batch.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the sequence of the first event that is not consumed. If every event is consumed,
    /// returns the sequence after the last one.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// producer.publish_batch(3, |_| {})?;
    /// let mut batch = poller.poll()?; // the events 0, 1 and 2
    /// batch.consume(2);
    /// assert_eq!(batch.first_sequence(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn first_sequence(&self) -> Sequence {
        self.core.first()
    }

    /// Returns the events that are not consumed.
    ///
    /// The call consumes nothing: the poller returns these events again, unless you call
    /// [`consume`](Self::consume) or [`consume_all`](Self::consume_all).
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 7_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// producer.publish_batch(3, |_| {})?;
    /// let batch = poller.poll()?; // three times 7
    /// assert_eq!(batch.as_slice().iter().sum::<u64>(), 21);
    /// drop(batch);
    /// assert_eq!(poller.poll()?.len(), 3); // read, but not consumed
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn as_slice(&self) -> &[E] {
        self.core.events()
    }

    /// Consumes the first `count` of the remaining events, or all of them if there are fewer.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// producer.publish_batch(3, |_| {})?;
    /// poller.poll()?.consume(2); // two of three
    /// assert_eq!(poller.sequence(), 2);
    /// poller.poll()?.consume(5); // the third
    /// assert_eq!(poller.sequence(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.core.consume(count as u64);
    }

    /// Consumes all remaining events.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// producer.publish_batch(3, |_| {})?;
    /// poller.poll()?.consume_all();
    /// assert_eq!(poller.sequence(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn consume_all(&mut self) {
        self.consume(usize::MAX);
    }

    /// Consumes the next event and returns it.
    #[inline]
    pub(crate) fn next_event(&mut self) -> Option<(Sequence, &E)> {
        self.core.take_next()
    }

    /// Releases the consumed events at once, and keeps the others.
    ///
    /// Call this in a long batch, so that producers and downstream stages need not wait for its
    /// end.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::TryPublishError};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(2, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// producer.publish_batch(2, |_| {})?;
    /// let mut batch = poller.poll()?; // both slots of the ring
    /// batch.consume(1);
    /// assert_eq!(producer.try_publish(|event| *event = 7), Err(TryPublishError::Full));
    /// batch.release();
    /// assert_eq!(producer.try_publish(|event| *event = 7), Ok(2));
    /// assert_eq!((batch.first_sequence(), batch.len()), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn release(&mut self) {
        self.core.release();
    }

    /// Returns an iterator over the remaining events and their sequences.
    ///
    /// Each event that the iterator yields is consumed. An adapter that takes an event to decide
    /// about it, such as `take_while` or `peekable`, consumes that event too.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// producer.publish_batch(3, |_| {})?;
    /// for (sequence, _event) in poller.poll()?.iter() {
    ///     if sequence == 1 {
    ///         break;
    ///     }
    /// }
    /// assert_eq!(poller.sequence(), 2); // the third event was not yielded
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn iter(&mut self) -> Iter<'_, E> {
        let first = self.first_sequence();
        let (events, consumed) = self.core.split();
        Iter::new(events, first, consumed)
    }

    /// Returns whether an upstream stage has [skipped](crate::Action::Skip) the event `sequence` as
    /// failed.
    ///
    /// Returns false for a sequence that is consumed or not in the batch.
    ///
    /// ```
    /// use lapwing::{Action, Disruptor};
    ///
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("risk")
    ///     .read(|price, _, _| if *price < 9 { Action::Continue } else { Action::Skip })
    ///     .stage("book").poller()
    ///     .build()?;
    /// let mut book = consumers.take_poller("book")?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 9)?;
    /// assert!(book.wait()?.is_failed(0));
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_failed(&self, sequence: Sequence) -> bool {
        self.core.left().contains(&sequence) && self.failing.has_failed(sequence)
    }

    /// Calls `look` with the reason why an upstream stage has [skipped](crate::Action::Skip) the
    /// event `sequence`, and returns the result. [`EventHandler::on_failed_event`] says what the
    /// reason is, and how long it is kept.
    ///
    /// Returns `None` if [`is_failed`](Self::is_failed) is false.
    ///
    /// ```
    /// use lapwing::{Action, Disruptor};
    ///
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("risk").on_error(Action::Skip)
    ///     .read(|price, _, _| if *price < 9 { Ok(()) } else { Err("too high") })
    ///     .stage("book").poller()
    ///     .build()?;
    /// let mut book = consumers.take_poller("book")?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 9)?;
    /// let why = book.wait()?.with_failure(0, |failure| failure.cause().to_string());
    /// assert_eq!(why.as_deref(), Some("too high"));
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// [`EventHandler::on_failed_event`]: crate::EventHandler::on_failed_event
    pub fn with_failure<T>(
        &self,
        sequence: Sequence,
        look: impl FnOnce(&Failure<'_>) -> T,
    ) -> Option<T> {
        if !self.core.left().contains(&sequence) {
            return None;
        }
        let skipped = self.failing.skipped(sequence)?;
        Some(look(&skipped.failure(sequence)))
    }
}

impl<E> Batch<'_, E, Exclusive> {
    /// Returns the events that are not consumed as a mutable slice. The call consumes nothing.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller_mut().build()?;
    /// let mut poller = consumers.take_poller_mut("all")?;
    /// producer.publish_batch(3, |_| {})?;
    /// let mut batch = poller.poll()?;
    /// batch.as_mut_slice().fill(7);
    /// drop(batch);
    /// assert_eq!(poller.poll()?.as_slice(), [7, 7, 7]); // changed, but not consumed
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [E] {
        self.core.events_mut()
    }

    /// Returns a mutable iterator over the remaining events and their sequences.
    ///
    /// Each event that the iterator yields is consumed. An adapter that takes an event to decide
    /// about it, such as `take_while` or `peekable`, consumes that event too.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("write").poller_mut()
    ///     .stage("read").poller()
    ///     .build()?;
    /// let mut writer = consumers.take_poller_mut("write")?;
    /// let mut reader = consumers.take_poller("read")?;
    /// producer.publish_batch(3, |_| {})?;
    /// for (sequence, event) in writer.poll()?.iter_mut() {
    ///     *event = sequence + 10;
    /// }
    /// assert_eq!(reader.poll()?.as_slice(), [10, 11, 12]); // "read" runs after "write"
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn iter_mut(&mut self) -> IterMut<'_, E> {
        let first = self.first_sequence();
        let (events, consumed) = self.core.split_mut();
        IterMut::new(events, first, consumed)
    }
}

/// Shows a monitor that a batch goes to user code, until it is dropped.
struct Handling<'a>(&'a Activity);

impl<'a> Handling<'a> {
    #[inline]
    fn begin(activity: &'a Activity) -> Self {
        activity.begin_batch();
        Self(activity)
    }
}

impl Drop for Handling<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.end_batch();
    }
}

impl<E, A: Access> fmt::Debug for Batch<'_, E, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("left", &self.core.left()).finish_non_exhaustive()
    }
}
