//! The slots of a tap, and which thread may read or write one: one word per slot decides. No other
//! file of the tap accesses an entry.
//!
//! ```text
//! state = lap code << 16 | readers      readers: number of readers that copy the entry, or SEALED
//!
//!            seal: lap, 0 --> lap, SEALED        by the writer, in one swap; else it passes over
//!            open: lap, SEALED --> next lap, 0
//! enter, leave: lap, n --> lap, n + 1, and back  by a reader, if the lap is the expected one
//! ```
//!
//! A lap code is the lap plus one, so that 0 is never a valid lap. It has 48 bits. A tap with one
//! slot that is written every 10 ns exhausts them in a month. A reader that sleeps that long
//! between two polls would mistake one event for another. It still could not read an entry during a
//! write (I7).

use std::cell::UnsafeCell;
use std::fmt;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use lapwing_core::Padded;
use lapwing_core::memory::{PerSlot, Reserved};

use crate::Sequence;
use crate::error::BuildError;
use crate::sync::{AtomicU64, Ordering};

/// Number of bits of a state that count readers. No slot has more readers than that, and most of
/// the word is left for the lap.
const READER_BITS: u32 = 16;
/// The part of a state that counts readers. As a count it means that no reader can enter: the
/// writer is in the slot, the slot was never written, or as many readers are in it as can be
/// counted.
const SEALED: u64 = (1 << READER_BITS) - 1;
/// The state of a slot without an entry: no reader can enter it (I8).
const UNUSED: u64 = SEALED;

/// An event of a tap, with its sequence in the ring that it was copied from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<E> {
    pub(crate) sequence: Sequence,
    pub(crate) event: E,
}

/// Why a position that has been written cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    /// A reader was in its slot when the writer reached it.
    PassedOver,
    /// The writer has overwritten it, or is doing so.
    Overwritten,
}

/// The slots of a tap. Each has its own cache lines, so a reader takes only the lines of the slot
/// that it copies from the writer.
pub(crate) struct Slots<E> {
    slots: PerSlot<Padded<Slot<E>>>,
    /// log2 of the number of slots: `position >> lap_shift` is the lap.
    lap_shift: u32,
}

impl<E: Copy> Slots<E> {
    /// Allocates slots without entries.
    ///
    /// # Errors
    ///
    /// [`BuildError::Capacity`] unless `capacity` is a power of two in `1..=2^30`,
    /// [`BuildError::OutOfMemory`] if the allocator fails.
    pub(crate) fn new(capacity: usize) -> Result<Self, BuildError> {
        let room = Reserved::<Padded<Slot<E>>>::reserve(capacity).map_err(BuildError::of)?;
        let begin = |_, slot: NonNull<Padded<Slot<E>>>| {
            // SAFETY: I18: memory for a padded slot, which begins with the slot and has no other
            // field.
            unsafe { Slot::<E>::begin(slot.cast()) };
        };
        // SAFETY: I18: `begin` has made a slot.
        let slots = unsafe { room.fill_in_place(begin) };
        Ok(Self { lap_shift: slots.len().trailing_zeros(), slots })
    }

    /// Number of slots.
    pub(crate) fn capacity(&self) -> u64 {
        self.slots.len() as u64
    }

    /// Copies `event` to `position`. Returns false if a reader was in the slot, which is then left
    /// unchanged. Uses at most two swaps and a store, and no stack memory, however large the event
    /// is.
    #[inline]
    pub(crate) fn write(&self, position: u64, sequence: Sequence, event: &E) -> bool {
        let slot = self.slot(position);
        let guess = position.checked_sub(self.capacity()).map_or(UNUSED, |last| self.lap(last));
        if !slot.seal(guess) {
            return false;
        }
        slot.watch_write();
        let place = slot.entry.get().cast::<Entry<E>>();
        // SAFETY: I7: `seal` has shown that no reader is in the slot, and none enters until `open`.
        let to = unsafe { &raw mut (*place).event };
        // SAFETY: I7: as above; no reference points into a slot, so `event` does not overlap it.
        unsafe { to.copy_from_nonoverlapping(event, 1) };
        // SAFETY: I7: as above.
        let to = unsafe { &raw mut (*place).sequence };
        // SAFETY: I7: as above.
        unsafe { to.write(sequence) };
        slot.open(self.lap(position));
        true
    }

    /// Copies the entry of `position`, which has been written.
    ///
    /// # Errors
    ///
    /// [`Absent::PassedOver`] or [`Absent::Overwritten`].
    #[inline]
    pub(crate) fn read(&self, position: u64) -> Result<Entry<E>, Absent> {
        Ok(self.slot(position).enter(self.lap(position))?.copy())
    }

    /// Returns the slot of a position. Only this function converts a position to an index.
    pub(super) fn slot(&self, position: u64) -> &Slot<E> {
        &self.slots[(position as usize) & (self.slots.len() - 1)]
    }

    /// The lap of `position`, as a state without readers.
    pub(super) fn lap(&self, position: u64) -> u64 {
        ((position >> self.lap_shift) + 1) << READER_BITS
    }
}

impl<E> fmt::Debug for Slots<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots").field("capacity", &self.slots.len()).finish_non_exhaustive()
    }
}

