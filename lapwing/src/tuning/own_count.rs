//! Whether the only producer of a ring keeps a count of its own instead of reading the cursor.
//!
//! In a stream the cursor is at hand, since the last store of it has hardly left the CPU, and a count would be one more store
//! for each event: 0.7 to 0.85 of the throughput where stores wait for cache lines. But a consumer that waits for each event
//! takes the cursor's line, and a claim would wait for that to come back before it knows which slot to write, whose line has
//! to come as well.
//!
//! Worth (`perf/results/experiments.md`, "A lone event through a ring"): a lone event back to back 1.3 on a Xeon (Emerald Rapids) and 1.8 on
//! an EPYC (Zen 4), after a pause 1.3 and 1.4.

use std::ops::Range;

use super::ab_test::EVENTS_PER_STRETCH;
use crate::Sequence;

/// A first stage that has fewer events before it waits for most of them.
#[cfg(not(loom))]
const FEW: u64 = 4;

/// The choice of one producer.
#[derive(Debug)]
pub(super) struct OwnCount {
    is_kept: bool,
    /// A claim beyond this sequence decides anew.
    until: Sequence,
}

impl OwnCount {
    /// One that the first claim decides.
    pub(super) fn starting_at(first: Sequence) -> Self {
        Self { is_kept: false, until: first }
    }

    /// Whether to keep a count from `claim` on, where the first stage has so many events before it.
    pub(super) fn is_kept(
        &mut self,
        claim: &Range<Sequence>,
        backlog: impl FnOnce() -> u64,
    ) -> bool {
        if claim.end > self.until {
            self.until = claim.end + EVENTS_PER_STRETCH;
            self.is_kept = waits(backlog);
        }
        self.is_kept
    }
}

/// Whether a consumer that has so many events before it waits for most of them.
#[cfg(not(loom))]
fn waits(backlog: impl FnOnce() -> u64) -> bool {
    backlog() < FEW
}

#[cfg(loom)]
std::thread_local! {
    /// What `waits` says in a model: only if it asks for it, since a producer that counts has no window.
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
            for _ in 0..2 * EVENTS_PER_STRETCH {
                let is_kept = count.is_kept(&(next..next + 1), || backlog);
                next += 1;
                if kept.last() != Some(&is_kept) {
                    kept.push(is_kept);
                }
            }
        }
        assert_eq!(kept, [true, false, true, false]);
    }
}
