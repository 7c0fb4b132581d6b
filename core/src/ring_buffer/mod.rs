//! Storage: where the events are in memory, and which slot a sequence has.
//!
//! Not here: which thread may access a slot, and when (`claims`, `reading`). Each access is
//! therefore `unsafe`, and its caller names its right: I1 for a claim, I2 for a stage, both of
//! `lapwing::docs::unsafe_code`. Three other modules access slots. `published_marks` loads the
//! first word of a slot (I13). `factory` fills slots before any thread shares them (I18). `lines`
//! stores a byte of a slot unchanged (I15).
//!
//! ```text
//! sequence   8   9  10  11 | 12  13 ...      capacity 4: a slot is `sequence & 3`,
//! slot       0   1   2   3 |  0   1 ...      a slice ends at the wrap
//! ```

mod factory;
mod lines;
mod published_marks;

use std::cell::UnsafeCell;
use std::ops::Range;
use std::ptr::NonNull;

use crate::Sequence;
use crate::addresses::Addresses;
use crate::memory::{PerSlot, Reserved};
use crate::sync::Arc;

pub use factory::Factory;
pub use lines::ACQUIRES_LINES;
pub(crate) use lines::Lines;
pub(crate) use published_marks::PublishedMarks;
pub use published_marks::{HasPublishedMark, PublishedMark};

/// Pre-allocated events, made once and reused in place. A clone refers to the same storage.
///
/// Each endpoint holds a clone with a pointer to the slots, since an access through the `Arc` would
/// cost one more load per event.
pub(crate) struct RingBuffer<E> {
    /// The first slot.
    first: NonNull<UnsafeCell<E>>,
    /// Number of slots minus one: the mask that turns a sequence into an index.
    mask: u64,
    /// Owns the slots; the last clone frees them.
    storage: Arc<Storage<E>>,
}

/// The slots of one ring.
struct Storage<E> {
    /// One event per slot. Written by the owner of a claim (I1) or by an exclusive stage, read once
    /// published (I2). The length is a power of two in `1..=MAX_CAPACITY` and never changes (I4).
    slots: PerSlot<UnsafeCell<E>>,
    /// The cells that loom watches in place of the slots, whose bytes must stay contiguous.
    #[cfg(loom)]
    watched: Box<[loom::cell::UnsafeCell<()>]>,
}

// SAFETY: I1 gives a claimed slot one writer. I2 gives a published slot either readers only or one
// exclusive stage. Each hand-over is a release/acquire pair. `E: Send`: producers, exclusive stages
// and the final drop access an event from different threads. `&E` reaches two threads at a time
// only through stages with shared access, and the methods that create those require `E: Sync` (I5).
unsafe impl<E: Send> Sync for RingBuffer<E> {}
// SAFETY: as for `Sync` (I1, I2, I5): a clone that moves to a thread is one more reference.
unsafe impl<E: Send> Send for RingBuffer<E> {}

impl<E> Clone for RingBuffer<E> {
    fn clone(&self) -> Self {
        Self { first: self.first, mask: self.mask, storage: Arc::clone(&self.storage) }
    }
}

impl<E> RingBuffer<E> {
    /// Fills the slots in the memory `reserved` with events from `factory`.
    #[allow(clippy::arc_with_non_send_sync)] // `Sync` is this type's to say, not the storage's
    pub(crate) fn new(reserved: Reserved<UnsafeCell<E>>, mut factory: Factory<'_, E>) -> Self {
        let make = |_index, slot: NonNull<UnsafeCell<E>>| {
            // SAFETY: I18: the slot has room for a cell, and a cell has the layout of its event.
            unsafe { factory.make(slot.cast()) };
        };
        // SAFETY: I3: the factory writes an event there, which makes it an initialised cell.
        let slots = unsafe { reserved.fill_in_place(make) };
        let storage = Arc::new(Storage {
            #[cfg(loom)]
            watched: slots.iter().map(|_| loom::cell::UnsafeCell::new(())).collect(),
            slots,
        });
        // I4: the slots do not move from now on.
        let first = NonNull::from(&*storage.slots).cast();
        Self { first, mask: storage.slots.len() as u64 - 1, storage }
    }

    /// Returns the number of slots.
    pub(crate) fn capacity(&self) -> u64 {
        self.mask + 1
    }

    /// Returns the addresses of the slots.
    pub(crate) fn addresses(&self) -> Addresses {
        Addresses::at(self.first.as_ptr().addr(), self.capacity(), size_of::<E>())
    }

