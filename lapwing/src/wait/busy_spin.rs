//! Spinning on the CPU: the lowest latency, for threads that have a CPU each.

use super::waiting::SPINS_PER_CLOCK;
use super::{WaitStrategy, Waiting};
use crate::sync::spin_loop;

/// Looks again and again. A producer or a worker gives the CPU's pause hint in between; a consumer does so for half a
/// microsecond or more, or multiplies for a moment, then looks [without a break](WaitStrategy::SPINS) some hundred times, and
/// begins anew.
///
/// On Linux and x86-64 the CPU of such a consumer presumes at each look that an event is there, and may have begun with it when it is: a
/// lone one is handled, and answered, sooner. While there is none, its CPU loads what the handler would load, also from where other
/// threads write. `RUSTFLAGS="--cfg lapwing_plain_looks"` leaves that out, as a compiler without labels in assembly (Cranelift) needs it.
/// So it is where there are several producers, for workers, and on a thread with a shadow stack.
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
