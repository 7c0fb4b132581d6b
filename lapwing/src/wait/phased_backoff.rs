//! Spinning, then yielding, then another strategy, each phase for a time of its own.

use std::time::Duration;

use super::waiting::SPINS_PER_CLOCK;
use super::{WaitStrategy, Waiting};
use crate::sync::{spin_loop, yield_now};

/// Spins for a while, then yields the CPU between looks for a while, then waits by `F`.
///
/// It says in times what the other strategies say in numbers of looks, so it means the same on every
/// machine. Each look of each phase sees the end of the wait, be it the event, a close, a halt or
/// the caller's time limit.
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
/// assert_eq!(poller.wait()?.as_slice(), [7]); // in whichever phase
/// # thread.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PhasedBackoff<F> {
    spin: Duration,
    yielding: Duration,
    fallback: F,
}

impl<F: WaitStrategy> PhasedBackoff<F> {
    /// Spins for `spin`, yields for `yielding` after that, then waits by `fallback`. A duration of
    /// zero leaves its phase out; one that is too long for the clock never ends.
    ///
    /// The clock is read seldom: after every 64 looks that spin, and after each that yields.
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
            || waiting.repeat_for(self.yielding, 1, yield_now);
        if !is_ended {
            self.fallback.wait(waiting);
        }
    }
}
