//! Where no file can be mapped.

use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::ptr::NonNull;

/// A file in memory, which cannot exist here.
#[derive(Debug)]
pub struct Mapping(Infallible);

/// What can lie in a mapping: anything, since there is none.
pub trait Word {}

impl<T> Word for T {}

impl Mapping {
    /// Refuses.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::Unsupported`].
    ///
    /// # Safety
    ///
    /// Always safe. Where there is a mapping, I19 has conditions.
    pub unsafe fn shared(_: &File, _: usize) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Refuses.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::Unsupported`].
    pub fn observed(_: &File, _: usize) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn at(&self, _: usize, _: usize) -> Option<NonNull<u8>> {
        match self.0 {}
    }

    pub(crate) fn offset_of(&self, _: usize) -> Option<usize> {
        match self.0 {}
    }
}
