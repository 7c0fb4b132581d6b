//! Where the next claim of a producer begins, as far as it knows by itself: where its last one ended, while nobody else claims.
//!
//! The counter need not be loaded then. A load behind the compare-and-swap of the claim before waits until that has ended, and
//! the next one waits for the load: 3 ns of 11 on an Emerald Rapids. See `perf/results/experiments.md`.
//!
//! Who only seems to be alone finds out by a swap that fails, which costs a line. So it counts on being alone only after some
//! claims of its own in a row, as it has them in a stream, whose producers keep off from each other (`back_off`).

use std::ops::Range;

use crate::Sequence;

/// Most claims in a row after which the next is not expected to follow. In a model each is.
const EXPECTED_AFTER: u32 = if cfg!(loom) { 0 } else { 16 };

/// The claims of one producer between which nobody else has claimed.
#[derive(Debug, Default)]
pub(super) struct Streak {
    /// Where the last one ended.
    end: Sequence,
    /// How many there are; none before the first.
    length: u32,
}

impl Streak {
    /// Where the next claim begins, if it is to be expected.
    #[inline(always)]
    pub(super) fn next(&self) -> Option<Sequence> {
        (self.length > EXPECTED_AFTER).then_some(self.end)
    }

    /// This was claimed where it was expected.
    #[inline(always)]
    pub(super) fn go_on(&mut self, end: Sequence) {
        self.end = end;
    }

    /// This was claimed.
    #[inline(always)]
    pub(super) fn follow(&mut self, claim: &Range<Sequence>) {
        self.length = if claim.start == self.end { self.length.saturating_add(1) } else { 1 };
        self.end = claim.end;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_next_claim_is_expected_after_some_in_a_row() {
        let mut streak = Streak::default();
        for start in 5..5 + u64::from(EXPECTED_AFTER) {
            streak.follow(&(start..start + 1));
            assert_eq!(streak.next(), None);
        }
        streak.follow(&(21..23));
        assert_eq!(streak.next(), Some(23));
        streak.go_on(24);
        assert_eq!(streak.next(), Some(24));
        streak.follow(&(30..31));
        assert_eq!(streak.next(), None);
    }
}
