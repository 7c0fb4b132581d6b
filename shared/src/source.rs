//! What a reader may read: the events, and how far it is. Not here: how it waits (`reader`).

use std::mem;
use std::ops::Range;

use crate::Sequence;
use crate::event::Event;
use crate::protocol::reading::Reading;
use crate::protocol::{Shared, Silence};
use crate::slots::Slots;

/// The events of one reader.
#[derive(Debug)]
pub(crate) struct Source<T> {
    reading: Reading,
    slots: Slots<T>,
    /// Number of events that it has released since the last call of `take_released`.
    released: u64,
}

impl<T: Event> Source<T> {
    pub(crate) fn new(reading: Reading, slots: Slots<T>) -> Self {
        Self { reading, slots, released: 0 }
    }

    /// Returns the words of the segment.
    #[inline]
    pub(crate) fn shared(&self) -> Shared<'_> {
        self.slots.shared()
    }

    pub(crate) fn reading(&self) -> &Reading {
        &self.reading
    }

    /// Lets the system map the memory at once.
    pub(crate) fn populate(&self) {
        self.slots.populate();
    }

    /// Returns the number of slots.
    pub(crate) fn capacity(&self) -> usize {
        self.slots.capacity()
    }

    /// Returns the sequence of the first event that is not released.
    #[inline]
    pub(crate) fn next(&self) -> Sequence {
        self.reading.next()
    }

    /// Learns of published events, unless it knows of some.
    #[inline]
    pub(crate) fn poll(&mut self) -> Result<(), Silence> {
        self.reading.poll(self.slots.shared()).map(drop)
    }

    /// Returns the known events that are contiguous in memory.
    #[inline]
    pub(crate) fn known(&self) -> Range<Sequence> {
        let next = self.reading.next();
        next..self.slots.contiguous(next, self.reading.known())
    }

    /// Returns the events of a part of what is [known](Self::known).
    #[inline]
    pub(crate) fn read(&self, range: Range<Sequence>) -> &[T] {
        let known = self.known();
        assert!(known.start <= range.start && range.end <= known.end, "a part of what is known");
        // SAFETY: M2: they are published, and a release needs this mutably.
        unsafe { self.slots.read(range) }
    }

    /// Releases all events below `next`.
    #[inline]
    pub(crate) fn release(&mut self, next: Sequence) {
        self.released += next - self.reading.next();
        self.reading.release(self.slots.shared(), next);
    }

    /// Returns the number of events that were released since the last call.
    pub(crate) fn take_released(&mut self) -> u64 {
        mem::take(&mut self.released)
    }
}
