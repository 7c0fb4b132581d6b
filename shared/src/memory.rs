//! The mapped memory of a segment: its words, its seats and its slots.
//!
//! ```text
//! 0        header (`header`), which never changes
//! 4096     words, then seats
//! ...      slots, from the next page on
//! ```

use std::fs::File;
use std::io;
use std::ptr::{self, NonNull};
use std::slice;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

use crate::fork::Unshared;
use crate::protocol::Shared;
use crate::words::{Seat, Words};

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
    /// Number of seats.
    pub(crate) seats: usize,
    /// Bytes of an event.
    pub(crate) event: usize,
}

impl Shape {
    /// Returns where the slots begin.
    pub(crate) fn slots_at(self) -> usize {
        (SEATS + self.seats * size_of::<Seat>()).next_multiple_of(PAGE)
    }

    /// Returns the bytes of the whole segment; `None` if no memory has as many.
    pub(crate) fn bytes(self) -> Option<usize> {
        let slots = self.capacity.checked_mul(self.event)?;
        let bytes = self.slots_at().checked_add(slots)?.checked_next_multiple_of(PAGE)?;
        (bytes <= isize::MAX.cast_unsigned()).then_some(bytes)
    }
}

/// A segment in memory. Unmapped on drop.
#[derive(Debug)]
pub(crate) struct Memory {
    first: NonNull<u8>,
    bytes: usize,
    shape: Shape,
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
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        let (first, unshared) = Unshared::map(bytes, || {
            // SAFETY: M4: the system chooses an unused range, so no memory of the program changes.
            let first = unsafe { mmap(ptr::null_mut(), bytes, access, flags, file, 0) }?;
            NonNull::new(first.cast()).ok_or(io::ErrorKind::OutOfMemory.into())
        })?;
        Ok(Self { first, bytes, shape, unshared })
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
        // SAFETY: M4: the mapping has them there; any bytes are a value, and processes change them by
        // atomic operations only.
        let words = unsafe { self.at::<Words>(WORDS).as_ref() };
        let seats = self.at::<Seat>(SEATS);
        // SAFETY: M4: as above.
        let seats = unsafe { slice::from_raw_parts(seats.as_ptr(), self.shape.seats) };
        Shared { words, seats, capacity: self.shape.capacity as u64 }
    }

    /// Returns where the slots begin.
    pub(crate) fn slots(&self) -> NonNull<u8> {
        self.at(self.shape.slots_at())
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
