//! [`TunedReads`]: the [`ReadAdvice`] of a consumer, put together from the pieces beside this file.
//! Each piece is described in its own file.

use std::ops::Range;

use lapwing_core::StageIndex;
use lapwing_core::advice::ReadAdvice;

use super::line_ownership::LineOwnership;
use super::prefetch::Prefetch;
use crate::Sequence;
use crate::ring::Ring;

/// Advice on what to prefetch, and which cache lines to acquire before the consumer releases them.
///
/// While the consumer waits, each failed poll prefetches the cache line of the event. That line
/// then arrives together with the line of the polled word, so a single event costs one transfer
/// between cores instead of two. In a stream of events this prefetch would take a second cache line
/// from the producer.
#[derive(Debug)]
pub(crate) struct TunedReads {
    slots: Prefetch,
    lines: LineOwnership,
}

impl TunedReads {
    /// The advice for `stage` of `ring`.
    pub(crate) fn of<E>(ring: &Ring<E>, stage: StageIndex) -> Self {
        let slots = ring.core.addresses();
        let first = ring.control().finished_by(stage);
        Self { slots: Prefetch(slots), lines: LineOwnership::of(slots.slots(), first) }
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
}
