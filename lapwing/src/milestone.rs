//! How far the only producer of a ring had published when it had to look at the gate.
//!
//! The cursor says more, and sooner, but the producer stores it for each event: whoever looks there takes the line, and the
//! producer's stores wait until it is back. A milestone is stored hardly more often than once for each part of the ring that
//! is let go of, while the producer waits for a line anyway. So a consumer that keeps away from a stream may watch it all the
//! time: what it shows is all that the producer could publish, or could when it looked. See `perf/results/experiments.md`.

use crate::Sequence;
use crate::sync::{AtomicU64, Ordering, own};

/// The word itself. It never goes back; 0 until the first milestone.
#[derive(Debug, Default)]
pub(crate) struct Milestone(AtomicU64);

impl Milestone {
    /// The only producer has published everything below `end`, and may claim no more without a look at the gate.
    pub(crate) fn reach(&self, end: Sequence) {
        // A producer that looks again and again leaves the line to who watches.
        if own(&self.0) != end {
            // O31, Release: pairs with the Acquire in `end`; carries the events below it.
            self.0.store(end, Ordering::Release);
        }
    }

    /// First sequence that the producer had not published when it last looked.
    #[inline(always)]
    pub(crate) fn end(&self) -> Sequence {
        // O31, Acquire: pairs with the Release in `reach`; brings the events below it.
        self.0.load(Ordering::Acquire)
    }
}

/// The next milestone of a consumer that has finished all below `next`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NextMilestone<'a> {
    pub(crate) milestone: &'a Milestone,
    pub(crate) next: Sequence,
}

impl NextMilestone<'_> {
    /// How far the producer had published, if it has reached it.
    #[inline(always)]
    pub(crate) fn reached(self) -> Option<Sequence> {
        Some(self.milestone.end()).filter(|&end| end > self.next)
    }
}
