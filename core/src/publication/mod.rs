//! What is claimed and published. With one producer, the cursor is the end of the published events.
//! With several, it is the end of the claims, and a stamp for each slot says what became of its
//! claim. Not here: which claims are granted (`claims`).

mod stamps;
mod window;

pub use stamps::Span;
pub(crate) use stamps::{Fate, Stamps, settled_prefix};

use std::sync::atomic::AtomicBool;

use window::ClaimWindow;

use crate::Sequence;
use crate::padded::Padded;
use crate::sync::{AtomicU64, Ordering, own};

/// A bit of the cursor of a ring with several producers that is set when no more claims are granted.
/// Sequences stay below it: at a billion events per second they reach it after 292 years, or after
/// half of that from [`MAX_FIRST_SEQUENCE`](crate::MAX_FIRST_SEQUENCE).
const CLAIMS_CLOSED: u64 = 1 << 63;

/// What the producers of one ring have claimed and published.
#[derive(Debug)]
pub(crate) struct Publication {
    /// Single producer: end of the published events. Multi-producer: end of the claims, and the bit
    /// [`CLAIMS_CLOSED`].
    cursor: Padded<AtomicU64>,
    /// Single producer: how far it may claim without a check.
    window: Padded<ClaimWindow>,
    /// Which slots are published; only with several producers.
    stamps: Option<Stamps>,
    /// Whether the only producer has been made. It orders nothing, and no model depends on it.
    has_producer: AtomicBool,
}

impl Publication {
    /// Creates the words of a ring whose first event has the sequence `first`. A ring with several
    /// producers has `stamps`.
    pub(crate) fn new(first: Sequence, stamps: Option<Stamps>) -> Self {
        let (cursor, has_producer) = (Padded(AtomicU64::new(first)), AtomicBool::new(false));
        Self { cursor, window: Padded::default(), stamps, has_producer }
    }

    /// Whether several producers publish.
    #[inline]
    pub(crate) fn is_multi(&self) -> bool {
        self.stamps.is_some()
    }

    /// Returns the stamps, if several producers publish.
    #[inline]
    pub(crate) fn stamps(&self) -> Option<&Stamps> {
        self.stamps.as_ref()
    }

    /// Returns the end of the published events; with several producers, of the claims.
    pub(crate) fn claimed(&self) -> Sequence {
        claimed_by(&self.cursor)
    }

    /// Returns the word of [`claimed`](Self::claimed), for monitors.
    pub(crate) fn word(&self) -> &AtomicU64 {
        &self.cursor
    }
}

/// Returns the end of the published events, or of the claims, that this cursor says.
pub(crate) fn claimed_by(cursor: &AtomicU64) -> Sequence {
    // O13, Relaxed: a snapshot.
    cursor.load(Ordering::Relaxed) & !CLAIMS_CLOSED
}

/// The words of a single producer.
impl Publication {
    /// Records that the only producer is made. Returns false if it was made before.
    pub(crate) fn take_producer(&self) -> bool {
        // O13, Relaxed: one modification order decides.
        !self.has_producer.swap(true, Ordering::Relaxed)
    }

    /// Returns the end of the published events, for the producer, which is the only thread that
    /// stores it.
    #[inline]
    pub(crate) fn own_end(&self) -> Sequence {
        own(&self.cursor)
    }

    /// Returns the first sequence that the only producer has not published.
    ///
    /// It may be past the end of a ring that is being closed, so the caller checks for a close
    /// afterwards (O8).
    #[inline]
    pub(crate) fn end(&self) -> Sequence {
        // O1, Acquire: pairs with the Release in `publish`; brings the events.
        self.cursor.load(Ordering::Acquire)
    }

    /// Publishes every event below `end`. Only the producer calls this, which has filled them.
    #[inline]
    pub(crate) fn publish(&self, end: Sequence) {
        // O1, Release: pairs with the Acquire in `end`; carries the events below `end`.
        self.cursor.store(end, Ordering::Release);
    }

    /// Returns how far the only producer may claim without a check.
    #[inline]
    pub(crate) fn window(&self) -> &ClaimWindow {
        &self.window
    }

    /// Closes the window and returns the end of the published events. The caller has set the flag
    /// for the end of the ring and then run the heavy fence (O8, O33).
    pub(crate) fn close_window(&self) -> Sequence {
        self.window.close();
        // O8, Relaxed: only the number is used.
        self.cursor.load(Ordering::Relaxed)
    }
}

/// The words of several producers.
impl Publication {
    /// Returns the claim counter. It is beyond every sequence once no more claims are granted.
    #[inline]
    pub(crate) fn counter(&self) -> u64 {
        // O12, Relaxed: the counter only assigns numbers. The right to the slot comes from the gate
        // (O2).
        self.cursor.load(Ordering::Relaxed)
    }

    /// Claims `claimed..end` if the counter still has the value `claimed`.
    #[inline]
    pub(crate) fn try_claim(&self, claimed: Sequence, end: Sequence) -> bool {
        // O12, Relaxed: the counter only assigns numbers, for both outcomes.
        let ordering = Ordering::Relaxed;
        self.cursor.compare_exchange_weak(claimed, end, ordering, ordering).is_ok()
    }

    /// Stops granting claims, after the caller has set the state. Returns the end of the claims.
    pub(crate) fn close_counter(&self) -> Sequence {
        // O12, Release: pairs with the Acquire of a thread whose claim fails; carries the reason.
        // One modification order decides which claims came first; their events come with their
        // stamps (O4).
        self.cursor.fetch_or(CLAIMS_CLOSED, Ordering::Release) & !CLAIMS_CLOSED
    }
}

/// Sets the end of the claims, for a test.
#[cfg(all(test, not(loom)))]
impl Publication {
    pub(crate) fn set(&self, cursor: Sequence) {
        self.cursor.store(cursor, Ordering::Relaxed);
    }
}
