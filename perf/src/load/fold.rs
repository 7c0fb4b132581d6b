//! What a consumer computes over its events, so that a lost, repeated, stale or misplaced event
//! changes the answer.

/// A running answer over a sequence of digests. Order matters: each step rotates what came before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold(u64);

/// The answer over no events. Not zero, so that losing an event whose digest is zero shows as well.
const EMPTY: u64 = 0x9E37_79B9_7F4A_7C15;

/// Bits by which one event shifts the weight of all before it. Odd, so that 64 events pass before a
/// weight returns.
const ROTATION_BITS: u32 = 5;

impl Fold {
    /// The fold over no events.
    pub(crate) const fn new() -> Self {
        Self(EMPTY)
    }

    /// Adds the next event's digest: two instructions, so the fold hardly limits a contender. No sum, since a digest is one:
    /// the compiler would make one long chain of both, for some contenders and not for others, in which each event of 256
    /// bytes waits for the one before it for 33 cycles.
    #[inline]
    pub(crate) fn add(&mut self, digest: u64) {
        self.0 = self.0.rotate_left(ROTATION_BITS) ^ digest;
    }

    /// The answer over every digest added so far.
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

    /// The answer over `digests`, in order.
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
