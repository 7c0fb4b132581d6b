//! A batch in a poller's hand: events to look at, and how many of them are done.

mod iter; // one by one

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use super::access::{Access, Exclusive};
use super::source::Source;
use super::stage_reader::StageReader;
use crate::Sequence;

pub use self::iter::{Iter, IterMut};

/// Events that a [`Poller`](crate::Poller) found: contiguous in memory, in the order of sequences.
///
/// When it is dropped, it lets go of the events that were consumed: those that an iterator yielded,
/// and those named to [`consume`](Self::consume). The others come again with the next poll. What
/// [`as_slice`](Self::as_slice) shows is not consumed by being looked at.
///
/// ```
/// use lapwing::Disruptor;
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
/// let mut poller = consumers.take_poller("ticks")?;
/// producer.publish_batch(4, |slots| {
///     for (value, slot) in (10..).zip(slots.iter_mut()) {
///         *slot = value;
///     }
/// })?;
///
/// let mut batch = poller.poll()?;
/// assert_eq!(batch.as_slice(), [10, 11, 12, 13]);
/// batch.consume(1);
/// assert_eq!(batch.iter().next(), Some((1, &11)));
/// drop(batch);
///
/// assert_eq!(poller.poll()?.as_slice(), [12, 13]); // what was not consumed
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// An event cannot outlive its batch, after which its slot is written again:
///
/// ```compile_fail,E0505
/// # let (mut producer, mut consumers) =
/// #     lapwing::Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build().unwrap();
/// # let mut poller = consumers.take_poller::<u64>("ticks").unwrap();
/// let mut batch = poller.poll().unwrap();
/// let event = batch.iter().next();
/// drop(batch);
/// assert!(event.is_some());
/// ```
///
/// ```
/// # let (mut producer, mut consumers) =
/// #     lapwing::Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build().unwrap();
/// # let mut poller = consumers.take_poller("ticks").unwrap();
/// # producer.publish(|event| *event = 1).unwrap();
/// let mut batch = poller.poll().unwrap();
/// let event = batch.iter().next();
/// assert!(event.is_some());
/// drop(batch);
/// ```
#[must_use = "a batch that is dropped at once has consumed nothing"]
pub struct Batch<'a, E, A: Access> {
    source: &'a mut StageReader<E>,
    range: Range<Sequence>,
    /// Events of `range` that are done, from its start.
    consumed: u64,
    /// Shared between threads only if events may be, whatever the reader says.
    events: PhantomData<(&'a mut E, A)>,
}

impl<'a, E, A: Access> Batch<'a, E, A> {
    #[inline]
    pub(crate) fn new(source: &'a mut StageReader<E>, range: Range<Sequence>) -> Self {
        source.activity().begin_batch();
        Self { source, range, consumed: 0, events: PhantomData }
    }

