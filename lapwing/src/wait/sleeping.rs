//! Polling with sleeps in between: little CPU, and no thread has to wake the waiting thread.

use std::time::Duration;

use super::{Step, WaitStrategy, Waiting};

/// A strategy that polls `spins` times, then `yields` times with a yield after each poll, and then
/// sleeps before each further poll.
///
/// An event that arrives during a sleep waits for its end, so the sleep determines the latency.
/// Linux adds its timer slack, 50 µs by default, to each sleep. A close or a halt of the ring, or a
/// stop of the stage, ends a sleep of any length. While a closed ring drains, a sleep lasts at most
/// a millisecond.
///
/// Under oversubscription, when the ring has more runnable threads than CPUs, the thread yields at
/// once. [Beside busy threads](super#beside-busy-threads) of other programs, it sleeps instead of
/// yielding.
///
/// ```
/// use std::time::Duration;
/// use lapwing::{Disruptor, wait::Sleeping};
///
/// let relaxed = Sleeping { sleep: Duration::from_millis(1), ..Sleeping::default() };
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).wait_strategy(relaxed).stage("all").poller().build()?;
/// let mut poller = consumers.take_poller("all")?;
/// let thread = std::thread::spawn(move || producer.publish(|event| *event = 7));
/// assert_eq!(poller.wait()?.as_slice(), [7]); // about a millisecond late, if the thread slept
/// thread.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Sleeping {
    /// Number of polls before the first yield.
    pub spins: u32,
    /// Number of polls with a yield before the first sleep.
    pub yields: u32,
    /// Length of each sleep, up to the time limit of the wait. With zero, the thread polls without
    /// pause.
    pub sleep: Duration,
}

impl Default for Sleeping {
    /// 100 spins and 100 yields, as in the LMAX strategy of this name, then sleeps of 50 µs. The
    /// default timer slack of Linux makes shorter sleeps about as long.
    fn default() -> Self {
        Self { spins: 100, yields: 100, sleep: Duration::from_micros(50) }
    }
}

impl WaitStrategy for Sleeping {
    const PARKS: bool = false;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        match waiting.steps() {
            0 => Step::Poll(if waiting.is_oversubscribed() { 0 } else { self.spins }),
            step if step <= self.yields.into() && !waiting.is_yield_refused() => Step::Yield,
            _ => Step::Sleep(self.sleep),
        }
    }
}
