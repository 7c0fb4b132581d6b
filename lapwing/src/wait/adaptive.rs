//! The default: lets others run while events flow, and parks when they do not.

use std::mem;

use super::{WaitStrategy, Waiting};
use crate::sync::pause;

/// Looks with a yield in between before it parks: about 50 µs on an idle CPU, which is what parking
/// and being woken costs, so that neither choice is ever far from the better one.
const YIELDS: u32 = 200;
/// Shortest gap but none, in pause hints.
const SHORTEST_GAP: u32 = 8;
/// Longest gap, in pause hints: one to two microseconds. Twice as long was no better; see
/// `perf/results/experiments.md`.
const LONGEST_GAP: u32 = 128;
/// Where each look finds fewer events than this, without a wait, it comes too soon: about what is
/// published in the longest gap.
const FEW_EVENTS: u64 = 1024;

/// Keeps away for a learnt gap, yields the CPU between looks for a while, then parks: low latency
/// while events flow, no CPU when they do not.
///
/// It does not look again at once, since a waiter that does takes the very cache line that the other
/// side is writing. The gap before the first look doubles as long as what is waited for is there
/// when it ends, so that a steady stream is taken in batches, and halves when it is not, so that
/// a lone event is not kept waiting. After that it yields between looks: where threads outnumber
/// CPUs, that gives the CPU to the thread that it waits for.
///
/// A consumer that just keeps up never waits, and finds a few events at each look. It
/// [paces](WaitStrategy::pace) itself by a gap between batches, which doubles as long as there is no
/// need to wait afterwards and halves when there is.
///
/// ```
/// use lapwing::Disruptor;
/// use lapwing::wait::{Adaptive, BusySpin, WaitStrategy};
///
/// assert!(Adaptive::PARKS);
/// // The default of stages and producers alike; here for the stages only.
/// let ring = Disruptor::single_producer(8, || 0_u64)
///     .wait(Adaptive::default())
///     .producer_wait(BusySpin)
///     .then("sum", |_, _, _| {})
///     .build();
/// assert!(ring.is_ok());
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Adaptive {
    /// Pause hints before the first look of a wait.
    gap: u32,
    /// Pause hints between two batches.
    pace: u32,
    /// Whether it had to wait since the last batch.
    has_waited: bool,
}

impl Adaptive {
    #[cfg(all(test, not(loom)))]
    pub(super) fn pace_gap(&self) -> u32 {
        self.pace
    }
}

/// Twice the gap, in pause hints.
fn longer(gap: u32) -> u32 {
    (2 * gap).clamp(SHORTEST_GAP, LONGEST_GAP)
}

impl WaitStrategy for Adaptive {
    const PARKS: bool = true;

    fn wait(&mut self, waiting: &Waiting<'_>) {
        self.has_waited = true;
        self.pace /= 2;
        pause(self.gap);
        if waiting.is_over() {
            self.gap = longer(self.gap);
            return;
        }
        self.gap /= 2;
        if !waiting.yield_up_to(YIELDS) {
            waiting.park();
        }
    }

    fn pace(&mut self, events: u64) {
        let has_waited = mem::replace(&mut self.has_waited, false);
        if events >= FEW_EVENTS {
            self.pace /= 2;
        } else if !has_waited {
            // Events that had to be waited for came alone, and so may the next.
            self.pace = longer(self.pace);
        }
        pause(self.pace);
    }
}
