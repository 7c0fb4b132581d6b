//! The default: lets others run while events flow, and parks when they do not.

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

/// Keeps away for a learnt gap, yields the CPU between looks for a while, then parks: low latency
/// while events flow, no CPU when they do not.
///
/// It does not look again at once, since a waiter that does takes the very cache line that the other
/// side is writing. The gap before the first look doubles as long as what is waited for is there
/// when it ends, so that a steady stream is taken in batches, and halves when it is not, so that
/// a lone event is not kept waiting. After that it yields between looks: where threads outnumber
/// CPUs, that gives the CPU to the thread that it waits for.
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
    /// Pause hints before the first look.
    gap: u32,
}

impl WaitStrategy for Adaptive {
    const PARKS: bool = true;

    fn wait(&mut self, waiting: &Waiting<'_>) {
        pause(self.gap);
        if waiting.is_over() {
            self.gap = (2 * self.gap).clamp(SHORTEST_GAP, LONGEST_GAP);
            return;
        }
        self.gap /= 2;
        if !waiting.yield_up_to(YIELDS) {
            waiting.park();
        }
    }
}
