//! Places words of different writers on different cache lines.

use std::ops::Deref;

/// A value on cache lines of its own. The alignment is 128 bytes, because x86-64 fetches cache
/// lines in pairs (the spatial prefetcher; Intel optimization manual, 2.1.5.4) and Apple's aarch64
/// has cache lines of 128 bytes.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Padded<T>(pub T);

impl<T> Deref for Padded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
