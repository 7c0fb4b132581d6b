//! Spinning that lets others run: low latency, for as many threads as CPUs or a few more.

use super::{WaitStrategy, Waiting};

/// Looks `spins` times, then yields the CPU before each further look. Where the threads of the ring want more CPUs than they
/// get, it yields at once: who is waited for may need this very CPU.
///
/// ```
/// use lapwing::wait::Yielding;
///
/// assert_eq!(Yielding::default().spins, 100);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Yielding {
    /// Looks before the first yield, in iterations.
    pub spins: u32,
}

impl Default for Yielding {
    /// 100 spins, as in LMAX's strategy of this name.
    fn default() -> Self {
        Self { spins: 100 }
    }
}

impl WaitStrategy for Yielding {
    const PARKS: bool = false;

    fn wait(&mut self, waiting: &Waiting<'_>) {
        let load = waiting.load;
        if load.is_oversubscribed() || !waiting.spin(self.spins) {
            waiting.repeat(1, || _ = load.give_way());
        }
    }
}
