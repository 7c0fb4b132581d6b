//! The slots of a tap: who may read one and who may write it, decided by one word for each. The only
//! file of the tap that touches an entry.
//!
//! ```text
//! state = lap code << 16 | readers      readers: those who copy the entry just now, or SEALED
//!
//!            seal: lap, 0 --> lap, SEALED        by the writer, in one swap; else it passes over
//!            open: lap, SEALED --> next lap, 0
//! enter, leave: lap, n --> lap, n + 1, and back  by a reader, if the lap is the one it looks for
//! ```
//!
//! A lap code is the lap and one, so that 0 is no lap at all. It is cut to 48 bits, which a tap of
//! one slot, written each 10 ns, has used up after a month. A reader that slept that long between
//! two looks would take one event for another; it could still not read it while it is written (I7).

use std::cell::UnsafeCell;
use std::fmt;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::Sequence;
use crate::error::BuildError;
use crate::padded::Padded;
use crate::protocol::memory::{PerSlot, Reserved};
use crate::sync::{AtomicU64, Ordering};

/// Bits of a state that count readers: more than there will be threads in one slot, and most of the
/// word is left for the lap.
const READER_BITS: u32 = 16;
/// The part of a state that counts readers. As a count: nobody can enter, since the writer is there,
/// or has not been yet, or since there are as many readers as can be counted.
const SEALED: u64 = (1 << READER_BITS) - 1;
/// State of a slot that has no entry yet: nobody can enter it (I8).
const UNUSED: u64 = SEALED;

/// An event of a tap, with its sequence in the ring that it was copied from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<E> {
    pub(crate) sequence: Sequence,
    pub(crate) event: E,
}

/// Why a position, which has been written, cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    /// A reader was in its slot when the writer came.
    PassedOver,
    /// The writer has come round, or is just doing so.
    Overwritten,
}

/// The slots of a tap. Each has cache lines of its own, so that a reader takes from the writer no
/// more than the one that it copies.
pub(crate) struct Slots<E> {
    slots: PerSlot<Padded<Slot<E>>>,
    /// log2 of the number of slots: `position >> lap_shift` is the lap.
    lap_shift: u32,
}

impl<E: Copy> Slots<E> {
    /// Slots without an entry.
    ///
    /// # Errors
    ///
    /// [`BuildError::Capacity`] and [`BuildError::OutOfMemory`].
    pub(crate) fn new(capacity: usize) -> Result<Self, BuildError> {
        let room = Reserved::<Padded<Slot<E>>>::reserve(capacity)?;
        let begin = |_, slot: NonNull<Padded<Slot<E>>>| {
            // SAFETY: I18: room for what begins with a slot, and has nothing else.
            unsafe { Slot::<E>::begin(slot.cast()) };
        };
        // SAFETY: I18: that has made a slot.
        let slots = unsafe { room.fill_in_place(begin) };
        Ok(Self { lap_shift: slots.len().trailing_zeros(), slots })
    }

    /// Number of slots.
    pub(crate) fn capacity(&self) -> u64 {
        self.slots.len() as u64
    }

    /// Copies `event` to `position`; false if a reader was in its slot, which is then left alone. Takes two swaps and a
    /// store at most, and nothing of the stack, however large the event is.
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
        // SAFETY: I7: as above; nobody borrows what lies in a slot, so `event` is elsewhere.
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
    /// Why it is not there.
    #[inline]
    pub(crate) fn read(&self, position: u64) -> Result<Entry<E>, Absent> {
        Ok(self.slot(position).enter(self.lap(position))?.copy())
    }

    /// The slot of a position; the only place where a position becomes an index.
    pub(super) fn slot(&self, position: u64) -> &Slot<E> {
        &self.slots[(position as usize) & (self.slots.len() - 1)]
    }

    /// The lap of `position`, as the state of a slot with no reader has it.
    pub(super) fn lap(&self, position: u64) -> u64 {
        ((position >> self.lap_shift) + 1) << READER_BITS
    }
}

impl<E> fmt::Debug for Slots<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots").field("capacity", &self.slots.len()).finish_non_exhaustive()
    }
}

