//! Notices: a word in front of an event, on the event's own line, that says that it is published.
//!
//! Whoever waits for a lone event looks at a word that shows it, and then at the event: two lines to bring from
//! the producer's cache. Where the word lies with the event they are one. Such events are wider, and none of them
//! is ever lent as mutable, so rings of [`Noticed`] events are not for users: they are those of channels.
//!
//! A notice comes after the cursor. So what is published is still decided by the cursor alone: a notice that shows
//! proves it, one that does not proves nothing.
//!
//! ```text
//! slot    | notice | event |        notice = low half of sequence + 1, of the last event noticed here
//! ```

use std::ptr::NonNull;

use super::RingBuffer;
use crate::Sequence;
use crate::sync::{AtomicU32, Ordering};

/// The word. One that was never given shows no event of the first lap.
///
/// Half a sequence is enough, since what it shows is of this lap or the last one, and a lap is at most 2^30. For that
/// each event of a ring has to be given one.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(crate) struct Notice(AtomicU32);

impl Notice {
    /// Gives the notice of `sequence`, which is published, or will be together with an event before it that
    /// has no notice yet.
    #[inline(always)]
    pub(crate) fn give(&self, sequence: Sequence) {
        // O30, Release: pairs with the Acquire in `shows`; carries the cursor, and with it the event.
        self.0.store(shown(sequence), Ordering::Release);
    }

    /// Whether `sequence`, which the caller may have reached, is published.
    #[inline(always)]
    fn shows(&self, sequence: Sequence) -> bool {
        // O30, Acquire: pairs with the Release in `give`; brings the cursor, and with it the event.
        self.0.load(Ordering::Acquire) == shown(sequence)
    }
}

/// The notice of `sequence`.
#[inline(always)]
fn shown(sequence: Sequence) -> u32 {
    (sequence as u32).wrapping_add(1)
}

/// An event with a notice in front of it, in a ring that begins at sequence 0.
///
/// # Safety
///
/// The type is `repr(C)`, its first field is a [`Notice`], and nobody has a mutable reference to one that lies in a
/// ring (I13).
pub(crate) unsafe trait Noticed {}

/// The notices of a ring, for whoever may not touch their events. Whoever has them has its [`RingBuffer`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Notices {
    /// That of the first slot.
    first: NonNull<Notice>,
    /// Number of slots less one.
    mask: u64,
    /// Bytes from one to the next.
    stride: usize,
}

// SAFETY: I13: what it points to is a word that threads share, as `Sync` as an atomic is, and stays there (I4).
unsafe impl Send for Notices {}
// SAFETY: as for `Send` (I4, I13).
unsafe impl Sync for Notices {}

impl Notices {
    /// Of the slots of `buffer`.
    pub(crate) fn of<E: Noticed>(buffer: &RingBuffer<E>) -> Self {
        Self { first: buffer.first.cast(), mask: buffer.mask, stride: size_of::<E>() }
    }

    /// Whether `sequence`, which the caller has reached, is published.
    #[inline(always)]
    pub(crate) fn show(self, sequence: Sequence) -> bool {
        self.at(sequence).shows(sequence)
    }

    #[inline(always)]
    fn at(&self, sequence: Sequence) -> &Notice {
        let offset = (sequence & self.mask) as usize * self.stride;
        // SAFETY: I4: within the slots, of which there are `mask + 1`, `stride` bytes each.
        let notice = unsafe { self.first.byte_add(offset) };
        // SAFETY: I13: a notice lies there, and it is shared only; I4: for as long as the caller has the buffer.
        unsafe { notice.as_ref() }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_notice_shows_its_sequence_and_none_of_a_lap_before_or_after() {
        for sequence in [0, 7, (1 << 30) + 7, (1 << 32) - 1, 1 << 32, 1 << 40] {
            for capacity in [1, 8, 1 << 30] {
                let notice = Notice::default();
                assert!(!notice.shows(sequence % capacity), "a slot of the first lap is empty");
                notice.give(sequence);
                assert!(notice.shows(sequence));
                assert!(!notice.shows(sequence + capacity));
            }
        }
    }
}
