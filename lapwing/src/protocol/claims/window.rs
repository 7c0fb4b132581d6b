//! The claim window of the only producer of a ring: one word, which says that the slots are free and that the ring is open.
//!
//! ```text
//! producer, at a check           a thread that closes or halts the ring
//! window = how far               flag: the ring has ended
//! light fence                    heavy fence
//! flag? then window = 0          window = 0
//! ```
//!
//! Either the producer sees the flag, or the 0 comes after what the producer stored (O33). So once a close or a halt has
//! returned, every claim is checked, and learns of it. (Where the system refuses a heavy fence that it had granted before, a
//! claim may be granted yet, and its publication learns of it.)
//!
//! Asking a flag before each claim instead costs a stream 0.83 of its events on an EPYC (Zen 4).

use crate::Sequence;
use crate::sync::{AtomicU64, Ordering};

/// The word itself; 0, at first as well, where each claim is checked.
#[derive(Debug, Default)]
pub(crate) struct ClaimWindow(AtomicU64);

impl ClaimWindow {
    /// First sequence that may not be claimed without a check.
    #[inline(always)]
    pub(super) fn end(&self) -> Sequence {
        // O33, Relaxed: the producer's own word, or a 0 that says no more than to check.
        self.0.load(Ordering::Relaxed)
    }

    /// Opens the window up to `end`. The producer calls it, then runs the light fence and looks for the flag.
    pub(super) fn open(&self, end: Sequence) {
        // O33, Relaxed: ordered before the look by the fence.
        self.0.store(end, Ordering::Relaxed);
    }

    /// Closes the window.
    pub(crate) fn close(&self) {
        // O33, Relaxed: ordered after the flag by the caller's heavy fence, or the producer's own look.
        self.0.store(0, Ordering::Relaxed);
    }
}
