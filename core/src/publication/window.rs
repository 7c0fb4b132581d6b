//! The claim window of a single producer: one word that tells it how far the slots are free while
//! the ring is open. Below the window, a claim needs no other check.
//!
//! ```text
//! producer, at a check           a thread that closes or halts the ring
//! window = how far               flag: the ring has ended
//! light fence                    heavy fence
//! flag? then window = 0          window = 0
//! ```
//!
//! Either the producer sees the flag, or the store of 0 follows the producer's store (O33). Once a
//! close or a halt has returned, every claim is therefore checked and sees the end.
//!
//! Without the window, each claim would load a flag. That reduces the throughput of a stream to
//! 0.83 on an EPYC (Zen 4).

use crate::Sequence;
use crate::sync::{AtomicU64, Ordering};

/// First sequence that needs a check; 0 if every claim is checked, as in a new ring.
#[derive(Debug, Default)]
pub(crate) struct ClaimWindow(AtomicU64);

impl ClaimWindow {
    /// Returns the first sequence that may not be claimed without a check.
    #[inline]
    pub(crate) fn end(&self) -> Sequence {
        // O33, Relaxed: the value is the producer's own, or a 0 that only forces a check.
        self.0.load(Ordering::Relaxed)
    }

    /// Opens the window up to `end`. The producer must then run the light fence and check the flag.
    pub(crate) fn open(&self, end: Sequence) {
        // O33, Relaxed: the fence orders it before the load of the flag.
        self.0.store(end, Ordering::Relaxed);
    }

    /// Closes the window, so that every claim is checked.
    pub(crate) fn close(&self) {
        // O33, Relaxed: the caller's heavy fence, or the producer's own load, orders it after the
        // flag.
        self.0.store(0, Ordering::Relaxed);
    }
}
