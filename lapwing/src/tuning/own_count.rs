//! Whether the only producer of a ring counts its claims itself instead of loading the cursor.
//!
//! In a stream, a load of the cursor is cheap, since the last store to the cursor is still in the
//! producer's store buffer or cache. A count would add one store per event, which reduces
//! throughput to 0.7 to 0.85 where stores wait for cache lines.
//!
//! A consumer that waits for each event takes the cursor's cache line from the producer. A claim
//! that loads the cursor then waits for that line before it knows which slot to write, and
//! afterwards waits for the slot's cache line. With a count, the claim knows the slot at once.
//!
//! Measured gain (E48 and E68 in `lab/results/experiments.md`): single events back to back are 1.3
//! times as fast on a Xeon (Emerald Rapids) and 1.8 times on an EPYC (Zen 4). A single event after
//! an idle period is 1.3 and 1.4 times as fast. The cost in a stream is in E52.

use std::ops::Range;

use crate::Sequence;

/// Events between two decisions.
pub(super) const EVENTS_PER_CHOICE: u64 = 1 << 12;
/// A first stage with a backlog below this waits for most of its events.
#[cfg(not(loom))]
const FEW: u64 = 4;

/// The choice of one producer.
#[derive(Debug)]
pub(super) struct OwnCount {
    is_kept: bool,
    /// A claim that ends beyond this sequence decides again.
    until: Sequence,
}

impl OwnCount {
    /// Creates a choice that the first claim makes.
    pub(super) fn starting_at(first: Sequence) -> Self {
        Self { is_kept: false, until: first }
    }

    /// Returns whether the producer keeps a count, as last decided.
    pub(super) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Returns whether to keep a count from `claim` on. `backlog` returns how many events the first
    /// stage has not finished.
    pub(super) fn decide(
        &mut self,
        claim: &Range<Sequence>,
        backlog: impl FnOnce() -> u64,
    ) -> bool {
        if claim.end > self.until {
            self.until = claim.end + EVENTS_PER_CHOICE;
            self.is_kept = waits(backlog);
        }
        self.is_kept
    }
}

/// Whether a consumer with this backlog waits for most of its events.
#[cfg(not(loom))]
fn waits(backlog: impl FnOnce() -> u64) -> bool {
    backlog() < FEW
}

#[cfg(loom)]
std::thread_local! {
    /// The result of `waits` in a model. False by default, since a producer that keeps a count has
    /// no claim window.
    pub(crate) static COUNTS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

#[cfg(loom)]
fn waits(_: impl FnOnce() -> u64) -> bool {
    COUNTS.get()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_kept_while_a_consumer_waits_for_each_event() {
        let mut count = OwnCount::starting_at(0);
        let (mut next, mut kept) = (0, vec![]);
        for backlog in [0, 100, 3, 4] {
            for _ in 0..2 * EVENTS_PER_CHOICE {
                let is_kept = count.decide(&(next..next + 1), || backlog);
                next += 1;
                if kept.last() != Some(&is_kept) {
                    kept.push(is_kept);
                }
            }
        }
        assert_eq!(kept, [true, false, true, false]);
    }
}
