//! What the counter of several producers is expected to be: where this producer's last claim ended.
//!
//! A claim from an expected counter needs no load. A load behind the compare-and-swap of the claim before waits until that
//! has ended, and the next compare-and-swap waits for the load.
//!
//! A wrong number is a compare-and-swap that fails, which acquires the counter's line. So the counter is expected only after
//! some claims in a row of this producer, as it has them in a stream, whose producers back off from each other.
//!
//! Worth (`perf/results/experiments.md`, "A claim without a load of the counter"): three producers 1.53, two 1.68, one of
//! several 1.85 on a Xeon (Emerald Rapids), where a load behind a locked instruction takes 5 ns; 0.87 to 1.01 on an EPYC (Zen 4),
//! where it costs little.

use std::ops::Range;

use crate::Sequence;

/// Most claims in a row after which the next is not expected to follow. In a model each is.
const EXPECTED_AFTER: u32 = if cfg!(loom) { 0 } else { 16 };

/// The claims of one producer between which no other producer has claimed.
#[derive(Debug, Default)]
pub(super) struct ExpectedCounter {
    /// Where the last one ended.
    end: Sequence,
    /// How many there are; none before the first.
    length: u32,
}

impl ExpectedCounter {
    /// The counter, if it is to be expected.
    #[inline(always)]
    pub(super) fn get(&self) -> Option<Sequence> {
        (self.length > EXPECTED_AFTER).then_some(self.end)
    }

    /// The producer has claimed up to `end`, from what was expected.
    #[inline(always)]
    pub(super) fn confirm(&mut self, end: Sequence) {
        self.end = end;
    }

    /// The producer has claimed `claim`, from what the counter was.
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
    fn the_counter_is_expected_after_some_claims_in_a_row() {
        let mut expected = ExpectedCounter::default();
        for start in 5..5 + u64::from(EXPECTED_AFTER) {
            expected.follow(&(start..start + 1));
            assert_eq!(expected.get(), None);
        }
        expected.follow(&(21..23));
        assert_eq!(expected.get(), Some(23));
        expected.confirm(24);
        assert_eq!(expected.get(), Some(24));
        expected.follow(&(30..31));
        assert_eq!(expected.get(), None);
    }
}
