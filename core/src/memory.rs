//! Memory for one value per slot: its alignment, the allowed number of slots, and the error when
//! the allocator refuses. Not here: which thread may access a slot (`claims`, `reading`).

use std::alloc::{self, Layout};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;

use crate::MAX_CAPACITY;
use crate::error::MemoryError;
use crate::mapping::Mapping;
use crate::padded::Padded;

/// Alignment of the memory. Its size is padded to a multiple of this, so no other allocation shares
/// its cache lines. A `Vec` usually begins 16 bytes into a line, where an event of 64 bytes spans
/// two lines.
const ALIGN: usize = align_of::<Padded<()>>();

/// Checks that `capacity` is a power of two in `1..=MAX_CAPACITY` (I4).
///
/// # Errors
///
/// [`MemoryError::Capacity`].
pub fn check_capacity(capacity: usize) -> Result<(), MemoryError> {
    if capacity.is_power_of_two() && capacity <= MAX_CAPACITY {
        Ok(())
    } else {
        Err(MemoryError::Capacity { requested: capacity })
    }
}

/// Uninitialised memory for one `T` per slot. Reserve all memory of a ring before filling any of
/// it: an allocation then fails before any memory is touched and before user code runs.
#[derive(Debug)]
pub struct Reserved<T> {
    empty: PerSlot<T>,
    capacity: usize,
}

impl<T> Reserved<T> {
    /// Reserves memory for `capacity` slots.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Capacity`] unless `capacity` is a power of two in `1..=MAX_CAPACITY`, and
    /// [`MemoryError::OutOfMemory`] if the allocator refuses.
    pub fn reserve(capacity: usize) -> Result<Self, MemoryError> {
        check_capacity(capacity)?;
        let bytes_per_slot = size_of::<T>();
        match Memory::of::<T>(capacity) {
            Some(memory) => Ok(Self { empty: PerSlot::none_in(memory), capacity }),
            None => Err(MemoryError::OutOfMemory { capacity, bytes_per_slot }),
        }
    }

    /// Reserves the memory for `capacity` slots at `offset` of `mapping`, which has no other use.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Capacity`], as for [`reserve`](Self::reserve).
    ///
    /// # Panics
    ///
    /// If the mapping has no space for them.
    pub(crate) fn mapped(
        mapping: &Arc<Mapping>,
        offset: usize,
        capacity: usize,
    ) -> Result<Self, MemoryError> {
        check_capacity(capacity)?;
        let memory = Memory::mapped::<T>(mapping, offset, capacity);
        Ok(Self { empty: PerSlot::none_in(memory), capacity })
    }

    /// Returns the number of slots.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Fills slot `i` with `make(i)`. If `make` panics, the values made so far are dropped once.
    pub fn fill(self, mut make: impl FnMut(usize) -> T) -> PerSlot<T> {
        let make_in_place = |index, slot: NonNull<T>| {
            // SAFETY: I18: the slot has room for a value and holds none yet.
            unsafe { slot.write(make(index)) };
        };
        // SAFETY: I18: the closure has written a value.
        unsafe { self.fill_in_place(make_in_place) }
    }

    /// Fills each slot with a `make` that writes the value in place, so that no value is moved. If
    /// `make` panics, what it left in its slot is not dropped.
    ///
    /// # Safety
    ///
    /// When `make` returns, the slot that it was given holds a `T` (I18).
    pub unsafe fn fill_in_place(self, mut make: impl FnMut(usize, NonNull<T>)) -> PerSlot<T> {
        let mut all = self.empty;
        while all.filled < self.capacity {
            // SAFETY: I18: there is room for `capacity` values, and fewer are filled.
            let next = unsafe { all.first().add(all.filled) };
            make(all.filled, next);
            all.filled += 1;
        }
        all
    }
}

/// One `T` per slot, contiguous, from the start of a cache line.
pub struct PerSlot<T> {
    memory: Memory,
    /// Number of initialised values: one per slot, or fewer during construction.
    filled: usize,
    of: PhantomData<T>,
}

impl<T> PerSlot<T> {
    /// Creates an empty `PerSlot` in `memory`, which has room for the values.
    fn none_in(memory: Memory) -> Self {
        Self { memory, filled: 0, of: PhantomData }
    }

    fn first(&self) -> NonNull<T> {
        self.memory.first.cast()
    }
}

impl<T> Deref for PerSlot<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: I18: the first `filled` values are initialised.
        unsafe { slice::from_raw_parts(self.first().as_ptr(), self.filled) }
    }
}

