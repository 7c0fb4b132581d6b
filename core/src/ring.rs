//! One ring: its events and its shared words. Every producer, reader and other endpoint holds a
//! clone of it.
//!
//! The shared words are kept apart from them, so monitors need neither the event type nor the events.

use std::cell::UnsafeCell;
use std::fmt;
use std::ops::Range;

use crate::Sequence;
use crate::addresses::Addresses;
use crate::control::Control;
use crate::error::MemoryError;
use crate::memory::Reserved;
use crate::parking::Waits;
use crate::publication::Stamps;
use crate::ring_buffer::{Factory, HasPublishedMark, Lines, PublishedMarks, RingBuffer};
use crate::stages::Graph;
use crate::sync::AtomicU32;
use crate::words::{Placed, Words};

/// Memory for the events of a ring, and for their stamps if several producers publish. Reserve all
/// memory before any of it is filled: an allocation then fails before user code runs.
#[derive(Debug)]
pub struct Room<E> {
    events: Reserved<UnsafeCell<E>>,
    stamps: Option<Reserved<AtomicU32>>,
    marks: Option<fn(&RingBuffer<E>) -> PublishedMarks>,
}

impl<E> Room<E> {
    /// Reserves memory for `capacity` events of a ring, and for its stamps in `words`.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Capacity`] unless `capacity` is a power of two in `1..=MAX_CAPACITY`, and
    /// [`MemoryError::OutOfMemory`] if the allocator refuses.
    pub fn reserve(
        words: &mut Words,
        capacity: usize,
        is_multi: bool,
    ) -> Result<Self, MemoryError> {
        let events = Reserved::reserve(capacity)?;
        let stamps = is_multi.then(|| words.reserve(capacity)).transpose()?;
        Ok(Self { events, stamps, marks: None })
    }

    /// Lets first stages look at the published marks of the events.
    pub fn look_at_published_marks(&mut self)
    where
        E: HasPublishedMark,
    {
        self.marks = Some(PublishedMarks::of);
    }

    /// Makes the events of a ring whose first event has the sequence `first`, and places its words.
    ///
    /// # Panics
    ///
    /// If `factory` panics, or if `first` is beyond
    /// [`MAX_FIRST_SEQUENCE`](crate::MAX_FIRST_SEQUENCE), or is not 0 and the events have published
    /// marks.
    #[must_use]
    pub fn into_ring(
        self,
        words: &mut Words,
        factory: Factory<'_, E>,
        graph: Graph,
        first: Sequence,
        waits: Waits,
    ) -> Ring<E> {
        let most = if self.marks.is_some() { 0 } else { crate::MAX_FIRST_SEQUENCE };
        assert!(first <= most, "the first sequence must be in 0..={most}: first={first}");
        let buffer = RingBuffer::new(self.events, factory);
        let stamps = self.stamps.map(|room| Stamps::new(room, first));
        let slots = (buffer.capacity(), stamps);
        let control = Control::new(words, slots, graph, first, waits);
        let marks = self.marks.map(|of| of(&buffer));
        Ring { control: words.place(control), buffer, marks }
    }
}

/// The events of a ring and its shared words. A clone is the same ring.
pub struct Ring<E> {
    control: Placed<Control>,
    buffer: RingBuffer<E>,
    /// The published marks of its events, if they have them.
    marks: Option<PublishedMarks>,
}

impl<E> Ring<E> {
    /// Returns the shared words.
    #[inline]
    #[must_use]
    pub fn control(&self) -> &Placed<Control> {
        &self.control
    }

    /// Returns the first sequence after `sequence` that lies in slot 0: the latest end of a batch
    /// from `sequence`.
    #[inline]
    #[must_use]
    pub fn wrap_after(&self, sequence: Sequence) -> Sequence {
        self.buffer.wrap_after(sequence)
    }

    /// Returns the addresses of the slots, for prefetches.
    #[must_use]
    pub fn addresses(&self) -> Addresses {
        self.buffer.addresses()
    }

    /// Returns the addresses of the stamps, if several producers publish.
    #[must_use]
    pub fn stamp_addresses(&self) -> Option<Addresses> {
        self.control.publication().stamps().map(Stamps::addresses)
    }

    #[inline]
    pub(crate) fn buffer(&self) -> &RingBuffer<E> {
        &self.buffer
    }

    #[inline]
    pub(crate) fn marks(&self) -> Option<PublishedMarks> {
        self.marks
    }

    pub(crate) fn lines(&self) -> Lines {
        Lines::of(&self.buffer, self.control.publication().stamps())
    }

    /// Tells loom that the cache lines of `events` are acquired at this point: a store to every
    /// word that their slots hold.
    #[cfg(loom)]
    pub(crate) fn watch_acquire(&self, events: Range<Sequence>) {
        self.buffer.watch_write(events.clone());
        if let Some(stamps) = self.control.publication().stamps() {
            stamps.watch_acquire(events.clone());
        }
        if let Some(marks) = self.marks {
            marks.watch_acquire(events);
        }
    }

    /// Does nothing outside a model.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn watch_acquire(&self, _: Range<Sequence>) {}
}

impl<E> Clone for Ring<E> {
    fn clone(&self) -> Self {
        Self { control: self.control.clone(), buffer: self.buffer.clone(), marks: self.marks }
    }
}

impl<E> fmt::Debug for Ring<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("control", &self.control).finish_non_exhaustive()
    }
}
