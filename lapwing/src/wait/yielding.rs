//! Polling with yields in between: low latency, for as many threads as CPUs or a few more.

use super::{Step, WaitStrategy, Waiting};

/// A strategy that polls `spins` times, and then yields the CPU after each further poll.
///
/// Under oversubscription, when the ring has more runnable threads than CPUs, the thread yields at
/// once: the thread that it waits for may need this CPU. [Beside busy
/// threads](super#beside-busy-threads) of other programs, a yield takes a time slice, so the thread
/// sleeps for about 65 µs instead.
///
/// ```
/// use lapwing::{Disruptor, wait::Yielding};
///
/// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
///     .wait_strategy(Yielding { spins: 1000 })
///     .stage("all").poller()
///     .build()?;
/// let mut poller = consumers.take_poller("all")?;
/// let thread = std::thread::spawn(move || producer.publish(|event| *event = 7));
/// assert_eq!(poller.wait()?.as_slice(), [7]);
/// thread.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Yielding {
    /// Number of polls before the first yield.
    pub spins: u32,
}

impl Default for Yielding {
    /// 100 spins, as in the LMAX strategy of this name.
    fn default() -> Self {
        Self { spins: 100 }
    }
}

impl WaitStrategy for Yielding {
    const PARKS: bool = false;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        if waiting.steps() == 0 && !waiting.is_oversubscribed() {
            Step::Poll(self.spins)
        } else {
            Step::Yield
        }
    }
}
