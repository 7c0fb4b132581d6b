//! The slots of a segment, as events. Not here: which of them may be touched (`protocol`).

use std::ops::Range;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

use bytemuck::Pod;

use crate::memory::Memory;
use crate::protocol::Shared;

/// The slots and the words of one segment, which this keeps mapped. The addresses are here and not
/// behind another pointer, because the loop that publishes is limited by its loads.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    /// Valid as long as `memory`.
    shared: Shared<'static>,
    first: NonNull<T>,
    mask: u64,
    memory: Arc<Memory>,
}

// SAFETY: M5: events are plain data, and who may touch a slot does not depend on the thread.
unsafe impl<T: Pod> Send for Slots<T> {}
// SAFETY: M5: a shared reference gives no access without M1 or M2.
unsafe impl<T: Pod> Sync for Slots<T> {}

impl<T: Pod> Slots<T> {
    /// The slots of `memory`, whose header says that its events have the layout of `T`.
    pub(crate) fn new(memory: Arc<Memory>) -> Self {
        debug_assert_eq!(memory.shape().event, size_of::<T>(), "compared with the header");
        let (first, mask) = (memory.slots().cast(), memory.shape().capacity as u64 - 1);
        let shared: *const Memory = &raw const *memory;
        // SAFETY: M4: `memory` keeps the words where they are, and no method lends them for longer than
        // it borrows this.
        let shared = unsafe { &*shared }.shared();
        Self { shared, first, mask, memory }
    }

    /// Lets the system map the memory at once.
    pub(crate) fn populate(&self) {
        self.memory.populate();
    }

    /// Returns the number of slots.
    pub(crate) fn capacity(&self) -> usize {
        self.memory.shape().capacity
    }

    /// Returns the words of the segment.
    #[inline]
    pub(crate) fn shared(&self) -> Shared<'_> {
        self.shared
    }

    /// Returns the end of the longest range that begins at `sequence`, ends at `end` at most and is
    /// contiguous in memory.
    #[inline]
    pub(crate) fn contiguous(&self, sequence: u64, end: u64) -> u64 {
        end.min((sequence | self.mask) + 1)
    }

    /// Returns the events of `range`, for a reader.
    ///
    /// # Safety
    ///
    /// The caller may read them as long as it has the slice (M2), and `range` is contiguous.
    #[inline]
    pub(crate) unsafe fn read(&self, range: Range<u64>) -> &[T] {
        let first = self.at(range.start);
        // SAFETY: M2, by the caller; M5: any bytes are an event.
        unsafe { slice::from_raw_parts(first.as_ptr(), (range.end - range.start) as usize) }
    }

    /// Returns the events of `range`, for the writer.
    ///
    /// # Safety
    ///
    /// The caller may write them as long as it has the slice (M1), and `range` is contiguous.
    #[inline]
    pub(crate) unsafe fn write(&mut self, range: Range<u64>) -> &mut [T] {
        let first = self.at(range.start);
        // SAFETY: M1, by the caller; M5: any bytes are an event.
        unsafe { slice::from_raw_parts_mut(first.as_ptr(), (range.end - range.start) as usize) }
    }

    #[inline]
    fn at(&self, sequence: u64) -> NonNull<T> {
        // SAFETY: M4: the index is below the capacity.
        unsafe { self.first.add((sequence & self.mask) as usize) }
    }
}
