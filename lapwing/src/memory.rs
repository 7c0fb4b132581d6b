//! Memory for one thing per slot: how many slots there may be, and an error where there is no room
//! for them.

use crate::MAX_CAPACITY;
use crate::error::BuildError;

/// Checks that `capacity` is a power of two in `1..=MAX_CAPACITY` (I4).
///
/// # Errors
///
/// [`BuildError::Capacity`].
pub(crate) fn check_capacity(capacity: usize) -> Result<(), BuildError> {
    if capacity.is_power_of_two() && capacity <= MAX_CAPACITY {
        Ok(())
    } else {
        Err(BuildError::Capacity { requested: capacity })
    }
}

/// Makes one `T` for each slot with `make(index)`. If it panics, what was made so far is dropped,
/// once.
///
/// # Errors
///
/// [`BuildError::OutOfMemory`] when the allocator refuses; `make` has not been called then.
pub(crate) fn try_collect<T>(
    capacity: usize,
    make: impl FnMut(usize) -> T,
) -> Result<Box<[T]>, BuildError> {
    let mut all = Vec::new();
    let reserved = all.try_reserve_exact(capacity);
    reserved.map_err(|_| BuildError::OutOfMemory { capacity, bytes_per_slot: size_of::<T>() })?;
    all.extend((0..capacity).map(make));
    Ok(all.into_boxed_slice())
}
