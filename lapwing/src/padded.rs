//! Decides how far apart the words of different writers lie.

use std::ops::Deref;

/// A value on cache lines of its own: 128 bytes, since x86-64 fetches lines in pairs (the spatial
/// prefetcher; Intel optimization manual, 2.1.5.4) and Apple's aarch64 has lines of 128 bytes.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub(crate) struct Padded<T>(pub(crate) T);

impl<T> Deref for Padded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
