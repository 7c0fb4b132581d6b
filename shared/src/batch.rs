//! The events that one call of a reader returns, and how many of them are consumed.

use std::fmt;
use std::ops::Range;

use crate::Sequence;
use crate::event::Event;
use crate::source::Source;

/// Events that a [`Reader`](crate::Reader) has returned, contiguous in memory and in the order of
/// their sequences.
///
/// A batch counts how many of its events are *consumed*: [`iter`](Self::iter) consumes each event
/// that it yields, [`consume`](Self::consume) and [`consume_all`](Self::consume_all) consume events
/// without reading them, and [`as_slice`](Self::as_slice) consumes nothing. A batch that is dropped
/// releases the consumed events to the writer. The next call of the reader returns the others
/// again.
///
/// [`Segment::open`](crate::Segment::open) has an example.
#[must_use = "a batch that is dropped at once has consumed nothing"]
pub struct Batch<'a, T: Event> {
    source: &'a mut Source<T>,
    /// The events that are not consumed, all of which are published.
    left: Range<Sequence>,
}

impl<'a, T: Event> Batch<'a, T> {
    /// The known events of `source`.
    #[inline]
    pub(crate) fn new(source: &'a mut Source<T>) -> Self {
        Self { left: source.known(), source }
    }

    /// Returns the events that are not consumed.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let mut writer = ticks().create(8)?;
    /// let mut reader = ticks().open()?;
    /// writer.publish_all(&[7, 8, 9]);
    /// assert_eq!(reader.poll()?.as_slice(), [7, 8, 9]);
    /// assert_eq!(reader.poll()?.as_slice(), [7, 8, 9]); // nothing was consumed
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        self.source.read(self.left.clone())
    }

    /// Returns the number of events that are not consumed.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let mut writer = ticks().create(8)?;
    /// let mut reader = ticks().open()?;
    /// writer.publish_all(&[7, 8, 9]);
    /// assert_eq!(reader.poll()?.len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        (self.left.end - self.left.start) as usize
    }

    /// Returns whether every event is consumed.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let mut writer = ticks().create(8)?;
    /// let mut reader = ticks().open()?;
    /// writer.publish_all(&[7, 8, 9]);
    /// let mut batch = reader.poll()?;
    /// assert!(!batch.is_empty());
    /// batch.consume_all();
    /// assert!(batch.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Returns the sequence of the first event that is not consumed.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let mut writer = ticks().create(8)?;
    /// let mut reader = ticks().open()?;
    /// writer.publish_all(&[7, 8, 9]);
    /// let mut batch = reader.poll()?;
    /// batch.consume(2);
    /// assert_eq!(batch.first_sequence(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn first_sequence(&self) -> Sequence {
        self.left.start
    }

    /// Consumes the first `count` of the remaining events, or all of them if there are fewer.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let mut writer = ticks().create(8)?;
    /// let mut reader = ticks().open()?;
    /// writer.publish_all(&[7, 8, 9]);
    /// reader.poll()?.consume(2);
    /// assert_eq!(reader.poll()?.as_slice(), [9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.left.start += count.min(self.len()) as u64;
    }

    /// Consumes all remaining events.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let mut writer = ticks().create(8)?;
    /// let mut reader = ticks().open()?;
    /// writer.publish_all(&[7, 8, 9]);
    /// reader.poll()?.consume_all();
    /// assert!(reader.poll().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn consume_all(&mut self) {
        self.left.start = self.left.end;
    }

    /// Releases the consumed events at once, and keeps the others.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let mut writer = ticks().create(2)?;
    /// let mut reader = ticks().open()?;
    /// writer.publish_all(&[7, 8]);
    /// let mut batch = reader.poll()?;
    /// batch.consume(1);
    /// assert!(writer.try_publish(|tick| *tick = 9).is_err());
    /// batch.release();
    /// assert_eq!(writer.try_publish(|tick| *tick = 9), Ok(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn release(&mut self) {
        self.source.release(self.left.start);
    }

    /// Returns an iterator over the remaining events and their sequences. Each event that it yields is
    /// consumed.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let mut writer = ticks().create(8)?;
    /// let mut reader = ticks().open()?;
    /// writer.publish_all(&[7, 8, 9]);
    /// let mut batch = reader.poll()?;
    /// assert_eq!(batch.iter().next(), Some((0, &7)));
    /// assert_eq!(batch.as_slice(), [8, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn iter(&mut self) -> Iter<'_, T> {
        let events = self.source.read(self.left.clone());
        Iter { events: events.iter(), next: &mut self.left.start }
    }
}

impl<T: Event> Drop for Batch<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.left.start != self.source.next() {
            self.source.release(self.left.start);
        }
    }
}

impl<T: Event> fmt::Debug for Batch<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("left", &self.left).finish_non_exhaustive()
    }
}

impl<'a, T: Event> IntoIterator for &'a mut Batch<'_, T> {
    type Item = (Sequence, &'a T);
    type IntoIter = Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

/// An iterator over the events of a [`Batch`], which consumes them.
#[derive(Debug)]
pub struct Iter<'a, T> {
    events: std::slice::Iter<'a, T>,
    next: &'a mut Sequence,
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = (Sequence, &'a T);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let event = self.events.next()?;
        let sequence = *self.next;
        *self.next += 1;
        Some((sequence, event))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.events.size_hint()
    }
}

impl<T> ExactSizeIterator for Iter<'_, T> {}
impl<T> std::iter::FusedIterator for Iter<'_, T> {}
