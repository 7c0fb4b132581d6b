//! Published marks: a word next to an event, on the same cache line, that says that the event is
//! published.
//!
//! A receiver that waits for a single event loads a word that shows the publication, and then the
//! event. That takes two cache lines from the producer, or one if the word is next to the event.
//! Events with published marks are wider, and none is ever lent as `&mut`. Only the rings of
//! channels use [`HasPublishedMark`] events.
//!
//! A published mark is stored after the cursor, so the cursor alone still decides what is
//! published. A published mark that shows proves that its event is published. One that does not
//! show proves nothing.
//!
//! ```text
//! slot   | mark | event |    mark = low half of sequence + 1, of the last event published here
//! ```

#[cfg(loom)]
use std::ops::Range;
use std::ptr::NonNull;

use super::RingBuffer;
use crate::Sequence;
#[cfg(loom)]
use crate::sync::watch_store_unchanged;
use crate::sync::{AtomicU32, Ordering};

/// The published mark of one slot. The default shows no event of the first lap.
///
/// The low half of a sequence is enough: the word shows this lap or the last one, and a lap is at
/// most 2^30. This holds only if the mark of each event of the ring is set.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct PublishedMark(AtomicU32);

impl PublishedMark {
    /// Sets the published mark of `sequence`. Its event is published, or will be together with an
    /// earlier event that has no published mark yet.
    #[inline]
    pub fn set(&self, sequence: Sequence) {
        // O30, Release: pairs with the Acquire in `shows`; carries the cursor, and with it the
        // event.
        self.0.store(shown(sequence), Ordering::Release);
    }

    /// Whether `sequence` is published: the first event that the caller does not know to be
    /// published.
    #[inline]
    fn shows(&self, sequence: Sequence) -> bool {
        // O30, Acquire: pairs with the Release in `set`; brings the cursor, and with it the event.
        self.0.load(Ordering::Acquire) == shown(sequence)
    }
}

/// Returns the published mark of `sequence`.
#[inline]
fn shown(sequence: Sequence) -> u32 {
    (sequence as u32).wrapping_add(1)
}

/// An event with a published mark as its first field, in a ring that begins at sequence 0.
///
/// # Safety
///
/// The type is `repr(C)`, and its first field is a [`PublishedMark`]. No mutable reference to one
/// in a ring exists (I13).
///
/// A reader takes a published mark for the publication (O30). So the mark of each event is set, and
/// only after its publication is accepted. Of events that are published together, the mark of the
/// first is set last, and those of the others may be set before.
pub unsafe trait HasPublishedMark {}

/// The published marks of a ring, for threads that may not access its events. The holder also holds
/// the [`RingBuffer`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct PublishedMarks {
    /// The published mark of the first slot.
    first: NonNull<PublishedMark>,
    /// Number of slots minus one.
    mask: u64,
    /// Bytes from one published mark to the next.
    stride: usize,
}

// SAFETY: I13: it points to atomic words that threads share, which do not move (I4).
unsafe impl Send for PublishedMarks {}
// SAFETY: as for `Send` (I4, I13).
unsafe impl Sync for PublishedMarks {}

impl PublishedMarks {
    /// Returns the published marks of the slots of `buffer`.
    pub(crate) fn of<E: HasPublishedMark>(buffer: &RingBuffer<E>) -> Self {
        Self { first: buffer.first.cast(), mask: buffer.mask, stride: size_of::<E>() }
    }

    /// Whether `sequence` is published: the first event that the caller does not know to be
    /// published.
    #[inline]
    pub(crate) fn show(self, sequence: Sequence) -> bool {
        self.at(sequence).shows(sequence)
    }

    /// Tells loom that the cache lines of the published marks of `sequences` are acquired at this
    /// point.
    #[cfg(loom)]
    pub(crate) fn watch_acquire(self, sequences: Range<Sequence>) {
        sequences.for_each(|sequence| watch_store_unchanged(&self.at(sequence).0));
    }

    #[inline]
    fn at(&self, sequence: Sequence) -> &PublishedMark {
        let offset = (sequence & self.mask) as usize * self.stride;
        // SAFETY: I4: the offset is within the `mask + 1` slots of `stride` bytes each.
        let mark = unsafe { self.first.byte_add(offset) };
        // SAFETY: I13: a published mark is there, and it is only shared; I4: it lives as long as
        // the buffer, which the caller holds.
        unsafe { mark.as_ref() }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_mark_shows_its_sequence_and_none_of_a_lap_before_or_after() {
        for sequence in [0, 7, (1 << 30) + 7, (1 << 32) - 1, 1 << 32, 1 << 40] {
            for capacity in [1, 8, 1 << 30] {
                let mark = PublishedMark::default();
                assert!(!mark.shows(sequence % capacity), "a slot of the first lap is empty");
                mark.set(sequence);
                assert!(mark.shows(sequence));
                assert!(!mark.shows(sequence + capacity));
            }
        }
    }
}
