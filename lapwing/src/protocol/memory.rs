//! Memory for one thing per slot: how many slots there may be, where they lie, and an error where there is no room
//! for them.

use std::alloc::{self, Layout};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::slice;

use crate::MAX_CAPACITY;
use crate::error::BuildError;
use crate::padded::Padded;

/// Where memory begins, and so what it ends with: on lines that nobody beside it has a part of. A `Vec` begins 16 bytes
/// behind a line mostly, and an event of 64 bytes lies across two then.
const ALIGN: usize = align_of::<Padded<()>>();

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

/// Memory for one `T` for each slot, none of which is made. Reserve everything before filling any of it: what
/// does not fit is then known before memory is touched, and before user code runs.
#[derive(Debug)]
pub(crate) struct Reserved<T> {
    empty: PerSlot<T>,
    capacity: usize,
}

impl<T> Reserved<T> {
    /// Reserves memory for `capacity` slots.
    ///
    /// # Errors
    ///
    /// [`BuildError::Capacity`] unless `capacity` is a power of two in `1..=MAX_CAPACITY`, and
    /// [`BuildError::OutOfMemory`] when the allocator refuses.
    pub(crate) fn reserve(capacity: usize) -> Result<Self, BuildError> {
        check_capacity(capacity)?;
        let bytes_per_slot = size_of::<T>();
        match Memory::of::<T>(capacity) {
            Some(memory) => Ok(Self { empty: PerSlot::none_in(memory), capacity }),
            None => Err(BuildError::OutOfMemory { capacity, bytes_per_slot }),
        }
    }

    /// Number of slots.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Fills slot `i` with `make(i)`. If it panics, what was made so far is dropped, once.
    pub(crate) fn fill(self, mut make: impl FnMut(usize) -> T) -> PerSlot<T> {
        let make_in_place = |index, slot: NonNull<T>| {
            // SAFETY: I18: the room of this slot, where none is made yet.
            unsafe { slot.write(make(index)) };
        };
        // SAFETY: I18: that has written one.
        unsafe { self.fill_in_place(make_in_place) }
    }

    /// As [`fill`](Self::fill), by a `make` that is told where to put what it makes, so that nothing is moved. What it
    /// leaves behind in a slot when it panics is not dropped.
    ///
    /// # Safety
    ///
    /// Where `make` returns, there is a `T` where it was told to put one (I18).
    pub(crate) unsafe fn fill_in_place(
        self,
        mut make: impl FnMut(usize, NonNull<T>),
    ) -> PerSlot<T> {
        let mut all = self.empty;
        while all.filled < self.capacity {
            // SAFETY: I18: there is room for `capacity` of them, and it is not used up.
            let next = unsafe { all.first().add(all.filled) };
            make(all.filled, next);
            all.filled += 1;
        }
        all
    }
}

/// One `T` for each slot, side by side, from the beginning of a line on.
pub(crate) struct PerSlot<T> {
    memory: Memory,
    /// How many are there: one for each slot, and fewer while they are made.
    filled: usize,
    of: PhantomData<T>,
}

impl<T> PerSlot<T> {
    /// None yet, in `memory` that is for them.
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
        // SAFETY: I18: so many are made.
        unsafe { slice::from_raw_parts(self.first().as_ptr(), self.filled) }
    }
}

impl<T> Drop for PerSlot<T> {
    fn drop(&mut self) {
        let all = ptr::slice_from_raw_parts_mut(self.first().as_ptr(), self.filled);
        // SAFETY: I18: so many are made, and nobody has them after this.
        unsafe { ptr::drop_in_place(all) };
    }
}

impl<T: fmt::Debug> fmt::Debug for PerSlot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// What the allocator has given; it goes back with this. What is in it is dropped by who put it there.
#[derive(Debug)]
struct Memory {
    first: NonNull<u8>,
    layout: Layout,
}

// SAFETY: I18: it is memory and nothing else; who has it has it alone, on whichever thread.
unsafe impl Send for Memory {}
// SAFETY: I18: a shared reference to it gives nothing; `PerSlot` gives what its `T` allows.
unsafe impl Sync for Memory {}

impl Memory {
    /// For so many `T`; `None` when the allocator refuses.
    fn of<T>(count: usize) -> Option<Self> {
        let layout = Layout::array::<T>(count).ok()?.align_to(ALIGN).ok()?.pad_to_align();
        let first = if layout.size() == 0 {
            NonNull::<Padded<T>>::dangling().cast()
        } else {
            // SAFETY: I18: of at least a byte.
            NonNull::new(unsafe { alloc::alloc(layout) })?
        };
        Some(Self { first, layout })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: I18: had from the allocator with this layout, and goes back this once.
            unsafe { alloc::dealloc(self.first.as_ptr(), self.layout) };
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    /// Where the first of `capacity` slots lies behind the beginning of a line.
    fn offset<T>(capacity: usize, make: impl FnMut(usize) -> T) -> usize {
        let slots = Reserved::reserve(capacity).unwrap().fill(make);
        assert_eq!(slots.len(), capacity);
        slots.as_ptr().addr() % ALIGN
    }

    #[test]
    fn slots_begin_on_a_line() {
        #[repr(align(4096))]
        struct Page(#[expect(dead_code, reason = "only where it lies")] u8);

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
    fn the_last_line_is_nobody_elses() {
        assert_eq!(Memory::of::<[u8; 3]>(1).unwrap().layout.size(), ALIGN);
        assert_eq!(Memory::of::<[u64; 3]>(16).unwrap().layout.size(), 3 * ALIGN);
        assert_eq!(Memory::of::<()>(16).unwrap().layout.size(), 0);
        assert!(Memory::of::<u8>(usize::MAX / 2).is_none());
    }

    #[test]
    fn miri_room_goes_back_filled_or_not() {
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
