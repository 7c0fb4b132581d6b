//! Spinning on the CPU: the lowest latency, for threads that have a CPU each.

use super::waiting::SPINS_PER_CLOCK;
use super::{WaitStrategy, Waiting};
use crate::sync::spin_loop;

/// Looks again and again. A producer or a worker gives the CPU's pause hint in between; a consumer does so for half a
/// microsecond or more, or pauses for a few nanoseconds, then looks [without a break](WaitStrategy::SPINS) some hundred times, and
/// begins anew. Which of the two it tries.
///
/// For events that come one by one. Of a fast stream each look takes a line that the producer writes: where events are small and
/// a line takes long, [the default](super::Adaptive), which keeps away from streams, does up to twenty times as many a second.
///
/// With the cargo feature `predicted-branch`, on Linux and x86-64, the CPU predicts of each poll of a consumer that it finds an
/// event. It has then begun to handle the event when its cache line arrives: about an eighth of a lone event's latency where CPUs
/// share a cache. The costs: while there is no event, the CPU loads what the handler would load, also from where other threads
/// write; the stack is off by one word for some instructions, which a profiler or an unwinder in a signal handler may meet; and the
/// assembly needs LLVM. A thread with a shadow stack does without. The feature holds for each strategy as long as it polls.
///
/// Use it only where each spinning thread has a CPU of its own: on fewer, it takes the CPU from the
/// very thread that it waits for.
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
