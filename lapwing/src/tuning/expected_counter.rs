//! Which value a producer expects in the counter that several producers share: the end of its own last claim.
//!
//! A claim from an expected value needs no load. A load would wait for the compare-and-swap of the claim
//! before, and the next compare-and-swap would wait for the load.
//!
//! A wrong expectation costs a failed compare-and-swap, which acquires the cache line of the counter. A
//! producer therefore expects a value only after some claims in a row. It gets such runs in a stream, where
//! producers back off from each other.
//!
//! Worth (`perf/results/experiments.md`, "A claim without a load of the counter"): three producers 1.53, two
//! 1.68, one of several 1.85 on a Xeon (Emerald Rapids), where a load after a locked instruction takes 5 ns;
//! 0.87 to 1.01 on an EPYC (Zen 4), where it costs little.

use std::ops::Range;

use crate::Sequence;

/// The counter is expected after more than this many claims in a row. In a model, after each claim.
const EXPECTED_AFTER: u32 = if cfg!(loom) { 0 } else { 16 };

/// The latest claims of one producer between which no other producer has claimed.
#[derive(Debug, Default)]
pub(super) struct ExpectedCounter {
    /// The end of the last one.
    end: Sequence,
    /// Their number; 0 before the first claim.
    length: u32,
}

impl ExpectedCounter {
    /// The expected counter, if there is one.
    #[inline]
    pub(super) fn get(&self) -> Option<Sequence> {
        (self.length > EXPECTED_AFTER).then_some(self.end)
    }

    /// The producer has claimed up to `end`, from the expected counter.
    #[inline]
    pub(super) fn confirm(&mut self, end: Sequence) {
        self.end = end;
    }

    /// The producer has claimed `claim`, after a load of the counter.
    #[inline]
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
