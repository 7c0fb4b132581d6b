//! [`TunedClaims`]: the [`ClaimAdvice`] of a producer, put together from the pieces beside this
//! file. Each piece is described in its own file.

use std::ops::Range;

use lapwing_core::advice::ClaimAdvice;

use super::back_off::BackOff;
use super::expected_counter::ExpectedCounter;
use super::own_count::{EVENTS_PER_CHOICE, OwnCount};
use super::prefetch_window::PrefetchWindow;
use crate::Sequence;
use crate::ring::Ring;

/// Advice on when to prefetch slots, whether to count claims, what to expect in the counter, and
/// how long to back off.
#[derive(Debug)]
#[cfg_attr(lapwing_plain, allow(unreachable_pub))]
pub struct TunedClaims {
    window: PrefetchWindow,
    count: OwnCount,
    expected: ExpectedCounter,
    back_off: BackOff,
}

impl TunedClaims {
    /// Creates the advice for a new producer of `ring`.
    pub(crate) fn of<E>(ring: &Ring<E>) -> Self {
        let slots = ring.core.addresses();
        let (is_multi, first) = (ring.control().is_multi(), ring.control().claimed());
        Self {
            window: PrefetchWindow::new(slots, is_multi, first),
            count: OwnCount::starting_at(first),
            expected: ExpectedCounter::default(),
            back_off: BackOff::default(),
        }
    }
}

impl ClaimAdvice for TunedClaims {
    fn window(&mut self, claim: &Range<Sequence>, limit: Sequence) -> Sequence {
        // The choice whether to keep a count is made at checks only.
        let end = limit.min(claim.end + EVENTS_PER_CHOICE);
        if self.count.is_kept() { end } else { self.window.after(claim, end) }
    }

    fn keeps_count(&mut self, claim: &Range<Sequence>, backlog: impl FnOnce() -> u64) -> bool {
        self.count.decide(claim, backlog)
    }

    #[inline]
    fn expected_counter(&self) -> Option<Sequence> {
        self.expected.get()
    }

    #[inline]
    fn claimed(&mut self, claim: &Range<Sequence>) {
        self.expected.follow(claim);
    }

    fn back_off(&mut self) {
        self.back_off.wait();
    }

    fn backed_off(&mut self, others: u64) {
        self.back_off.learn(others);
    }
}