    /// Returns the addresses of the slots. Their provenance is exposed, so that a cache line can be
    /// written by its address (I15).
    fn exposed(&self) -> Addresses {
        let first = self.first.as_ptr().expose_provenance();
        Addresses::at(first, self.capacity(), size_of::<E>())
    }

    /// Returns the first sequence after `sequence` that lies in slot 0: the latest end of a slice
    /// from `sequence`.
    pub(crate) fn wrap_after(&self, sequence: Sequence) -> Sequence {
        (sequence | self.mask) + 1
    }

    /// Returns the index of the slot of `sequence`. No other function turns a sequence into an
    /// index.
    fn index_of(&self, sequence: Sequence) -> usize {
        (sequence & self.mask) as usize
    }

    /// Returns a pointer to the event of `sequence`, valid for the following events up to the wrap
    /// too.
    fn slot(&self, sequence: Sequence) -> *mut E {
        let index = self.index_of(sequence);
        debug_assert!(index < self.storage.slots.len(), "slot out of range: index={index}");
        // SAFETY: I4: the slots exist, and the mask keeps the index below their number.
        let cell = unsafe { self.first.add(index) };
        UnsafeCell::raw_get(cell.as_ptr())
    }

    /// Returns the event of `sequence`, to read.
    ///
    /// # Safety
    ///
    /// For the whole borrow, the slot of `sequence` is claimed by the caller (I1), or published and
    /// not released by the caller's stage (I2).
    pub(crate) unsafe fn event(&self, sequence: Sequence) -> &E {
        self.watch_read(sequence..sequence + 1);
        // SAFETY: I1 or I2, by the caller; I3: the slot is initialised.
        unsafe { &*self.slot(sequence) }
    }

    /// Returns the event of `sequence`, to write.
    ///
    /// # Safety
    ///
    /// For the whole borrow, the caller has claimed the slot of `sequence` (I1), or is an exclusive
    /// stage that has not released it (I2). This borrow is the only one.
    #[allow(clippy::mut_from_ref)] // the claim, not the borrow of the ring, is what makes it unique
    pub(crate) unsafe fn event_mut(&self, sequence: Sequence) -> &mut E {
        self.watch_write(sequence..sequence + 1);
        // SAFETY: I1 or I2, by the caller; I3: the slot is initialised.
        unsafe { &mut *self.slot(sequence) }
    }

    /// Returns the events of `range`, to read.
    ///
    /// # Safety
    ///
    /// For the whole borrow, each slot of `range` is claimed by the caller (I1), or published and
    /// not released by the caller's stage (I2). The range does not cross the wrap (I4).
    pub(crate) unsafe fn slice(&self, range: Range<Sequence>) -> &[E] {
        self.watch_read(range.clone());
        let length = self.length_of(&range);
        // SAFETY: I1 or I2, by the caller; I3: initialised; I4: contiguous, up to the wrap at most.
        unsafe { std::slice::from_raw_parts(self.slot(range.start), length) }
    }

    /// Returns the events of `range`, to write.
    ///
    /// # Safety
    ///
    /// For the whole borrow, the caller has claimed each slot of `range` (I1), or is an exclusive
    /// stage that has not released it (I2). This borrow is the only one. The range does not cross
    /// the wrap (I4).
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn slice_mut(&self, range: Range<Sequence>) -> &mut [E] {
        self.watch_write(range.clone());
        let length = self.length_of(&range);
        // SAFETY: I1 or I2, by the caller; I3: initialised; I4: contiguous, up to the wrap at most.
        unsafe { std::slice::from_raw_parts_mut(self.slot(range.start), length) }
    }

    fn length_of(&self, range: &Range<Sequence>) -> usize {
        debug_assert!(
            range.end <= self.wrap_after(range.start),
            "a slice must not cross the wrap: range={range:?}, capacity={}",
            self.capacity()
        );
        (range.end - range.start) as usize
    }

    /// Tells loom that `range` is read at this point. Called both when a right begins and when it
    /// ends, so that loom finds any overlapping write.
    #[cfg(loom)]
    pub(crate) fn watch_read(&self, range: Range<Sequence>) {
        for sequence in range {
            self.storage.watched[self.index_of(sequence)].with(|_| ());
        }
    }

    /// Tells loom that `range` is written at this point.
    #[cfg(loom)]
    pub(crate) fn watch_write(&self, range: Range<Sequence>) {
        for sequence in range {
            self.storage.watched[self.index_of(sequence)].with_mut(|_| ());
        }
    }

    /// Does nothing outside a model.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn watch_read(&self, _: Range<Sequence>) {}

    /// Does nothing outside a model.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn watch_write(&self, _: Range<Sequence>) {}
}

#[cfg(all(test, not(loom)))]
mod tests;
