//! Spinning, then yielding, then another strategy, with a duration for each of the first two phases.

use std::time::Duration;

use super::waiting::SPINS_PER_CLOCK;
use super::{WaitStrategy, Waiting};
use crate::sync::spin_loop;

/// A strategy that polls for a duration, then polls with yields for another duration, and then
/// waits with `F`.
///
/// Its phases are durations, so they are equally long on every machine. The phases of
/// [`Yielding`](super::Yielding) and [`Sleeping`](super::Sleeping) are numbers of polls.
///
/// Each poll notices whether the wait [is over](Waiting::is_over). In the first two phases, each
/// read of the clock notices the time limit. Beside [busy threads](super#beside-busy-threads), the
/// second phase polls without yields.
///
/// Of `F`, only [`wait`](WaitStrategy::wait) and [`PARKS`](WaitStrategy::PARKS) apply. With
/// [`Adaptive`](super::Adaptive) as `F`, for example, a consumer is not
/// [paced](WaitStrategy::pace).
///
/// ```
/// use std::time::Duration;
/// use lapwing::Disruptor;
/// use lapwing::wait::{Blocking, PhasedBackoff, Sleeping, WaitStrategy};
///
/// let (spin, yielding) = (Duration::from_micros(5), Duration::from_micros(50));
/// let then_parks = PhasedBackoff::new(spin, yielding, Blocking { yields: 0 });
///
/// assert!(PhasedBackoff::<Blocking>::PARKS && !PhasedBackoff::<Sleeping>::PARKS);
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).wait(then_parks).stage("all").poller().build()?;
/// let mut poller = consumers.take_poller("all")?;
/// let thread = std::thread::spawn(move || producer.publish(|event| *event = 7));
/// assert_eq!(poller.wait()?.as_slice(), [7]); // in any phase
/// thread.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PhasedBackoff<F> {
    spin: Duration,
    yielding: Duration,
    fallback: F,
}

impl<F: WaitStrategy> PhasedBackoff<F> {
    /// Creates a strategy that polls for `spin`, then polls with yields for `yielding`, and then
    /// waits with `fallback`.
    ///
    /// A phase of zero length is skipped. A phase that is too long for the clock ends only with the
    /// wait. The clock is read after every 64 polls of the first phase, and after each poll of the
    /// second. A phase is timed from its first read of the clock.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use lapwing::wait::{PhasedBackoff, Sleeping};
    /// use lapwing::{Disruptor, error::WaitTimeoutError};
    ///
    /// let ms = Duration::from_millis(1);
    /// let every_ms = Sleeping { sleep: ms, ..Sleeping::default() };
    /// let (_producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .wait(PhasedBackoff::new(ms, ms, every_ms))
    ///     .stage("all").poller()
    ///     .build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// let start = Instant::now();
    /// // Nothing is published: all phases pass.
    /// assert_eq!(poller.wait_timeout(5 * ms).err(), Some(WaitTimeoutError::TimedOut));
    /// assert!(start.elapsed() >= 5 * ms);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn new(spin: Duration, yielding: Duration, fallback: F) -> Self {
        Self { spin, yielding, fallback }
    }
}

impl<F: WaitStrategy> WaitStrategy for PhasedBackoff<F> {
    const PARKS: bool = F::PARKS;

    fn wait(&mut self, waiting: &Waiting<'_>) {
        let is_ended = waiting.repeat_for(self.spin, SPINS_PER_CLOCK, spin_loop)
            || waiting.repeat_for(self.yielding, 1, || _ = waiting.load.give_way());
        if !is_ended {
            self.fallback.wait(waiting);
        }
    }
}
