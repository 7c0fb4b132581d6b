//! The mapped memory of a segment: its words, its seats, its stamps and its slots.
//!
//! ```text
//! 0        header (`header`), which never changes
//! 4096     words, then the seats of readers
//! ...      with several writers: their seats, then stamps
//! ...      slots, from the next page on
//! ```

use std::fs::File;
use std::io;
use std::ptr::{self, NonNull};
use std::slice;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

use crate::fork::Unshared;
use crate::protocol::Shared;
use crate::sync::AtomicU64;
use crate::words::{Seat, Words, WriterSeat};

/// Bytes of a page, on which the words and the slots begin.
pub(crate) const PAGE: usize = 4096;

/// Where the words lie.
pub(crate) const WORDS: usize = PAGE;

/// Where the seats lie.
pub(crate) const SEATS: usize = WORDS + size_of::<Words>();

/// How large a segment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Number of slots, a power of two.
    pub(crate) capacity: usize,
    /// Number of seats of readers.
    pub(crate) seats: usize,
    /// Number of seats of writers; 0 if there is one writer, which has none.
    pub(crate) writers: usize,
    /// Bytes of an event.
    pub(crate) event: usize,
}

impl Shape {
    /// Returns where the seats of writers begin.
    fn writers_at(self) -> usize {
        SEATS + self.seats * size_of::<Seat>()
    }

    /// Returns where the stamps begin.
    fn stamps_at(self) -> usize {
        self.writers_at() + self.writers * size_of::<WriterSeat>()
    }

    /// Returns the number of stamps: one for each slot if there are several writers.
    fn stamps(self) -> usize {
        if self.writers == 0 { 0 } else { self.capacity }
    }

    /// Returns where the slots begin.
    fn slots_at(self) -> Option<usize> {
        let stamps = self.stamps().checked_mul(size_of::<AtomicU64>())?;
        self.stamps_at().checked_add(stamps)?.checked_next_multiple_of(PAGE)
    }

    /// Returns the bytes of the whole segment; `None` if no memory has as many.
    pub(crate) fn bytes(self) -> Option<usize> {
        let slots = self.capacity.checked_mul(self.event)?;
        let bytes = self.slots_at()?.checked_add(slots)?.checked_next_multiple_of(PAGE)?;
        (bytes <= isize::MAX.cast_unsigned()).then_some(bytes)
    }
}

/// A segment in memory. Unmapped on drop.
#[derive(Debug)]
pub(crate) struct Memory {
    first: NonNull<u8>,
    bytes: usize,
    shape: Shape,
    slots_at: usize,
    unshared: Unshared,
}

// SAFETY: M4: plain memory, which any thread may unmap.
unsafe impl Send for Memory {}
// SAFETY: M4: a shared reference gives atomics, and an address without the right to use it.
unsafe impl Sync for Memory {}

impl Memory {
    /// Maps a segment. A forked child cannot access it.
    ///
    /// # Errors
    ///
    /// What the system says.
    ///
    /// # Safety
    ///
    /// The file has as many bytes as the shape needs, nobody shortens it, and each process that maps it
    /// keeps the protocol (M4).
    pub(crate) unsafe fn map(file: &File, shape: Shape) -> io::Result<Self> {
        let bytes = shape.bytes().ok_or(io::ErrorKind::OutOfMemory)?;
        let slots_at = shape.slots_at().ok_or(io::ErrorKind::OutOfMemory)?;
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        let (first, unshared) = Unshared::map(bytes, || {
            // SAFETY: M4: the system chooses an unused range, so no memory of the program changes.
            let first = unsafe { mmap(ptr::null_mut(), bytes, access, flags, file, 0) }?;
            NonNull::new(first.cast()).ok_or(io::ErrorKind::OutOfMemory.into())
        })?;
        Ok(Self { first, bytes, shape, slots_at, unshared })
    }

    /// Lets the system map the pages at once, so that the first lap does not wait for each of them.
    pub(crate) fn populate(&self) {
        // SAFETY: M4: as in `map`. An older kernel refuses it, and maps each page when it is used.
        let _ =
            unsafe { madvise(self.first.as_ptr().cast(), self.bytes, Advice::LinuxPopulateWrite) };
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the words that processes share.
    pub(crate) fn shared(&self) -> Shared<'_> {
        let shape = self.shape;
        // SAFETY: M4: the mapping has them there; any bytes are a value, and processes change them by
        // atomic operations only.
        let words = unsafe { self.at::<Words>(WORDS).as_ref() };
        // SAFETY: M4: as above.
        let seats = unsafe { self.list(SEATS, shape.seats) };
        // SAFETY: M4: as above.
        let writers = unsafe { self.list(shape.writers_at(), shape.writers) };
        // SAFETY: M4: as above.
        let stamps = unsafe { self.list(shape.stamps_at(), shape.stamps()) };
        Shared { words, seats, writers, stamps, capacity: shape.capacity as u64 }
    }

    /// Returns where the slots begin.
    pub(crate) fn slots(&self) -> NonNull<u8> {
        self.at(self.slots_at)
    }

    /// Returns `count` values that lie at `offset`.
    ///
    /// # Safety
    ///
    /// The mapping has them there, any bytes are values of `T`, and processes change them by atomic
    /// operations only (M4).
    unsafe fn list<T>(&self, offset: usize, count: usize) -> &[T] {
        // SAFETY: M4, by the caller.
        unsafe { slice::from_raw_parts(self.at::<T>(offset).as_ptr(), count) }
    }

    #[inline]
    fn at<T>(&self, offset: usize) -> NonNull<T> {
        // SAFETY: M4: the offset is in the mapping, by the shape.
        unsafe { self.first.add(offset) }.cast()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.unshared.unmap(|| {
            // SAFETY: M4: it is mapped, and nothing refers to it any more.
            let _ = unsafe { munmap(self.first.as_ptr().cast(), self.bytes) };
        });
    }
}
