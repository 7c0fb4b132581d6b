//! How far a tap has been written, and whether that was all: one word.

use crate::padded::Padded;
use crate::sync::{AtomicU64, Ordering};

/// Set in the word when nothing more will be written. Positions are far below it.
const CLOSED: u64 = 1 << 63;

/// How far a tap has been written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Written {
    /// Events written, those that were passed over included: the next position.
    pub(super) end: u64,
    /// Whether nothing more will be written.
    pub(super) is_closed: bool,
}

/// What the writer has written, for readers to look at. Written by the writer alone.
#[derive(Debug)]
pub(super) struct Head(Padded<AtomicU64>);

impl Head {
    pub(super) fn new() -> Self {
        Self(Padded(AtomicU64::new(0)))
    }

    /// Says how far the writer is. What it did with the slots comes before.
    #[inline]
    pub(super) fn advance(&self, written: Written) {
        let word = if written.is_closed { written.end | CLOSED } else { written.end };
        // O22, Release: pairs with the Acquire in `look`; carries the states of the slots.
        self.0.store(word, Ordering::Release);
    }

    /// How far the writer was, at least.
    #[inline]
    pub(super) fn look(&self) -> Written {
        // O22, Acquire: pairs with the Release in `advance`; brings the states of the slots.
        let word = self.0.load(Ordering::Acquire);
        Written { end: word & !CLOSED, is_closed: word & CLOSED != 0 }
    }
}
