//! The events that a reader may access, each checked against what it knows. Not here: how it comes to
//! know them (`polling`), and how it releases them (`reader`).

use std::ops::Range;

use super::batch::Batch;
use super::reader::Reader;
use crate::Sequence;
use crate::advice::ReadAdvice;

impl<E, A: ReadAdvice> Reader<E, A> {
    /// Checks that the reader has the right to read `range`, which does not cross the wrap.
    #[inline]
    fn check(&self, range: &Range<Sequence>) {
        let is_read = self.next <= range.start && range.end <= self.known.max(self.next);
        let is_one_slice = range.end <= self.ring.buffer().wrap_after(range.start);
        assert!(
            is_read && is_one_slice && range.start <= range.end,
            "a reader may read what a poll has shown: range={range:?}"
        );
    }

    /// Returns the events of `range`, which a poll has shown. By `&mut self`, since a reader that
    /// threads share must not lend events that they may not share.
    ///
    /// # Panics
    ///
    /// If the reader has released one of them, or does not know that they are published; if the
    /// range crosses the wrap; in a group.
    #[inline]
    #[must_use]
    pub fn events(&mut self, range: Range<Sequence>) -> &[E] {
        self.check(&range);
        // SAFETY: I2: the events are published, and this reader releases them by `&mut self`. I4: the
        // range does not cross the wrap.
        unsafe { self.ring.buffer().slice(range) }
    }

    /// Passes the next event to `pass` and releases it, if a poll has shown it.
    #[inline]
    pub fn pass_next<R>(&mut self, pass: impl FnOnce(Sequence, &E) -> R) -> Option<R> {
        let next = self.next;
        if self.known <= next {
            return None;
        }
        // SAFETY: I2: the event is published, and it is released only below.
        let passed = pass(next, unsafe { self.ring.buffer().event(next) });
        self.watch(next..next + 1);
        self.advance(next + 1);
        Some(passed)
    }

    /// Returns `range`, which a poll has shown, as a batch.
    ///
    /// # Panics
    ///
    /// For the reasons of [`events`](Self::events).
    #[inline]
    pub fn batch(&mut self, range: Range<Sequence>) -> Batch<'_, E, A> {
        self.check(&range);
        Batch::new(self, range)
    }

    /// Returns the events of `range`, which a poll has shown, to change.
    ///
    /// # Panics
    ///
    /// For the reasons of [`events`](Self::events), and if the reader is not exclusive.
    #[inline]
    #[must_use]
    pub fn events_mut(&mut self, range: Range<Sequence>) -> &mut [E] {
        self.check(&range);
        self.check_exclusive();
        // SAFETY: I2: the events are published, and this reader releases them by `&mut self`, which
        // is borrowed here. I6: no other stage has them. I4: the range does not cross the wrap.
        unsafe { self.ring.buffer().slice_mut(range) }
    }

    /// Returns the events of `range`.
    ///
    /// # Safety
    ///
    /// The caller, a worker of the group, owns the events of `range`, which does not cross the wrap,
    /// for as long as the slice is used (I2, I12).
    #[inline]
    #[must_use]
    pub unsafe fn events_of_worker(&self, range: Range<Sequence>) -> &[E] {
        // SAFETY: I2, by the caller.
        unsafe { self.ring.buffer().slice(range) }
    }

    /// Returns the events of `range`, to change.
    ///
    /// # Safety
    ///
    /// The caller, a worker of the group, owns the events of `range`, which does not cross the wrap,
    /// for as long as the slice is used (I2, I12).
    ///
    /// # Panics
    ///
    /// If the reader is not exclusive.
    #[inline]
    #[must_use]
    pub unsafe fn events_of_worker_mut(&mut self, range: Range<Sequence>) -> &mut [E] {
        self.check_exclusive();
        // SAFETY: I2, by the caller; I6: no other stage has them.
        unsafe { self.ring.buffer().slice_mut(range) }
    }

    /// Tells a model that the right to the events of `range` ends, which were read, or changed if the
    /// reader is exclusive.
    #[inline]
    pub fn watch(&self, range: Range<Sequence>) {
        if self.is_exclusive {
            self.ring.buffer().watch_write(range);
        } else {
            self.ring.buffer().watch_read(range);
        }
    }

    /// Tells a model that the right to read the events of `range` ends.
    #[inline]
    pub fn watch_read(&self, range: Range<Sequence>) {
        self.ring.buffer().watch_read(range);
    }
}
