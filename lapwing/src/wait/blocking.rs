//! Sleeping in the operating system until woken: no CPU while idle.

use super::{WaitStrategy, Waiting};

/// Looks `spins` times, then parks until what it waits for advances.
///
/// It parks on an empty ring, on a stage upstream and on a full ring alike, and costs the other
/// side one load of a line that nobody writes, as long as nobody sleeps.
///
/// ```
/// use lapwing::wait::{Blocking, WaitStrategy};
///
/// assert!(Blocking::PARKS);
/// assert_eq!(Blocking::default().spins, 100);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Blocking {
    /// Looks before it parks, in iterations.
    pub spins: u32,
}

impl Default for Blocking {
    /// 100 spins, about a microsecond: far less than a wake-up costs.
    fn default() -> Self {
        Self { spins: 100 }
    }
}

impl WaitStrategy for Blocking {
    const PARKS: bool = true;

    fn wait(&mut self, waiting: &Waiting<'_>) {
        if !waiting.spin(self.spins) {
            waiting.park();
        }
    }
}
