//! The state of a ring, from open to closed or halted, and the sequence at which its events end.
//!
//! ```text
//! open ──close──> closing ──the end is known──> closed      consumers drain up to `end`, then finish
//!   └─────────────── halt, from any state ────> halted      consumers stop after their batch
//! ```
//!
//! A halt fixes the end as a close does. So a producer can tell an event that was published before the halt from one that no
//! consumer will see.

use crate::Sequence;
use crate::error::{HaltCause, RingError};
use crate::sync::{AtomicU32, AtomicU64, Ordering, yield_now};

/// A close or a halt has begun; `end` may not be known yet.
const CLOSING: u32 = 1;
/// The ring is closed or halted, and `end` is known.
const CLOSED: u32 = 2;
/// The ring is halted. The bits from [`CAUSE_SHIFT`] on say why.
const HALTED: u32 = 4;
/// Position of the code of the [`HaltCause`].
const CAUSE_SHIFT: u32 = 3;

/// State of a ring. On a line that is written a few times in the ring's life and read all the time.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Life {
    /// Bits of the constants above. Written by whoever closes or halts, read by everybody.
    state: AtomicU32,
    /// Number of endpoints that can publish, forgotten ones included. The last one to go closes the
    /// ring.
    producers: AtomicU64,
    /// First sequence that the ring does not accept; valid once `CLOSED` is set.
    end: AtomicU64,
}

impl Life {
    /// Whether the ring is neither closing, closed nor halted.
    #[inline(always)]
    pub(crate) fn is_open(&self) -> bool {
        // O8, Relaxed: a producer's look at the gate is advice; a consumer's after it has read the cursor is
        // ordered by the light fence before it; a sleeper's comes after the epoch (O7).
        self.state.load(Ordering::Relaxed) == 0
    }

    /// Whether the ring is halted.
    #[inline]
    pub(crate) fn is_halted(&self) -> bool {
        self.halt_cause().is_some()
    }

    /// Why the ring is halted, if it is.
    #[inline]
    pub(crate) fn halt_cause(&self) -> Option<HaltCause> {
        // O10, Relaxed: nothing is read on the strength of it.
        let state = self.state.load(Ordering::Relaxed);
        (state & HALTED != 0).then(|| HaltCause::of_code(state >> CAUSE_SHIFT))
    }

    /// Whether a close or a halt has begun.
    pub(crate) fn is_closing(&self) -> bool {
        // O8, Relaxed: ordered by the light fence that the caller ran.
        self.state.load(Ordering::Relaxed) & CLOSING != 0
    }

    /// Returns if the ring is open.
    ///
    /// # Errors
    ///
    /// Why a producer gets nothing any more.
    pub(crate) fn check_open(&self) -> Result<(), RingError> {
        if self.is_open() { Ok(()) } else { Err(self.why_not_open()) }
    }

    /// Why a producer gets nothing any more, of a ring that is not open.
    #[cold]
    pub(crate) fn why_not_open(&self) -> RingError {
        self.halt_cause().map_or(RingError::Closed, RingError::Halted)
    }

    /// First sequence that the ring does not accept, once that is known.
    pub(crate) fn end(&self) -> Option<Sequence> {
        // O9, Acquire: pairs with the Release in `finish_close`; brings `end`.
        let state = self.state.load(Ordering::Acquire);
        // O9, Relaxed: stored before `CLOSED` was.
        (state & CLOSED != 0).then(|| self.end.load(Ordering::Relaxed))
    }

    /// As [`end`](Self::end), for a caller that saw a close or a halt begin.
    ///
    /// # Blocking
    ///
    /// Waits until the thread that closes or halts the ring has taken the last steps of
    /// [`Control::close`](crate::protocol::control::Control::close): a few instructions and one `membarrier`.
    #[cold]
    pub(crate) fn settled_end(&self) -> Sequence {
        loop {
            if let Some(end) = self.end() {
                return end;
            }
            yield_now();
        }
    }

    /// Refuses later events; true for the one caller that has to find the end.
    pub(crate) fn begin_close(&self) -> bool {
        // O8, Relaxed: ordered against the look at the cursor by the heavy fence in
        // `Control::close_claims`.
        self.state.fetch_or(CLOSING, Ordering::Relaxed) & CLOSING == 0
    }

    /// As [`begin_close`](Self::begin_close), and halts the ring, unless it is halted.
    pub(crate) fn begin_halt(&self, cause: HaltCause) -> bool {
        let halted = HALTED | CLOSING | cause.code() << CAUSE_SHIFT;
        let halt = |state| (state & HALTED == 0).then_some(state | halted);
        // O8, Relaxed: as in `begin_close`. O10: sleepers see it with the epoch that is advanced after it (O7).
        let before = self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, halt);
        before.is_ok_and(|state| state & CLOSING == 0)
    }

    /// Makes the end known.
    pub(crate) fn finish_close(&self, end: Sequence) {
        // O9, Relaxed: released by the next line.
        self.end.store(end, Ordering::Relaxed);
        // O9, Release: pairs with the Acquire in `end`; carries `end`.
        self.state.fetch_or(CLOSED, Ordering::Release);
    }

    /// Counts one more producer.
    pub(crate) fn add_producer(&self) {
        // O11, Relaxed: the caller has a producer, so the count is not zero meanwhile.
        self.producers.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts one producer less; true if it was the last one.
    pub(crate) fn remove_producer(&self) -> bool {
        // O11, AcqRel: whoever removes the last one comes after all that the others published.
        self.producers.fetch_sub(1, Ordering::AcqRel) == 1
    }
}
