//! Which value a producer expects in the claim counter, which all producers of a ring share: the
//! end of its own last claim.
//!
//! With an expected value, a claim is a single compare-and-swap without a load. A load would wait
//! for the compare-and-swap of the previous claim, and the next compare-and-swap would wait for the
//! load.
//!
//! A wrong expectation costs a failed compare-and-swap, which acquires ownership of the counter's
//! cache line. A producer therefore expects a value only after more than [`EXPECTED_AFTER`] claims
//! in a row. Such runs occur in a stream, where producers back off from each other.
//!
//! Measured gain in throughput with three producers (E18 and E75 in
//! `lab/results/experiments.md`):
//!
//! - Xeon (Emerald Rapids), where a load after a locked instruction takes 5 ns: 1.24 to 1.53 times.
//! - EPYC (Zen 4), where such a load costs little: 0.87 to 1.01 times.

use std::ops::Range;

use crate::Sequence;
use crate::sync::IS_CHECKED;

/// A producer expects the counter after more than this many claims in a row; in a model, after each
/// claim.
const EXPECTED_AFTER: u32 = if IS_CHECKED { 0 } else { 16 };

/// The latest run of claims of one producer, in which no other producer claimed.
#[derive(Debug, Default)]
pub(super) struct ExpectedCounter {
    /// The end of the last claim.
    end: Sequence,
    /// Number of claims in the run; 0 before the first claim.
    length: u32,
}

impl ExpectedCounter {
    /// The expected value of the counter, or `None` if the run is too short.
    #[inline]
    pub(super) fn get(&self) -> Option<Sequence> {
        (self.length > EXPECTED_AFTER).then_some(self.end)
    }

    /// Records `claim`.
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
        expected.follow(&(23..24));
        assert_eq!(expected.get(), Some(24));
        expected.follow(&(30..31));
        assert_eq!(expected.get(), None);
    }
}
