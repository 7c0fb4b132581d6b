//! Tests of the storage: capacity, construction and drop.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::MAX_CAPACITY;
use crate::error::MemoryError;

fn ring_of<'env, E>(
    capacity: usize,
    factory: impl FnMut() -> E + 'env,
) -> Result<RingBuffer<E>, MemoryError> {
    Ok(RingBuffer::new(Reserved::reserve(capacity)?, Factory::of(factory)))
}

/// Counts its drops in `drops`.
struct Counted<'a> {
    drops: &'a Cell<usize>,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.drops.set(self.drops.get() + 1);
    }
}

#[test]
fn capacity_must_be_a_power_of_two_in_range() {
    for requested in
        [0, 3, 6, 1000, MAX_CAPACITY + 1, MAX_CAPACITY * 2, usize::MAX, usize::MAX / 2 + 1]
    {
        let error = ring_of(requested, || 0_u8).err();
        assert_eq!(error, Some(MemoryError::Capacity { requested }));
    }
    for capacity in [1, 2, 4, 1024] {
        assert_eq!(ring_of(capacity, || 0_u8).unwrap().capacity(), capacity as u64);
    }
}

#[test]
fn memory_that_cannot_be_allocated_is_an_error_before_the_factory_runs() {
    // So many slots do not fit into an address space of 64 bits or 32 bits.
    type Huge = [u8; 1 << 20];
    let made = ring_of::<Huge>(1 << 30, || unreachable!("no event may be made"));
    let bytes_per_slot = size_of::<Huge>();
    assert_eq!(made.err(), Some(MemoryError::OutOfMemory { capacity: 1 << 30, bytes_per_slot }));
}

#[test]
fn events_are_dropped_exactly_once() {
    let drops = Cell::new(0);
    drop(ring_of(8, || Counted { drops: &drops }).unwrap());
    assert_eq!(drops.get(), 8);
}

#[test]
fn a_factory_that_panics_drops_what_was_made_once() {
    let drops = Cell::new(0);
    let mut made = 0..5;
    let build = || {
        ring_of(8, || {
            assert!(made.next().is_some(), "the factory fails here on purpose");
            Counted { drops: &drops }
        })
    };
    assert!(catch_unwind(AssertUnwindSafe(build)).is_err());
    assert_eq!(drops.get(), 5);
}

#[test]
fn a_slice_ends_at_the_wrap() {
    let ring = ring_of(4, || 0_u8).unwrap();
    assert_eq!(ring.wrap_after(0), 4);
    assert_eq!(ring.wrap_after(3), 4);
    assert_eq!(ring.wrap_after(4), 8);
    assert_eq!(ring_of(1, || 0_u8).unwrap().wrap_after(7), 8);
}
