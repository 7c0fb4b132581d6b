//! How far the only producer of a ring may claim and look at nothing else: one word, which says that the slots are free, that
//! the ring has not ended, and that the cursor is at hand.
//!
//! ```text
//! producer, at a look            whoever closes or halts the ring
//! clearance = how far            flag: it has ended
//! light fence                    heavy fence
//! flag? then clearance = 0       clearance = 0
//! ```
//!
//! Either the producer sees the flag, or the other's 0 comes after what the producer gave (O33). So once a close or a halt has
//! returned, every claim looks, and learns of it. (Where the system refuses a heavy fence that it had granted before, a claim
//! may be granted yet, and its publication learns of it.)

use crate::Sequence;
use crate::sync::{AtomicU64, Ordering};

/// The word itself; 0, at first as well, where a claim has to look.
#[derive(Debug, Default)]
pub(crate) struct Clearance(AtomicU64);

impl Clearance {
    /// First sequence that may not be claimed without a look; 0 if none may.
    #[inline(always)]
    pub(crate) fn end(&self) -> Sequence {
        // O33, Relaxed: the producer's own word, or a 0 that says no more than to look.
        self.0.load(Ordering::Relaxed)
    }

    /// Gives the producer clearance up to `end`; the producer's to call, which then runs the light fence and looks for the flag.
    pub(crate) fn give(&self, end: Sequence) {
        // O33, Relaxed: ordered before the look by the fence.
        self.0.store(end, Ordering::Relaxed);
    }

    /// Takes it away.
    pub(crate) fn withdraw(&self) {
        // O33, Relaxed: ordered after the flag by the caller's heavy fence, or the producer's own look.
        self.0.store(0, Ordering::Relaxed);
    }
}
