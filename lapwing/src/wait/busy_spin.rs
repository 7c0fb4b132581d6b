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
/// On Linux and x86-64, in a ring with one producer, the CPU of a consumer that gives no hints presumes that the event is there,
/// and may have begun with it when it is: a lone one is handled, and answered, sooner. While there is none, it loads what the handler
/// would load, also from where other threads write. That holds for other strategies as well, as long as they look. A thread with
/// a shadow stack does without, and so does what is built with `RUSTFLAGS="--cfg lapwing_plain_looks"`, as a compiler needs it
/// that knows no labels in assembly (Cranelift).
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
