//! What is published in a segment with several writers: each slot has a stamp, with the sequence of its
//! event. A sequence is *sealed* once it is published or skipped.
//!
//! ```text
//! stamp = (sequence + 1) << 1 | skipped
//! ```

use std::ops::Range;

use super::Shared;
use crate::sync::{AtomicU64, Ordering};

/// What has become of a sequence that was claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Published,
    /// Its writer died or panicked before it was published.
    Skipped,
}

impl Fate {
    fn stamp(self, sequence: u64) -> u64 {
        ((sequence + 1) << 1) | u64::from(self == Self::Skipped)
    }

    /// Reads a stamp; `None` if it is that of an earlier lap.
    fn read(stamp: u64, sequence: u64) -> Option<Self> {
        match stamp.checked_sub(Self::Published.stamp(sequence))? {
            0 => Some(Self::Published),
            _ => Some(Self::Skipped),
        }
    }
}

impl Shared<'_> {
    fn stamp(&self, sequence: u64) -> &AtomicU64 {
        &self.stamps[(sequence & (self.capacity - 1)) as usize]
    }

    /// Returns what has become of a sequence, unless the ring has passed it by a lap; `None` before it
    /// is published or skipped.
    #[inline]
    pub(crate) fn fate(self, sequence: u64) -> Option<Fate> {
        // P11, Acquire: pairs with the Release in `seal` and `skip`; carries the event.
        Fate::read(self.stamp(sequence).load(Ordering::Acquire), sequence)
    }

    /// Stamps sequences that the caller has claimed.
    #[inline]
    pub(crate) fn seal(self, sequences: Range<u64>, fate: Fate) {
        for sequence in sequences {
            // P11, Release: pairs with the Acquire in `fate`; carries the event.
            self.stamp(sequence).store(fate.stamp(sequence), Ordering::Release);
        }
    }

    /// Whether the last event in the slot of `sequence` was published or skipped, so that its writer
    /// no longer writes there.
    #[inline]
    pub(crate) fn is_sealed_before(self, sequence: u64) -> bool {
        sequence < self.capacity || self.fate(sequence - self.capacity).is_some()
    }

    /// Returns the end of the published events that begin with `first`, up to `most` of them.
    #[inline]
    pub(crate) fn published_from(self, first: u64, most: u64) -> u64 {
        let mut end = first;
        while end < first + most && self.fate(end) == Some(Fate::Published) {
            end += 1;
        }
        end
    }

    /// Skips a sequence that no living writer has claimed, unless it has been published or skipped
    /// before `is_claimed` was called.
    pub(crate) fn skip(self, sequence: u64, is_claimed: impl FnOnce() -> bool) -> Skip {
        let stamp = self.stamp(sequence);
        // P11, Relaxed: the swap compares it.
        let seen = stamp.load(Ordering::Relaxed);
        if Fate::read(seen, sequence).is_some() {
            return Skip::Unneeded;
        }
        if is_claimed() {
            return Skip::Refused;
        }
        // The second look: a writer may have published it and gone on in between. P11, Release: as in
        // `seal`; carries the death of the writer that had it.
        let skipped = Fate::Skipped.stamp(sequence);
        let (success, failure) = (Ordering::Release, Ordering::Relaxed);
        match stamp.compare_exchange(seen, skipped, success, failure) {
            Ok(_) => Skip::Done,
            Err(_) => Skip::Unneeded,
        }
    }
}

/// What [`Shared::skip`] has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Skip {
    Done,
    /// It was published or skipped already.
    Unneeded,
    /// A writer may have claimed it.
    Refused,
}
