//! The state of a ring, from open to closed or halted, and the sequence at which its events end.
//! Not here: the steps of a close or a halt (`control::ending`).
//!
//! ```text
//! open ──close──> closing ──the end is fixed──> closed    consumers drain up to `end`, then finish
//!   └─────────────── halt, from any state ────> halted    consumers stop after their batch
//! ```
//!
//! A halt also fixes the end. A producer can then tell an event that was published before the halt
//! from one that no consumer will see.
//!
//! Each thread that closes or halts the ring computes an end. So do the only producer and a consumer
//! that joins, if they see a close in progress. The first one to store it fixes the end. So no thread
//! waits for another one that has begun a close and lost its CPU.

use crate::Sequence;
use crate::error::{Cause, Ended};
use crate::sync::{AtomicU64, Ordering};

/// A close or a halt has begun; `end` may not be fixed yet.
const CLOSING: u64 = 1;
/// The ring is halted. The bits from [`CAUSE_SHIFT`] on give the reason.
const HALTED: u64 = 2;
/// Bit position of the code of the [`Cause`].
const CAUSE_SHIFT: u32 = 2;

/// The value of `end` until it is fixed. No sequence is as large.
const NOT_FIXED: Sequence = Sequence::MAX;

/// The state of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It accepts events.
    Open,
    /// A close or a halt has begun, and the end is not fixed yet.
    Closing,
    /// It accepts no more events.
    Closed,
    /// Its consumers stop.
    Halted,
}

/// The words of the life of a ring: [`STATE`], [`END`] and [`PRODUCERS`].
pub(crate) type LifeWords = [AtomicU64; 3];

/// The word with the bits of the constants above. Written by a close or a halt, read by all threads.
const STATE: usize = 0;
/// The first sequence that the ring does not accept, or [`NOT_FIXED`]. Written once.
const END: usize = 1;
/// The number of producers and other endpoints that can publish, leaked ones included. Dropping the
/// last one closes the ring.
const PRODUCERS: usize = 2;

/// The state of a ring, on a cache line that is rarely written and often read.
#[derive(Debug)]
pub(crate) struct Life(LifeWords);

impl Default for Life {
    fn default() -> Self {
        Self([0, NOT_FIXED, 0].map(AtomicU64::new))
    }
}

impl Life {
    /// Returns the words, for monitors.
    pub(crate) fn words(&self) -> &LifeWords {
        &self.0
    }

    /// Whether the ring is neither closing, closed nor halted.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        // O8, Relaxed: at the gate, a producer's load is advice. A consumer's load after the cursor
        // is ordered by the light fence before it; a parking thread's load follows the epoch (O7).
        self.0[STATE].load(Ordering::Relaxed) == 0
    }

    /// Whether the ring is halted.
    #[inline]
    pub(crate) fn is_halted(&self) -> bool {
        self.halt_cause().is_some()
    }

    /// Returns why the ring is halted, if it is.
    #[inline]
    pub(crate) fn halt_cause(&self) -> Option<Cause> {
        // O10, Relaxed: the flag publishes no other data.
        let state = self.0[STATE].load(Ordering::Relaxed);
        (state & HALTED != 0).then(|| Cause::new((state >> CAUSE_SHIFT) as u8))
    }

    /// Returns `Ok` if the ring is open.
    ///
    /// # Errors
    ///
    /// [`Ended::Closed`] or [`Ended::Halted`], if the ring is not open.
    pub(crate) fn check_open(&self) -> Result<(), Ended> {
        if self.is_open() { Ok(()) } else { Err(self.why_not_open()) }
    }

    /// Returns why a ring that is not open refuses producers.
    #[cold]
    pub(crate) fn why_not_open(&self) -> Ended {
        self.halt_cause().map_or(Ended::Closed, Ended::Halted)
    }

    /// Returns the first sequence that the ring does not accept, once it is fixed.
    pub(crate) fn end(&self) -> Option<Sequence> {
        end_of(&self.0)
    }

    /// Begins to close the ring. The caller then fixes the end.
    pub(crate) fn begin_close(&self) {
        // O8, Relaxed: the heavy fence in `Control::close_claims` orders it before the load of the
        // cursor.
        self.0[STATE].fetch_or(CLOSING, Ordering::Relaxed);
    }

    /// Begins to halt the ring, unless it is halted already. The caller then fixes the end.
    pub(crate) fn begin_halt(&self, cause: Cause) {
        let halted = HALTED | CLOSING | u64::from(cause.code()) << CAUSE_SHIFT;
        let halt = |state| (state & HALTED == 0).then_some(state | halted);
        // O8, Relaxed: the heavy fence in `Control::close_claims` orders it before the load of the
        // cursor. O10: parked threads see it with the epoch, which advances after it (O7). An error
        // means that the ring is halted already.
        let _ = self.0[STATE].fetch_update(Ordering::Relaxed, Ordering::Relaxed, halt);
    }

    /// Fixes the end at `end`, unless it is fixed already. Returns the end.
    pub(crate) fn fix_end(&self, end: Sequence) -> Sequence {
        // O9, Release: pairs with the Acquire in `end`; carries that no more claims are granted, and
        // what came before the close. Relaxed on failure: only the number is used.
        let (success, failure) = (Ordering::Release, Ordering::Relaxed);
        match self.0[END].compare_exchange(NOT_FIXED, end, success, failure) {
            Ok(_) => end,
            Err(fixed) => fixed,
        }
    }

    /// Returns the number of producers; a snapshot.
    pub(crate) fn producers(&self) -> u64 {
        // O13, Relaxed: a figure.
        self.0[PRODUCERS].load(Ordering::Relaxed)
    }

    /// Counts one more producer; returns how many there are.
    pub(crate) fn add_producer(&self) -> u64 {
        // O11, Relaxed: the caller holds a producer, so the count cannot reach zero meanwhile.
        self.0[PRODUCERS].fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Counts one producer less; returns true if it was the last.
    pub(crate) fn remove_producer(&self) -> bool {
        // O11, AcqRel: the removal of the last producer happens after all that the others
        // published.
        self.0[PRODUCERS].fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// Returns the state, as a thread sees it that has loaded the cursor and then run a fence.
pub(crate) fn state_of(words: &LifeWords) -> State {
    // O8, Relaxed: ordered by the fence that the caller ran.
    let state = words[STATE].load(Ordering::Relaxed);
    if state & HALTED != 0 {
        State::Halted
    } else if end_of(words).is_some() {
        State::Closed
    } else if state & CLOSING != 0 {
        State::Closing
    } else {
        State::Open
    }
}

/// Returns the first sequence that the ring does not accept, once it is fixed.
pub(crate) fn end_of(words: &LifeWords) -> Option<Sequence> {
    // O9, Acquire: pairs with the Release in `fix_end`; brings that no more claims are granted,
    // and what came before the close.
    let end = words[END].load(Ordering::Acquire);
    (end != NOT_FIXED).then_some(end)
}
