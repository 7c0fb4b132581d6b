//! The computation of a consumer over its events. A lost, repeated, stale or misplaced event
//! changes the answer.

/// A running answer over a sequence of digests. The order matters, because each step rotates the
/// previous answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold(u64);

/// The answer over no events. It is not zero, so that the loss of an event with digest zero also
/// changes the answer.
const EMPTY: u64 = 0x9E37_79B9_7F4A_7C15;

/// Bits by which one event rotates the answer. The number is odd, so a weight returns only after 64
/// events.
const ROTATION_BITS: u32 = 5;

impl Fold {
    /// Creates the fold over no events.
    pub(crate) const fn new() -> Self {
        Self(EMPTY)
    }

    /// Adds the digest of the next event. This takes two instructions, so the fold hardly limits a
    /// contender. The fold is not a sum because a digest is one. The compiler would merge both into
    /// one long chain, for some contenders and not for others. Each event of 256 bytes would then
    /// wait 33 cycles for the one before it.
    #[inline]
    pub(crate) fn add(&mut self, digest: u64) {
        self.0 = self.0.rotate_left(ROTATION_BITS) ^ digest;
    }

    /// Returns the answer over all digests so far.
    pub(crate) const fn answer(self) -> u64 {
        self.0
    }
}

impl Default for Fold {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the answer over `digests`, in order.
    fn answer_over(digests: &[u64]) -> u64 {
        let mut fold = Fold::new();
        for digest in digests {
            fold.add(*digest);
        }
        fold.answer()
    }

    #[test]
    fn answer_changes_when_an_event_is_lost_repeated_or_swapped() {
        let answer = answer_over(&[0, 1, 2, 3]);

        assert_ne!(answer, answer_over(&[1, 2, 3]), "the first event is lost");
        assert_ne!(answer, answer_over(&[0, 1, 2]), "the last event is lost");
        assert_ne!(answer, answer_over(&[0, 1, 1, 2, 3]), "one is repeated");
        assert_ne!(answer, answer_over(&[0, 2, 1, 3]), "two are swapped");
    }
}
