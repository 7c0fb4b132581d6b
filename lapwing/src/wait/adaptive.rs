//! The default: lets others run while events flow, and parks when they do not.

use super::{WaitStrategy, Waiting};

/// Looks with a yield in between before it parks: about 50 µs on an idle CPU, which is what parking
/// and being woken costs, so that neither choice is ever far from the better one.
const YIELDS: u32 = 200;

/// Yields the CPU between looks for a while, then parks: low latency while events flow, no CPU when
/// they do not.
///
/// It does not spin. A yield with nobody else to run takes a fraction of a microsecond, in which
/// whoever is waited for writes on undisturbed; a waiter that looks again at once takes the very
/// cache line that the other side is writing. And where threads outnumber CPUs, it gives its CPU to
/// the thread that it waits for.
///
/// ```
/// use lapwing::wait::{Adaptive, WaitStrategy};
///
/// assert!(Adaptive::PARKS);
/// # let _ = Adaptive::default();
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Adaptive {
    yields: u32,
}

impl Default for Adaptive {
    fn default() -> Self {
        Self { yields: YIELDS }
    }
}

impl WaitStrategy for Adaptive {
    const PARKS: bool = true;

    fn wait(&mut self, waiting: &Waiting<'_>) {
        if !waiting.yield_up_to(self.yields) {
            waiting.park();
        }
    }
}
