//! How large a segment can be.

/// Most slots.
pub(crate) const MAX_CAPACITY: usize = 1 << 30;

/// Most seats.
pub(crate) const MAX_SEATS: usize = 1024;
