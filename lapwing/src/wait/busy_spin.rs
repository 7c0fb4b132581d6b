//! Spinning on the CPU: the lowest latency, for threads that have a CPU each.

use super::polls::SPINS_PER_CLOCK;
use super::{WaitStrategy, Waiting};
use crate::sync::spin_loop;

/// Polls without end. A producer or a worker runs a pause hint after each poll. A consumer does so too, or
/// runs three hints after each of its first polls and none after the others; an A/B test chooses. See
/// [`SPINS`](WaitStrategy::SPINS).
///
/// It suits events that come one by one. In a fast stream, each poll takes a cache line that the producer
/// writes. If events are small and cache lines take long, [the default](super::Adaptive), which backs off
/// from streams, reaches up to twenty times the throughput.
///
/// With the cargo feature `predicted-branch`, on Linux and x86-64, the CPU predicts that each poll of a
/// consumer finds an event. It has then begun to handle the event when its cache line arrives. That saves
/// about an eighth of the latency of a lone event where CPUs share a cache. The costs: while there is no
/// event, the CPU loads what the handler would load, also from memory that other threads write. The stack
/// pointer is off by one word for some instructions, which a profiler or an unwinder in a signal handler may
/// see. The assembly needs LLVM. A thread with a shadow stack does without the prediction. The feature
/// applies to each strategy while its consumer polls.
///
/// Use it only if each spinning thread has a CPU of its own. With fewer CPUs, it takes the CPU from the very
/// thread that it waits for.
///
/// ```
/// use lapwing::wait::{BusySpin, WaitStrategy};
///
/// assert!(!BusySpin::PARKS);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct BusySpin;

impl WaitStrategy for BusySpin {
    const PARKS: bool = false;
    const SPINS: bool = true;

    fn wait(&mut self, waiting: &Waiting<'_>) {
        waiting.repeat(SPINS_PER_CLOCK, spin_loop);
    }
}