/// A place for an entry, and the word that says who may touch it.
pub(super) struct Slot<E> {
    /// Lap and readers. Changed by the writer and by readers, each by a swap from what it has seen.
    state: AtomicU64,
    /// Written by who has sealed the slot, read by those who have entered it (I7). Has an entry
    /// once the slot has been opened (I8).
    entry: UnsafeCell<MaybeUninit<Entry<E>>>,
    /// What loom watches in place of the entry.
    #[cfg(loom)]
    watched: loom::cell::UnsafeCell<()>,
}

// SAFETY: I7 keeps the writer and the readers of an entry apart, and each hand-over is a
// release/acquire pair (O20, O21). `E: Send` since readers copy it on their threads. No `E: Sync`:
// nobody borrows the event in the slot; it is copied in and copied out whole.
unsafe impl<E: Send> Sync for Slot<E> {}

impl<E: Copy> Slot<E> {
    /// Makes a slot without an entry, which takes no stack, however large an entry is.
    ///
    /// # Safety
    ///
    /// At `slot` there is room for one (I18).
    unsafe fn begin(slot: NonNull<Self>) {
        let slot = slot.as_ptr();
        // SAFETY: I18: in that room.
        let state = unsafe { &raw mut (*slot).state };
        // SAFETY: I18: as above. What there is besides may be uninitialised (I8).
        unsafe { state.write(AtomicU64::new(UNUSED)) };
        #[cfg(loom)]
        {
            // SAFETY: I18: in that room.
            let watched = unsafe { &raw mut (*slot).watched };
            // SAFETY: I18: as above.
            unsafe { watched.write(loom::cell::UnsafeCell::new(())) };
        }
    }

    /// Shuts readers out, if none is in. `guess` is the state that the last lap should have left.
    #[inline]
    fn seal(&self, guess: u64) -> bool {
        let mut expected = guess;
        // A load would fetch the line twice where a reader has had it. The guess is wrong after a
        // lap in which the slot was passed over; then the second try knows better.
        for _ in 0..2 {
            let sealed = expected | SEALED;
            // O21, Acquire: pairs with the Release in `Visit::drop`; brings the end of the reads.
            // Relaxed: a swap that fails has only looked.
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

    /// Lets readers in who look for `lap`.
    #[inline]
    fn open(&self, lap: u64) {
        // O20, Release: pairs with the Acquire in `enter`; carries the entry. A store will do: while
        // the slot is sealed, nobody else changes its state.
        self.state.store(lap, Ordering::Release);
    }

    /// Goes in to read the entry of `lap`.
    ///
    /// # Errors
    ///
    /// Why that entry is not there.
    #[inline]
    pub(super) fn enter(&self, lap: u64) -> Result<Visit<'_, E>, Absent> {
        // O22, Relaxed: not older than what the look at the head has brought; the swap decides.
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let readers = state & SEALED;
            let laps_ahead = (state - readers).wrapping_sub(lap).cast_signed();
            if laps_ahead < 0 {
                return Err(Absent::PassedOver);
            }
            // The last one that could be counted would seal the slot.
            if laps_ahead > 0 || readers + 1 >= SEALED {
                return Err(Absent::Overwritten);
            }
            // O20, Acquire: pairs with the Release in `open`; brings the entry.
            // Relaxed: a swap that fails has only looked.
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

    /// Tells loom that the entry is read now.
    #[cfg(loom)]
    fn watch_read(&self) {
        self.watched.with(|_| ());
    }

    /// Tells loom that the entry is written now.
    #[cfg(loom)]
    fn watch_write(&self) {
        self.watched.with_mut(|_| ());
    }

    /// Nothing outside a model.
    #[cfg(not(loom))]
    #[inline]
    fn watch_read(&self) {}

    /// Nothing outside a model.
    #[cfg(not(loom))]
    #[inline]
    fn watch_write(&self) {}
}

/// A reader in a slot; it leaves when this is dropped.
pub(super) struct Visit<'a, E> {
    slot: &'a Slot<E>,
}

impl<E: Copy> Visit<'_, E> {
    /// The entry.
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
