//! [`TunedReads`]: the [`ReadAdvice`] of a consumer, put together from the pieces beside this file.
//! Each piece is described in its own file.

use std::ops::Range;

use super::line_ownership::LineOwnership;
use super::prefetch::Prefetch;
use crate::Sequence;
use crate::protocol::advice::ReadAdvice;
use crate::protocol::control::StageIndex;
use crate::protocol::ring::Ring;
use crate::protocol::ring_buffer::Addresses;
use crate::protocol::stamps::Stamps;

/// Advice on what to prefetch, and which cache lines to acquire before the consumer releases them.
///
/// While the consumer waits, each failed poll prefetches the cache line of the event. That line
/// then arrives together with the line of the polled word, so a single event costs one transfer
/// between cores instead of two. In a stream of events this prefetch would take a second cache line
/// from the producer.
#[derive(Debug)]
pub(crate) struct TunedReads {
    slots: Prefetch,
    stamps: Option<Prefetch>,
    lines: LineOwnership,
}

impl TunedReads {
    /// The advice for `stage` of `ring`.
    pub(crate) fn of<E>(ring: &Ring<E>, stage: StageIndex) -> Self {
        let slots = Addresses::of(&ring.buffer);
        let stamps = ring.control.stamps.as_ref().map(Stamps::addresses);
        let first = ring.control.finished_by(stage);
        Self {
            slots: Prefetch(slots),
            stamps: stamps.map(Prefetch),
            lines: LineOwnership::of(slots.slots(), first),
        }
    }
}

impl ReadAdvice for TunedReads {
    #[inline]
    fn waits_for(&self, next: Sequence) {
        self.slots.first_line(next);
    }

    #[inline]
    fn wants_lines_of(&mut self, done: Range<Sequence>) -> bool {
        self.lines.wants(done)
    }

    #[inline(never)]
    unsafe fn acquire_lines(&self, events: Range<Sequence>) {
        if let Some(stamps) = self.stamps {
            // SAFETY: I15, by the caller: a stamp is written with its claim, and again only with
            // the claim of the next lap.
            unsafe { stamps.acquire(events.clone()) };
        }
        // SAFETY: I15, by the caller.
        unsafe { self.slots.acquire(events) };
    }
}
