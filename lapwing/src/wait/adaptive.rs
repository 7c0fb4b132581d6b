//! The default: spins while that can pay, lets others run, and parks when it cannot.

use std::thread::available_parallelism;

use super::{WaitStrategy, Waiting};

/// Looks before the first yield, in iterations, where there is more than one CPU.
const SPINS: u32 = 200;
/// Looks with a yield in between, before it parks.
const YIELDS: u32 = 100;

/// Spins for a moment, yields for a while, then parks: low latency while events flow, no CPU when they do not.
///
/// It knows how many CPUs the process may use (affinity mask and cgroup quota, as the standard library
/// reports them) and never spins on a single one.
///
/// ```
/// use lapwing::wait::{Adaptive, WaitStrategy};
///
/// assert!(Adaptive::PARKS);
/// # let _ = Adaptive::default();
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Adaptive {
    spins: u32,
    yields: u32,
}

impl Default for Adaptive {
    fn default() -> Self {
        let cpus = available_parallelism().map_or(1, usize::from);
        Self { spins: if cpus > 1 { SPINS } else { 0 }, yields: YIELDS }
    }
}

impl WaitStrategy for Adaptive {
    const PARKS: bool = true;

    fn wait(&mut self, waiting: &Waiting<'_>) {
        if !waiting.spin(self.spins) && !waiting.yield_up_to(self.yields) {
            waiting.park();
        }
    }
}
