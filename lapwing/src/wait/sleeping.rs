//! Polling with sleeps in between: little CPU, and no thread has to wake the waiter.

use std::time::Duration;

use super::{WaitStrategy, Waiting};

/// Polls `spins` times, then `yields` times with a yield in between, then sleeps before each further poll.
/// Under oversubscription, when the threads of the ring need more CPUs than they get, it yields at once.
///
/// An event that comes during a sleep waits for the end of that sleep, which determines the latency. Linux
/// adds its timer slack, 50 µs by default, to each sleep. A close and a halt end a sleep of any length. While
/// a closed ring drains, a sleep lasts at most a millisecond.
///
/// ```
/// use std::time::Duration;
/// use lapwing::wait::Sleeping;
///
/// let relaxed = Sleeping { sleep: Duration::from_millis(1), ..Sleeping::default() };
/// assert_eq!(relaxed.spins, 100);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Sleeping {
    /// Polls before the first yield, in iterations.
    pub spins: u32,
    /// Polls before the first sleep, in iterations.
    pub yields: u32,
    /// Length of each sleep.
    pub sleep: Duration,
}

impl Default for Sleeping {
    /// 100 spins and 100 yields, as in LMAX's strategy of this name, then sleeps of 50 µs. With its default
    /// timer slack, Linux makes shorter sleeps about as long.
    fn default() -> Self {
        Self { spins: 100, yields: 100, sleep: Duration::from_micros(50) }
    }
}

impl WaitStrategy for Sleeping {
    const PARKS: bool = false;

    fn wait(&mut self, waiting: &Waiting<'_>) {
        let is_seen = !waiting.load.is_oversubscribed() && waiting.spin(self.spins);
        if is_seen || waiting.yield_up_to(self.yields) {
            return;
        }
        while !waiting.is_over() && !waiting.is_expired() {
            waiting.sleep(self.sleep);
        }
    }
}
