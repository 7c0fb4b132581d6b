//! A file in memory, on Linux.

use std::fs::File;
use std::io;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicU64};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::padded::Padded;

/// A file in memory, from its start; unmapped on drop.
#[derive(Debug)]
pub struct Mapping {
    first: NonNull<u8>,
    bytes: usize,
}

/// What can lie in a mapping: atomics, of which any bytes are a value, and which other processes may
/// change or read at any time. No type outside of this module has it.
pub trait Word: sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for AtomicU32 {}
impl Word for AtomicU32 {}
impl sealed::Sealed for AtomicU64 {}
impl Word for AtomicU64 {}
impl<T: Word, const N: usize> sealed::Sealed for [T; N] {}
impl<T: Word, const N: usize> Word for [T; N] {}
impl<T: Word> sealed::Sealed for Padded<T> {}
impl<T: Word> Word for Padded<T> {}

// SAFETY: I19: it is plain memory, which any thread may unmap.
unsafe impl Send for Mapping {}
// SAFETY: I19: a shared reference gives no access; `Words` gives what its types allow.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `bytes` of a file whose words this process keeps. Other processes see each store.
    ///
    /// # Errors
    ///
    /// What the system says.
    ///
    /// # Safety
    ///
    /// The file has as many bytes, and nobody shortens it. It is mapped once in this way, and nobody
    /// writes to the mapped bytes but through this mapping (I19).
    pub unsafe fn shared(file: &File, bytes: usize) -> io::Result<Self> {
        Self::new(file, bytes, MapFlags::SHARED | MapFlags::POPULATE)
    }

    /// Maps `bytes` of a file whose words another process keeps. No store of this process reaches the
    /// file: it would change a copy of the page. The file may be open for reading only. A load from it
    /// ends the process by SIGBUS once the file is shorter.
    ///
    /// POSIX leaves open whether such a mapping shows later stores of the other process. On Linux it
    /// does, for each page that this process has not stored to. Memory that cannot be written would be
    /// clearer, but Rust allows no acquiring load from it.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn observed(file: &File, bytes: usize) -> io::Result<Self> {
        Self::new(file, bytes, MapFlags::PRIVATE)
    }

    fn new(file: &File, bytes: usize, flags: MapFlags) -> io::Result<Self> {
        let (any, access) = (ptr::null_mut(), ProtFlags::READ | ProtFlags::WRITE);
        // SAFETY: I19: the system chooses an unused range, so no memory of the program changes.
        let first = unsafe { mmap(any, bytes, access, flags, file, 0) }?;
        let first = NonNull::new(first.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { first, bytes })
    }

    /// Returns the place of `bytes` at `offset`; `None` if the mapping ends before.
    pub(crate) fn at(&self, offset: usize, bytes: usize) -> Option<NonNull<u8>> {
        let is_within = offset.checked_add(bytes)? <= self.bytes;
        // SAFETY: I19: the range is in the mapping.
        is_within.then(|| unsafe { self.first.add(offset) })
    }

    /// Returns the offset of an address; `None` if it is not in the mapping.
    pub(crate) fn offset_of(&self, address: usize) -> Option<usize> {
        address.checked_sub(self.first.addr().get()).filter(|&offset| offset < self.bytes)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: I19: it is mapped, and nothing refers to it after this. An error is impossible.
        let _ = unsafe { munmap(self.first.as_ptr().cast(), self.bytes) };
    }
}
