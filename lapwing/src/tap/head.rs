//! The progress of a tap's writer and whether the tap is closed, in one word.

use lapwing_core::Padded;

use crate::sync::{AtomicU64, Ordering};

/// Set in the word once nothing more will be written. Positions stay far below this bit.
const CLOSED: u64 = 1 << 63;

/// The progress of a writer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Written {
    /// Number of events written, including those that were passed over: the next position.
    pub(super) end: u64,
    /// Whether nothing more will be written.
    pub(super) is_closed: bool,
}

/// The shared progress of the writer. Stored by the writer only, loaded by readers.
#[derive(Debug)]
pub(super) struct Head(Padded<AtomicU64>);

impl Head {
    pub(super) fn new() -> Self {
        Self(Padded(AtomicU64::new(0)))
    }

    /// Publishes the writer's progress. Its stores to the slots come before.
    #[inline]
    pub(super) fn advance(&self, written: Written) {
        let word = if written.is_closed { written.end | CLOSED } else { written.end };
        // O22, Release: pairs with the Acquire in `look`; carries the states of the slots.
        self.0.store(word, Ordering::Release);
    }

    /// Returns the writer's progress; the writer may be further by now.
    #[inline]
    pub(super) fn look(&self) -> Written {
        // O22, Acquire: pairs with the Release in `advance`; brings the states of the slots.
        let word = self.0.load(Ordering::Acquire);
        Written { end: word & !CLOSED, is_closed: word & CLOSED != 0 }
    }
}
