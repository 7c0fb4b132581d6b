//! Which events the only producer of a ring may copy for those who wait: those of a ring in which nobody else writes.

use super::{Prefetcher, RingBuffer};
use crate::Sequence;
use crate::newest::{self, Newest};

/// The slots of a ring, for the producer that copies its newest event. Whoever has them has its [`RingBuffer`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Copies {
    slots: Prefetcher,
    /// Of an event.
    bytes: usize,
}

impl Copies {
    /// Of the slots of `buffer`, if its events fit beside the word that shows them.
    pub(crate) fn of<E: Copy>(buffer: &RingBuffer<E>) -> Option<Self> {
        let (bytes, align) = (size_of::<E>(), align_of::<E>());
        let fits = bytes <= newest::MOST_BYTES && align <= align_of::<u64>();
        (newest::IS_COPIED && fits).then(|| Self { slots: Prefetcher::of(buffer), bytes })
    }

    /// Gives those who wait a copy of the event before `end`, which the caller, the only producer, has just published.
    #[inline(always)]
    pub(crate) fn give(self, newest: &Newest, end: Sequence) {
        let event = self.slots.event(end - 1);
        // SAFETY: I4: the slot is there; I17: nobody writes it before the caller claims it again.
        unsafe { newest.give(end, event, self.bytes) };
    }
}
