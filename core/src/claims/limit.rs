//! How far one producer may claim. Below its window, a claim needs no check. Below its limit, which
//! is the gate as last loaded plus the capacity, a check moves the window. Beyond the limit, a
//! check loads the gate again.
//!
//! ```text
//!     next claim           window                            limit
//!  ───────┼───────────────────┼─────────────────────────────────┼───
//!         │ one comparison    │ a check, which moves the window │ a check, which loads the gate
//! ```

use std::ops::Range;

use super::gate;
use crate::Sequence;
use crate::advice::ClaimAdvice;
use crate::control::Control;
use crate::error::ClaimError;

/// The window and the limit of one producer, and its advice.
#[derive(Debug)]
pub(super) struct ClaimLimit<A> {
    /// First sequence that is not granted without a check; at most `limit`.
    window: Sequence,
    /// First sequence that could not be claimed when the gate was last loaded. It is never too
    /// high, since the gate never goes back.
    limit: Sequence,
    pub(super) advice: A,
}

impl<A: ClaimAdvice> ClaimLimit<A> {
    /// Creates the limit of a producer that has not loaded the gate yet. Its first claim is
    /// checked.
    pub(super) fn new(advice: A, first: Sequence) -> Self {
        Self { window: first, limit: first, advice }
    }

    /// Returns the first sequence that is not granted without a check.
    pub(super) fn window(&self) -> Sequence {
        self.window
    }

    /// Ensures that `claim` may be granted. Never waits.
    ///
    /// # Errors
    ///
    /// [`ClaimError::Full`], or the reason why the ring grants nothing more; see
    /// [`gate::read_limit`].
    #[inline]
    pub(super) fn reach(
        &mut self,
        control: &Control,
        claim: Range<Sequence>,
    ) -> Result<(), ClaimError> {
        if claim.end <= self.window { Ok(()) } else { self.check(control, claim) }
    }

    /// Returns the end of the longest claim from `next` that may be granted, at most `wanted`.
    ///
    /// # Errors
    ///
    /// The same as of [`reach`](Self::reach), if `next` itself cannot be claimed.
    pub(super) fn reach_up_to(
        &mut self,
        control: &Control,
        next: Sequence,
        wanted: Sequence,
    ) -> Result<Sequence, ClaimError> {
        if wanted > self.limit {
            self.read_gate(control, next..next + 1)?;
        }
        let end = wanted.min(self.limit);
        self.reach(control, next..end)?;
        Ok(end)
    }

    #[cold]
    #[inline(never)]
    fn check(&mut self, control: &Control, claim: Range<Sequence>) -> Result<(), ClaimError> {
        if claim.end > self.limit {
            self.read_gate(control, claim.clone())?;
        }
        // The clamp holds for any advice: the window covers this claim and ends at the limit at the
        // latest.
        self.window = self.advice.window(&claim, self.limit).clamp(claim.end, self.limit);
        Ok(())
    }

    /// Moves the limit. If the ring grants nothing more, each later claim loads the gate again and is
    /// refused too, even before the thread that ends the ring has stopped the grants.
    fn read_gate(&mut self, control: &Control, claim: Range<Sequence>) -> Result<(), ClaimError> {
        let limit = gate::read_limit(control, claim);
        if let Err(ClaimError::Closed | ClaimError::Halted(_)) = limit {
            (self.window, self.limit) = (0, 0);
            control.publication().window().close();
        }
        self.limit = limit?;
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::advice::Plain;
    use crate::claims::tests::control_of_one_producer;

    /// Advice that chooses a fixed window.
    #[derive(Debug)]
    struct Window(Sequence);

    impl ClaimAdvice for Window {
        fn window(&mut self, _: &Range<Sequence>, _: Sequence) -> Sequence {
            self.0
        }
    }

    #[test]
    fn nothing_is_granted_beyond_the_gate_whatever_the_advice_is() {
        for advice in [0, 1, 5, 63, u64::MAX] {
            for capacity in [1, 2, 4, 64] {
                let control = control_of_one_producer(capacity);
                let mut limit = ClaimLimit::new(Window(advice), 0);
                for finished in 0..3 * capacity {
                    let end = finished + capacity;
                    for next in finished..end {
                        assert_eq!(limit.reach(&control, next..next + 1), Ok(()), "{capacity}");
                        assert!(next < limit.window && limit.window <= end, "{limit:?}");
                    }
                    assert_eq!(limit.reach(&control, end..end + 1), Err(ClaimError::Full));
                    control.stages().of(0).store(finished + 1);
                }
            }
        }
    }

    #[test]
    fn plain_advice_reads_the_gate_once_a_lap() {
        let control = control_of_one_producer(64);
        let mut limit = ClaimLimit::new(Plain, 0);
        limit.reach(&control, 0..1).unwrap();
        assert_eq!(limit.window(), 64);
    }
}
