//! The addresses of slots, for code that has no right to access the events: prefetches, and the
//! store that acquires ownership of a cache line without changing it (I15).

use super::RingBuffer;
use crate::Sequence;

/// The addresses of the slots of a ring, or of an array with one entry per slot. The default
/// belongs to no ring; its use has no effect.
#[derive(Debug, Clone, Copy, Default)]
#[cfg_attr(lapwing_plain, allow(dead_code))]
pub(crate) struct Addresses {
    /// Address of the first slot. Not a pointer, since no event is read through it.
    first: usize,
    /// Number of slots minus one.
    mask: u64,
    /// Number of bytes from one slot to the next.
    stride: usize,
}

#[cfg_attr(lapwing_plain, allow(dead_code))]
impl Addresses {
    /// Returns the addresses of the slots of `buffer`.
    pub(crate) fn of<E>(buffer: &RingBuffer<E>) -> Self {
        // The provenance is exposed, so that a cache line can be written by its address (I15).
        let first = buffer.first.as_ptr().expose_provenance();
        Self { first, mask: buffer.mask, stride: size_of::<E>() }
    }

    /// Returns the addresses of `slots`, whose number is a power of two.
    pub(crate) fn of_slice<T>(slots: &[T]) -> Self {
        let first = slots.as_ptr().expose_provenance();
        Self { first, mask: slots.len() as u64 - 1, stride: size_of::<T>() }
    }

    /// Returns the addresses of `slots` slots from `first` on, `stride` bytes each.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn at(first: usize, slots: u64, stride: usize) -> Self {
        Self { first, mask: slots - 1, stride }
    }

    /// Returns the number of slots.
    pub(crate) fn slots(self) -> u64 {
        self.mask + 1
    }

    /// Returns the number of bytes from one slot to the next.
    pub(crate) fn stride(self) -> usize {
        self.stride
    }

    /// Returns the first sequence after `sequence` that lies in slot 0.
    pub(crate) fn wrap_after(self, sequence: Sequence) -> Sequence {
        (sequence | self.mask) + 1
    }

    /// Returns the address of the slot of `sequence`.
    pub(crate) fn of_slot(self, sequence: Sequence) -> usize {
        self.first.wrapping_add((sequence & self.mask) as usize * self.stride)
    }
}
