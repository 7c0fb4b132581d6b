//! How a consumer that spins looks for its next event, between two looks at its time limit and at a stop: for a microsecond
//! or two.
//!
//! With some space after a look: in a stream the next event comes meanwhile, and its producer is to keep its lines until it
//! has a few. Whoever waits for longer than half a microsecond waits for a lone event, which is seen sooner without hints.
//!
//! Which of two ways is tried (`trial`). With hardly any space, since a look in vain of which the CPU presumes that it is not
//! (`presumption`) costs some nanoseconds by itself: an event is seen as soon as it is there. More makes it later; a
//! hint lets the look that follows begin only when it has ended. Or with three hints and nothing presumed, which leaves the
//! lines to who writes them for longer: so a stream may do better, and, where a line takes long, who answers as fast as it is
//! answered. See `perf/results/experiments.md`.

use crate::Sequence;
use crate::trial::Trial;
use crate::wait::{Looks, Space};

/// Where events take longer than this, their consumer is not what is waited for.
const SLOW_NS: u64 = 10_000;
/// Looks before it looks up. One in a model, which is as good as any number.
const ALL: u32 = if cfg!(loom) { 1 } else { 256 };
/// With hardly any space, presumed to find something.
const SHORT: Looks = Looks { all: ALL, spaced: ALL, space: Space::Moment, presumes: true };
/// With more, presumed to find nothing, as a CPU does by itself.
pub(super) const LONG: Looks =
    Looks { all: ALL, spaced: 11, space: Space::Hints(3), presumes: false };

/// The looks of one consumer.
#[derive(Debug)]
pub(super) struct LearntLooks(Trial<SLOW_NS>);

impl LearntLooks {
    /// Of a consumer whose first event is `first`.
    pub(super) fn starting_at(first: Sequence) -> Self {
        Self(Trial::starting_at(first))
    }

    /// How to look for the event `next`, which was not there.
    #[inline(always)]
    pub(super) fn next(&mut self, next: Sequence) -> Looks {
        if self.0.is_first_at(next) { SHORT } else { LONG }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::trial::EVENTS_PER_STRETCH;

    #[test]
    fn a_consumer_that_waits_tries_both_and_begins_with_little_space() {
        let mut looks = LearntLooks::starting_at(7);
        let ways: Vec<_> = (7..7 + 4 * EVENTS_PER_STRETCH)
            .map(|next| looks.next(next))
            .map(|Looks { space, presumes, .. }| (space, presumes))
            .collect();
        assert_eq!(ways[0], (SHORT.space, true));
        assert!(ways.contains(&(LONG.space, false)), "never tried");
    }
}
