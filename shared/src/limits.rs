//! How large a segment can be.

/// Most slots.
pub(crate) const MAX_CAPACITY: usize = 1 << 30;

/// Most seats of readers, and of writers.
pub(crate) const MAX_SEATS: usize = 1024;
