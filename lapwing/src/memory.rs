//! Memory for one thing per slot: how many slots there may be, and an error where there is no room
//! for them.

use crate::MAX_CAPACITY;
use crate::error::BuildError;

/// Checks that `capacity` is a power of two in `1..=MAX_CAPACITY` (I4).
///
/// # Errors
///
/// [`BuildError::Capacity`].
fn check_capacity(capacity: usize) -> Result<(), BuildError> {
    if capacity.is_power_of_two() && capacity <= MAX_CAPACITY {
        Ok(())
    } else {
        Err(BuildError::Capacity { requested: capacity })
    }
}

/// Room for one `T` for each slot. Reserve all there is to reserve before filling any of it: what
/// does not fit is then known before memory is touched, and before user code runs.
#[derive(Debug)]
pub(crate) struct Room<T> {
    empty: Vec<T>,
    capacity: usize,
}

impl<T> Room<T> {
    /// Reserves room for `capacity` slots.
    ///
    /// # Errors
    ///
    /// [`BuildError::Capacity`] unless `capacity` is a power of two in `1..=MAX_CAPACITY`, and
    /// [`BuildError::OutOfMemory`] when the allocator refuses.
    pub(crate) fn reserve(capacity: usize) -> Result<Self, BuildError> {
        check_capacity(capacity)?;
        let mut empty = Vec::new();
        let bytes_per_slot = size_of::<T>();
        match empty.try_reserve_exact(capacity) {
            Ok(()) => Ok(Self { empty, capacity }),
            Err(_) => Err(BuildError::OutOfMemory { capacity, bytes_per_slot }),
        }
    }

    /// Number of slots.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Fills slot `i` with `make(i)`. If it panics, what was made so far is dropped, once.
    pub(crate) fn fill(self, make: impl FnMut(usize) -> T) -> Box<[T]> {
        let mut all = self.empty;
        all.extend((0..self.capacity).map(make));
        all.into_boxed_slice()
    }
}
