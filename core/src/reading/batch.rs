//! The events that a poll has shown, and the number of them that are consumed. Not here: which events
//! a reader may read (`reader`).

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use super::reader::Reader;
use crate::Sequence;
use crate::advice::ReadAdvice;

/// Events of a reader. Those that are consumed are released when the batch is dropped.
#[must_use = "a batch that is dropped at once has consumed nothing"]
pub struct Batch<'a, E, A: ReadAdvice> {
    reader: &'a mut Reader<E, A>,
    /// A part of what the reader may read, without a wrap. It loses what is released.
    range: Range<Sequence>,
    /// Number of events consumed and not released. The caller of [`split`](Self::split) counts here,
    /// so each use limits it to the length of `range`.
    consumed: u64,
    /// Makes the batch `Sync` only if events are: the reader alone would be `Sync` with any events
    /// (I5).
    events: PhantomData<&'a mut E>,
}

impl<'a, E, A: ReadAdvice> Batch<'a, E, A> {
    /// Creates the batch of `range`, which `reader` may read, without a wrap.
    #[inline]
    pub(super) fn new(reader: &'a mut Reader<E, A>, range: Range<Sequence>) -> Self {
        Self { reader, range, consumed: 0, events: PhantomData }
    }

    /// Returns the sequence of the first event that is not consumed.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Sequence {
        let Range { start, end } = self.range;
        start + self.consumed.min(end - start)
    }

    /// Returns the sequences of the events that are not consumed.
    #[inline]
    #[must_use]
    pub fn left(&self) -> Range<Sequence> {
        self.first()..self.range.end
    }

    /// Consumes the next `count` events, or all that are left if these are fewer.
    #[inline]
    pub fn consume(&mut self, count: u64) {
        let first = self.first();
        self.consumed = first - self.range.start + count.min(self.range.end - first);
    }

    /// Returns the events that are not consumed.
    #[inline]
    #[must_use]
    pub fn events(&self) -> &[E] {
        let left = self.left();
        // SAFETY: I2: the reader may read `range`, and `self` borrows it. Nothing of the range is
        // released before `self` is borrowed mutably. I4: it does not cross the wrap.
        unsafe { self.reader.buffer().slice(left) }
    }

    /// Returns the events that are not consumed, to change.
    ///
    /// # Panics
    ///
    /// If the reader is not exclusive.
    #[inline]
    #[must_use]
    pub fn events_mut(&mut self) -> &mut [E] {
        self.reader.check_exclusive();
        let left = self.left();
        // SAFETY: I2, I4: as in `events`, and `self` is borrowed mutably. I6: the reader is exclusive.
        unsafe { self.reader.buffer().slice_mut(left) }
    }

    /// Consumes the next event and returns it with its sequence.
    #[inline]
    pub fn take_next(&mut self) -> Option<(Sequence, &E)> {
        let next = self.first();
        if next >= self.range.end {
            return None;
        }
        self.consumed = next + 1 - self.range.start;
        // SAFETY: I2: as in `events`.
        Some((next, unsafe { self.reader.buffer().event(next) }))
    }

    /// Returns the events that are not consumed, and the number of events that are. The caller raises
    /// it by one for each event that it consumes.
    #[inline]
    pub fn split(&mut self) -> (&[E], &mut u64) {
        let left = self.left();
        // SAFETY: I2, I4: as in `events`.
        (unsafe { self.reader.buffer().slice(left) }, &mut self.consumed)
    }

    /// Does the same with events to change.
    ///
    /// # Panics
    ///
    /// If the reader is not exclusive.
    #[inline]
    pub fn split_mut(&mut self) -> (&mut [E], &mut u64) {
        self.reader.check_exclusive();
        let left = self.left();
        // SAFETY: I2, I4, I6: as in `events_mut`.
        (unsafe { self.reader.buffer().slice_mut(left) }, &mut self.consumed)
    }

    /// Releases the events that are consumed.
    #[inline]
    pub fn release(&mut self) {
        if self.consumed > 0 {
            self.range.start = self.first();
            self.consumed = 0;
            self.reader.release(self.range.start);
        }
    }
}

impl<E, A: ReadAdvice> Drop for Batch<'_, E, A> {
    #[inline]
    fn drop(&mut self) {
        self.release();
    }
}

impl<E, A: ReadAdvice> fmt::Debug for Batch<'_, E, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("left", &self.left()).finish_non_exhaustive()
    }
}