/// A place for an entry, and the word that controls access to it.
pub(super) struct Slot<E> {
    /// Lap and readers. The writer and the readers change it by compare-and-swap.
    state: AtomicU64,
    /// Written by the thread that has sealed the slot, read by those that have entered it (I7). Has
    /// an entry once the slot has been opened (I8).
    entry: UnsafeCell<MaybeUninit<Entry<E>>>,
    /// What loom watches in place of the entry.
    #[cfg(loom)]
    watched: loom::cell::UnsafeCell<()>,
}

// SAFETY: I7 keeps the writer and the readers of an entry apart, and each hand-over is a
// release/acquire pair (O20, O21). `E: Send` because readers copy it on their threads. No `E:
// Sync`: no thread borrows the event in the slot; it is copied in and copied out whole.
unsafe impl<E: Send> Sync for Slot<E> {}

impl<E: Copy> Slot<E> {
    /// Makes a slot without an entry, in place: it uses no stack memory, however large an entry is.
    ///
    /// # Safety
    ///
    /// `slot` points to memory for one slot (I18).
    unsafe fn begin(slot: NonNull<Self>) {
        let slot = slot.as_ptr();
        // SAFETY: I18: within that memory.
        let state = unsafe { &raw mut (*slot).state };
        // SAFETY: I18: as above. The entry may be uninitialised (I8).
        unsafe { state.write(AtomicU64::new(UNUSED)) };
        #[cfg(loom)]
        {
            // SAFETY: I18: within that memory.
            let watched = unsafe { &raw mut (*slot).watched };
            // SAFETY: I18: as above.
            unsafe { watched.write(loom::cell::UnsafeCell::new(())) };
        }
    }

    /// Excludes readers, if no reader is in the slot. `guess` is the state that the last lap should
    /// have left.
    #[inline]
    fn seal(&self, guess: u64) -> bool {
        let mut expected = guess;
        // Loading the state first would transfer the cache line twice if a reader has it. The guess
        // is wrong if the slot was passed over in the last lap. The second try then uses the state
        // found.
        for _ in 0..2 {
            let sealed = expected | SEALED;
            // O21, Acquire: pairs with the Release in `Visit::drop`; brings the end of the reads.
            // Relaxed: a failed swap only reads the state.
            let swap =
                self.state.compare_exchange(expected, sealed, Ordering::Acquire, Ordering::Relaxed);
            match swap {
                Ok(_) => return true,
                Err(found) if found & SEALED != 0 => return false,
                Err(found) => expected = found,
            }
        }
        false
    }

    /// Admits readers that expect `lap`.
    #[inline]
    fn open(&self, lap: u64) {
        // O20, Release: pairs with the Acquire in `enter`; carries the entry. A store suffices:
        // while the slot is sealed, no other thread changes its state.
        self.state.store(lap, Ordering::Release);
    }

    /// Enters the slot to read the entry of `lap`.
    ///
    /// # Errors
    ///
    /// [`Absent::PassedOver`] or [`Absent::Overwritten`].
    #[inline]
    pub(super) fn enter(&self, lap: u64) -> Result<Visit<'_, E>, Absent> {
        // O22, Relaxed: not older than what the load of the head has brought; the swap decides.
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let readers = state & SEALED;
            let laps_ahead = (state - readers).wrapping_sub(lap).cast_signed();
            if laps_ahead < 0 {
                return Err(Absent::PassedOver);
            }
            // One more reader would make the count equal to `SEALED`.
            if laps_ahead > 0 || readers + 1 >= SEALED {
                return Err(Absent::Overwritten);
            }
            // O20, Acquire: pairs with the Release in `open`; brings the entry.
            // Relaxed: a failed swap only reads the state.
            let swap = self.state.compare_exchange_weak(
                state,
                state + 1,
                Ordering::Acquire,
                Ordering::Relaxed,
            );
            match swap {
                Ok(_) => return Ok(Visit { slot: self }),
                Err(found) => state = found,
            }
        }
    }

    /// Reports a read of the entry to loom.
    #[cfg(loom)]
    fn watch_read(&self) {
        self.watched.with(|_| ());
    }

    /// Reports a write of the entry to loom.
    #[cfg(loom)]
    fn watch_write(&self) {
        self.watched.with_mut(|_| ());
    }

    /// Does nothing outside a model.
    #[cfg(not(loom))]
    #[inline]
    fn watch_read(&self) {}

    /// Does nothing outside a model.
    #[cfg(not(loom))]
    #[inline]
    fn watch_write(&self) {}
}

/// A reader in a slot. Dropping it leaves the slot.
pub(super) struct Visit<'a, E> {
    slot: &'a Slot<E>,
}

impl<E: Copy> Visit<'_, E> {
    /// Copies the entry.
    #[inline]
    fn copy(&self) -> Entry<E> {
        self.slot.watch_read();
        let place = self.slot.entry.get().cast::<Entry<E>>();
        // SAFETY: I7: `enter` has counted this reader, so the writer stays out until it leaves; I8:
        // a slot that can be entered has an entry.
        unsafe { place.read() }
    }
}

impl<E> Drop for Visit<'_, E> {
    #[inline]
    fn drop(&mut self) {
        // O21, Release: pairs with the Acquire in `seal`; carries the end of the read.
        self.slot.state.fetch_sub(1, Ordering::Release);
    }
}