    /// Number of events that are not consumed yet.
    ///
    /// ```
    /// # let (mut producer, mut consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// # producer.claim_batch(3)?.publish()?;
    /// let mut batch = poller.poll()?; // of three
    /// batch.consume(1);
    /// assert_eq!(batch.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        (self.range.end - self.first_sequence()) as usize
    }

    /// Whether every event is consumed.
    ///
    /// ```
    /// # let (mut producer, mut consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// # producer.claim_batch(3)?.publish()?;
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

    /// Sequence of the first event that is not consumed.
    ///
    /// ```
    /// # let (mut producer, mut consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// # producer.claim_batch(3)?.publish()?;
    /// let mut batch = poller.poll()?; // the events 0, 1 and 2
    /// batch.consume(2);
    /// assert_eq!(batch.first_sequence(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn first_sequence(&self) -> Sequence {
        self.range.start + self.consumed
    }

    /// The events that are not consumed yet. They come again unless [`consume`](Self::consume) or
    /// [`consume_all`](Self::consume_all) says that they are done.
    ///
    /// ```
    /// # let (mut producer, mut consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 7_u64).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// # producer.claim_batch(3)?.publish()?;
    /// let batch = poller.poll()?; // three events of 7
    /// assert_eq!(batch.as_slice().iter().sum::<u64>(), 21);
    /// drop(batch);
    /// assert_eq!(poller.poll()?.len(), 3); // looked at, not consumed
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn as_slice(&self) -> &[E] {
        // SAFETY: I2: the poller gave this batch `range`, up to the wrap at most, and it lets go of
        // nothing before `self` is dropped or borrowed as mutable.
        unsafe { self.source.reader.events(self.left()) }
    }

    /// Consumes the first `count` events that are left, or all if there are fewer.
    ///
    /// ```
    /// # let (mut producer, mut consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// # producer.claim_batch(3)?.publish()?;
    /// poller.poll()?.consume(2); // of three
    /// assert_eq!(poller.sequence(), 2);
    /// poller.poll()?.consume(5); // of one
    /// assert_eq!(poller.sequence(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.consumed += (count as u64).min(self.range.end - self.first_sequence());
    }

    /// Consumes all events that are left.
    ///
    /// ```
    /// # let (mut producer, mut consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// # producer.claim_batch(3)?.publish()?;
    /// poller.poll()?.consume_all(); // of three
    /// assert_eq!(poller.sequence(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn consume_all(&mut self) {
        self.consume(usize::MAX);
    }

    /// Lets go of what is consumed now, so that others can go on, and keeps the rest.
    ///
    /// ```
    /// # use lapwing::error::TryPublishError;
    /// # let (mut producer, mut consumers) =
    /// #     lapwing::Disruptor::single_producer(2, || 0_u64).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// # producer.claim_batch(2)?.publish()?;
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
        self.let_go();
        self.range.start = self.first_sequence();
        self.consumed = 0;
    }

    /// Goes through the events that are left, with their sequences. Each one that was yielded is
    /// consumed.
    ///
    /// An adapter that looks ahead, such as `take_while` or `peekable`, consumes what it looked at.
    ///
    /// ```
    /// # let (mut producer, mut consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// # producer.claim_batch(3)?.publish()?;
    /// for (sequence, _event) in poller.poll()?.iter() { // three of them
    ///     if sequence == 1 {
    ///         break;
    ///     }
    /// }
    /// assert_eq!(poller.sequence(), 2); // the third was not yielded
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn iter(&mut self) -> Iter<'_, E> {
        let first = self.first_sequence();
        // SAFETY: I2: as in `as_slice`; the iterator borrows `self` as mutable for as long as its
        // events live.
        let events = unsafe { self.source.reader.events(first..self.range.end) };
        Iter::new(events, first, &mut self.consumed)
    }

    /// Whether a stage before this one has [skipped](crate::Action::Skip) the event with this sequence
    /// as failed. False for a sequence that is not in the batch.
    ///
    /// ```
    /// # use lapwing::{Action, Disruptor};
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("risk")
    ///     .read(|price, _, _| if *price < 9 { Action::Continue } else { Action::Skip })
    ///     .stage("book").poller()
    ///     .build()?;
    /// let mut book = consumers.take_poller("book")?;
    /// # let running = consumers.start()?;
    /// producer.publish(|event| *event = 9)?;
    /// assert!(book.wait()?.is_failed(0));
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_failed(&self, sequence: Sequence) -> bool {
        self.left().contains(&sequence) && self.source.has_failed(sequence)
    }

    /// Lets go of what is consumed, if anything is.
    #[inline]
    fn let_go(&mut self) {
        if self.consumed > 0 {
            let end = self.first_sequence();
            A::watch(&self.source.reader.ring.buffer, self.range.start..end);
            self.source.release(end);
        }
    }

    #[inline]
    fn left(&self) -> Range<Sequence> {
        self.first_sequence()..self.range.end
    }
}

impl<E> Batch<'_, E, Exclusive> {
    /// The events that are not consumed yet, to change.
    ///
    /// ```
    /// # let (mut producer, mut consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).stage("all").poller_mut().build()?;
    /// # let mut poller = consumers.take_poller_mut("all")?;
    /// # producer.claim_batch(3)?.publish()?;
    /// let mut batch = poller.poll()?;
    /// batch.as_mut_slice().fill(7);
    /// drop(batch);
    /// assert_eq!(poller.poll()?.as_slice(), [7, 7, 7]); // changed, not consumed
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [E] {
        // SAFETY: I2: as in `as_slice`. I6: an exclusive stage is alone, and the slice borrows
        // `self` as mutable.
        unsafe { self.source.reader.ring.buffer.slice_mut(self.left()) }
    }

    /// As [`iter`](Self::iter), with events to change.
    ///
    /// ```
    /// # let (mut producer, mut consumers) = lapwing::Disruptor::single_producer(8, || 0_u64)
    /// #     .stage("write").poller_mut()
    /// #     .stage("read").poller()
    /// #     .build()?;
    /// # let mut writer = consumers.take_poller_mut("write")?;
    /// # let mut reader = consumers.take_poller("read")?;
    /// # producer.claim_batch(3)?.publish()?;
    /// for (sequence, event) in writer.poll()?.iter_mut() {
    ///     *event = sequence + 10;
    /// }
    /// assert_eq!(reader.poll()?.as_slice(), [10, 11, 12]); // of a stage after this one
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn iter_mut(&mut self) -> IterMut<'_, E> {
        let first = self.first_sequence();
        // SAFETY: I2 and I6: as in `as_mut_slice`.
        let events = unsafe { self.source.reader.ring.buffer.slice_mut(first..self.range.end) };
        IterMut::new(events, first, &mut self.consumed)
    }
}

impl<E, A: Access> Drop for Batch<'_, E, A> {
    #[inline]
    fn drop(&mut self) {
        self.let_go();
        self.source.activity().end_batch();
    }
}

impl<E, A: Access> fmt::Debug for Batch<'_, E, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("left", &self.left()).finish_non_exhaustive()
    }
}
