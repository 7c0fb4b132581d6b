//! Spinning, then yielding, then another strategy, with a duration for each of the first two phases.

use std::time::{Duration, Instant};

use super::{Step, WaitStrategy, Waited, Waiting};
use crate::sync::now;

/// Polls of the first phase between two reads of the clock. A read costs as much as one or two
/// polls. The second phase reads the clock each time, since other threads may have used the CPU for
/// long.
const POLLS_PER_CLOCK: u32 = 64;

/// A strategy that polls for a duration, then polls with yields for another duration, and then
/// waits with `F`.
///
/// Its phases are durations, so they are equally long on every machine. The phases of
/// [`Yielding`](super::Yielding) and [`Sleeping`](super::Sleeping) are numbers of polls.
///
/// Beside [busy threads](super#beside-busy-threads), the second phase sleeps for about 65 µs instead
/// of each yield but the first.
///
/// `F` does not [pace](WaitStrategy::pace) the consumer, even if it is
/// [`Adaptive`](super::Adaptive), for example.
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
///     Disruptor::single_producer(8, || 0_u64).wait_strategy(then_parks).stage("all").poller().build()?;
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
    phase: Phase,
    /// When the phase ends, once the clock was read. A phase that is too long for the clock has no
    /// end.
    ends: Option<Option<Instant>>,
}

/// The phase of a wait.
#[derive(Debug, Clone, Copy)]
enum Phase {
    Spin,
    Yield,
    /// The wait of the fallback, from this step on.
    Fallback(u64),
}

impl<F: WaitStrategy> PhasedBackoff<F> {
    /// Creates a strategy that polls for `spin`, then polls with yields for `yielding`, and then
    /// waits with `fallback`.
    ///
    /// A phase of zero length is skipped. A phase that is too long for the clock ends only with the
    /// wait. The clock is read after every 64 polls of the first phase, and before each yield of
    /// the second.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use lapwing::wait::{PhasedBackoff, Sleeping};
    /// use lapwing::{Disruptor, error::PollError};
    ///
    /// let ms = Duration::from_millis(1);
    /// let every_ms = Sleeping { sleep: ms, ..Sleeping::default() };
    /// let (_producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .wait_strategy(PhasedBackoff::new(ms, ms, every_ms))
    ///     .stage("all").poller()
    ///     .build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// let start = Instant::now();
    /// // Nothing is published: all phases pass.
    /// assert_eq!(poller.wait_timeout(5 * ms).err(), Some(PollError::Empty));
    /// assert!(start.elapsed() >= 5 * ms);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn new(spin: Duration, yielding: Duration, fallback: F) -> Self {
        Self { spin, yielding, fallback, phase: Phase::Spin, ends: None }
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.ends = None;
    }

    /// Whether the phase, which takes this `time`, is not over.
    fn lasts(&mut self, time: Duration) -> bool {
        let now = now();
        let ends = *self.ends.get_or_insert_with(|| now.checked_add(time));
        ends.is_none_or(|ends| now < ends)
    }
}

impl<F: WaitStrategy> WaitStrategy for PhasedBackoff<F> {
    const PARKS: bool = F::PARKS;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        let step = waiting.steps();
        if step == 0 {
            self.enter(Phase::Spin);
            if !self.spin.is_zero() {
                return Step::Poll(POLLS_PER_CLOCK);
            }
        }
        loop {
            let phase = self.phase;
            match phase {
                Phase::Spin if self.lasts(self.spin) => return Step::Poll(POLLS_PER_CLOCK),
                Phase::Spin => self.enter(Phase::Yield),
                Phase::Yield if self.lasts(self.yielding) => return Step::Yield,
                Phase::Yield => {
                    let first = self.fallback.next(&waiting.from_step(step));
                    self.enter(Phase::Fallback(step));
                    return first;
                }
                Phase::Fallback(first) => return self.fallback.next(&waiting.from_step(first)),
            }
        }
    }

    fn ended(&mut self, waited: &Waited) {
        if matches!(self.phase, Phase::Fallback(_)) {
            self.fallback.ended(waited);
        }
    }
}