impl<T> Drop for PerSlot<T> {
    fn drop(&mut self) {
        let all = ptr::slice_from_raw_parts_mut(self.first().as_ptr(), self.filled);
        // SAFETY: I18: the first `filled` values are initialised, and nothing refers to them after
        // this.
        unsafe { ptr::drop_in_place(all) };
    }
}

impl<T: fmt::Debug> fmt::Debug for PerSlot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Memory that is freed on drop. `PerSlot` drops the values in it.
#[derive(Debug)]
struct Memory {
    first: NonNull<u8>,
    source: Source,
}

/// Where memory comes from.
#[derive(Debug)]
enum Source {
    /// The allocator, for this layout.
    Allocated(Layout),
    /// A part of a mapping that has no other use.
    Mapped { _keeper: Arc<Mapping> },
}

// SAFETY: I18: it is plain memory with one owner, on any thread.
unsafe impl Send for Memory {}
// SAFETY: I18: a shared reference gives no access; `PerSlot` gives what its `T` allows.
unsafe impl Sync for Memory {}

impl Memory {
    /// Allocates memory for `count` values of `T`. Returns `None` if the allocator refuses.
    fn of<T>(count: usize) -> Option<Self> {
        let layout = Layout::array::<T>(count).ok()?.align_to(ALIGN).ok()?.pad_to_align();
        let first = if layout.size() == 0 {
            NonNull::<Padded<T>>::dangling().cast()
        } else {
            // SAFETY: I18: the layout has at least one byte.
            NonNull::new(unsafe { alloc::alloc(layout) })?
        };
        Some(Self { first, source: Source::Allocated(layout) })
    }

    /// Returns the memory for `count` values at `offset` of `mapping`.
    fn mapped<T>(mapping: &Arc<Mapping>, offset: usize, count: usize) -> Self {
        let bytes = size_of::<T>().checked_mul(count);
        let first = bytes.and_then(|bytes| mapping.at(offset, bytes));
        let first = first.filter(|first| first.cast::<T>().is_aligned());
        let first = first.expect("the mapping has space for the values");
        Self { first, source: Source::Mapped { _keeper: Arc::clone(mapping) } }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Source::Allocated(layout) = self.source
            && layout.size() > 0
        {
            // SAFETY: I18: the allocator returned it for this layout, and it is freed only here.
            unsafe { alloc::dealloc(self.first.as_ptr(), layout) };
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    /// Returns the offset in bytes of the first of `capacity` slots from the start of a cache line.
    fn offset<T>(capacity: usize, make: impl FnMut(usize) -> T) -> usize {
        let slots = Reserved::reserve(capacity).unwrap().fill(make);
        assert_eq!(slots.len(), capacity);
        slots.as_ptr().addr() % ALIGN
    }

    #[test]
    fn slots_begin_on_a_cache_line() {
        #[repr(align(4096))]
        struct Page(#[expect(dead_code, reason = "only its alignment matters")] u8);

        for capacity in [1, 2, 64, 4096] {
            assert_eq!(offset(capacity, |_| 0_u8), 0);
            assert_eq!(offset(capacity, |_| [0_u64; 3]), 0);
            assert_eq!(offset(capacity, |_| [0_u64; 8]), 0);
            assert_eq!(offset(capacity, |_| Box::new(7)), 0);
            assert_eq!(offset(capacity, |_| ()), 0);
        }
        let pages = Reserved::reserve(2).unwrap().fill(|_| Page(0));
        assert_eq!(pages.as_ptr().addr() % 4096, 0);
    }

    #[test]
    fn no_other_allocation_shares_the_last_cache_line() {
        let bytes = |memory: Option<Memory>| match memory.unwrap().source {
            Source::Allocated(layout) => layout.size(),
            Source::Mapped { .. } => unreachable!("it was allocated"),
        };
        assert_eq!(bytes(Memory::of::<[u8; 3]>(1)), ALIGN);
        assert_eq!(bytes(Memory::of::<[u64; 3]>(16)), 3 * ALIGN);
        assert_eq!(bytes(Memory::of::<()>(16)), 0);
        assert!(Memory::of::<u8>(usize::MAX / 2).is_none());
    }

    #[test]
    fn miri_memory_is_freed_filled_or_not() {
        drop(Reserved::<String>::reserve(8).unwrap());
        drop(Reserved::reserve(8).unwrap().fill(|index| index.to_string()));
        drop(Reserved::reserve(8).unwrap().fill(|_| ()));
        let half = || {
            Reserved::reserve(8).unwrap().fill(|index| {
                assert!(index < 4, "the factory fails here on purpose");
                index.to_string()
            })
        };
        assert!(catch_unwind(half).is_err());
    }
}
