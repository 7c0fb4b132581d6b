//! How to wait. Not here: what is waited for (`barrier`, `sequencer::gate`), which decides alone
//! when a wait is over.
//!
//! | strategy | latency | CPU while idle | parks |
//! |---|---|---|---|
//! | [`BusySpin`] | lowest | one CPU each | no |
//! | [`Yielding`] | low | one CPU each, given up to others | no |
//! | [`Sleeping`] | up to its sleep | a little | no |
//! | [`Blocking`] | a wake-up by the system | none | yes |
//! | [`Adaptive`], the default | low while busy, a wake-up after a pause | none | yes |
//!
//! A strategy can be set for each consumer and for the producer side. It only waits: afterwards the
//! library looks again, so a strategy that returns too early costs time and nothing else. Whatever
//! is waited for wakes its waiter: an empty ring, a stage upstream, a full ring.
//!
//! ```
//! use lapwing::{Disruptor, Stage, wait::{Blocking, BusySpin, Yielding}};
//!
//! let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
//!     .producer_wait(Yielding::default())
//!     .wait(Blocking::default()) // of stages that do not say
//!     .then(Stage::new("hot").wait(BusySpin), |event, _, _| assert_eq!(*event, 7))
//!     .then("cold", |event, _, _| assert_eq!(*event, 7))
//!     .build()?;
//! let running = consumers.start()?;
//! producer.publish(|event| *event = 7)?;
//! assert!(running.shutdown()?.stages().all(|stage| stage.processed() == 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adaptive;
pub(crate) mod asymmetric;
mod blocking;
mod busy_spin;
pub(crate) mod event_count;
mod park;
mod sleeping;
mod strategy;
mod yielding;

use std::fmt;
use std::ptr;
use std::time::Instant;

pub use adaptive::Adaptive;
pub use blocking::Blocking;
pub use busy_spin::BusySpin;
pub use sleeping::Sleeping;
pub use strategy::WaitStrategy;
pub use yielding::Yielding;

pub(crate) use strategy::AnyWaitStrategy;

use crate::sync::{spin_loop, yield_now};
use asymmetric::AsymmetricFence;
use event_count::EventCount;

/// How many times a strategy looks between two looks at the clock, where there is a deadline.
const LOOKS_PER_CLOCK: u32 = 64;

/// What is waited for: a sequence of the cursor, of stages upstream, or of the gate on a full ring.
pub(crate) trait Awaited {
    /// Whether it is there, or will never come.
    fn is_over(&self) -> bool;

    /// Where to sleep: with something that is behind just now. Who has lain down looks again
    /// whether it still is.
    fn event_count(&self) -> &EventCount;
}

/// One wait, as a [`WaitStrategy`] sees it.
///
/// A strategy asks it and waits by it:
///
/// ```
/// use lapwing::wait::{WaitStrategy, Waiting};
///
/// #[derive(Clone)]
/// struct Eager;
///
/// impl WaitStrategy for Eager {
///     const PARKS: bool = true;
///
///     fn wait(&mut self, waiting: &Waiting<'_>) {
///         if waiting.spin(1_000) || waiting.yield_up_to(10) || waiting.is_expired() {
///             return;
///         }
///         waiting.park();
///     }
/// }
///
/// let (mut producer, mut consumers) =
///     lapwing::Disruptor::single_producer(8, || 0_u64).wait(Eager).then_poller("all").build()?;
/// let mut poller = consumers.take_poller("all")?;
/// let thread = std::thread::spawn(move || producer.publish(|event| *event = 7));
/// assert_eq!(poller.wait()?.as_slice(), [7]); // whichever thread is first
/// # thread.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Waiting<'a> {
    pub(crate) awaited: &'a dyn Awaited,
    pub(crate) deadline: Option<Instant>,
    pub(crate) fence: AsymmetricFence,
    /// Whether those who are waited for look for sleepers.
    pub(crate) is_signalled: bool,
}

impl Waiting<'_> {
    /// Whether what is waited for is there, or will never come since the ring is closed or halted.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use lapwing::{Disruptor, WaitTimeoutError, wait::{WaitStrategy, Waiting}};
    /// # #[derive(Clone)]
    /// # struct Mine;
    /// # impl WaitStrategy for Mine {
    /// #     const PARKS: bool = false;
    /// fn wait(&mut self, waiting: &Waiting<'_>) {
    ///     assert!(!waiting.is_over()); // nothing is published here
    /// }
    /// # }
    /// # let (_producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).wait(Mine).then_poller("all").build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// # assert_eq!(poller.wait_timeout(Duration::ZERO).err(), Some(WaitTimeoutError::TimedOut));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// Never; reads one cache line for each thing that is waited for.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.awaited.is_over()
    }

    /// Whether the caller's time limit has passed. Reads the clock if there is one.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use lapwing::{Disruptor, WaitTimeoutError, wait::{WaitStrategy, Waiting}};
    /// # #[derive(Clone)]
    /// # struct Mine;
    /// # impl WaitStrategy for Mine {
    /// #     const PARKS: bool = false;
    /// fn wait(&mut self, waiting: &Waiting<'_>) {
    ///     assert!(waiting.is_expired()); // this caller's limit is no time at all
    /// }
    /// # }
    /// # let (_producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).wait(Mine).then_poller("all").build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// # assert_eq!(poller.wait_timeout(Duration::ZERO).err(), Some(WaitTimeoutError::TimedOut));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// When the caller's time limit ends, if it has one.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use lapwing::{Disruptor, WaitTimeoutError, wait::{WaitStrategy, Waiting}};
    /// # #[derive(Clone)]
    /// # struct Mine;
    /// # impl WaitStrategy for Mine {
    /// #     const PARKS: bool = false;
    /// fn wait(&mut self, waiting: &Waiting<'_>) {
    ///     assert!(waiting.deadline().is_some()); // called by `wait_timeout`
    /// }
    /// # }
    /// # let (_producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).wait(Mine).then_poller("all").build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// # assert_eq!(poller.wait_timeout(Duration::ZERO).err(), Some(WaitTimeoutError::TimedOut));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Looks `times` times with the CPU's pause hint in between; true as soon as the wait is over.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use lapwing::{Disruptor, WaitTimeoutError, wait::{WaitStrategy, Waiting}};
    /// # #[derive(Clone)]
    /// # struct Mine;
    /// # impl WaitStrategy for Mine {
    /// #     const PARKS: bool = false;
    /// fn wait(&mut self, waiting: &Waiting<'_>) {
    ///     assert!(!waiting.spin(100)); // nothing is published here
    /// }
    /// # }
    /// # let (_producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).wait(Mine).then_poller("all").build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// # assert_eq!(poller.wait_timeout(Duration::ZERO).err(), Some(WaitTimeoutError::TimedOut));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn spin(&self, times: u32) -> bool {
        for _ in 0..times {
            if self.is_over() {
                return true;
            }
            spin_loop();
        }
        false
    }

    /// Looks `times` times and gives the CPU to another thread in between; true as soon as the wait
    /// is over.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use lapwing::{Disruptor, WaitTimeoutError, wait::{WaitStrategy, Waiting}};
    /// # #[derive(Clone)]
    /// # struct Mine;
    /// # impl WaitStrategy for Mine {
    /// #     const PARKS: bool = false;
    /// fn wait(&mut self, waiting: &Waiting<'_>) {
    ///     assert!(!waiting.yield_up_to(10)); // nothing is published here
    /// }
    /// # }
    /// # let (_producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).wait(Mine).then_poller("all").build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// # assert_eq!(poller.wait_timeout(Duration::ZERO).err(), Some(WaitTimeoutError::TimedOut));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn yield_up_to(&self, times: u32) -> bool {
        for _ in 0..times {
            if self.is_over() {
                return true;
            }
            yield_now();
        }
        false
    }

    /// Repeats `step` until the wait is over or has expired.
    pub(crate) fn repeat(&self, mut step: impl FnMut()) {
        let mut looks = 0_u32;
        while !self.is_over() {
            looks = looks.wrapping_add(1);
            if self.deadline.is_some() && looks.is_multiple_of(LOOKS_PER_CLOCK) && self.is_expired()
            {
                return;
            }
            step();
        }
    }

    /// Sleeps until what is waited for advances, until the deadline, or for no reason.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use lapwing::{Disruptor, WaitTimeoutError, wait::{WaitStrategy, Waiting}};
    /// # #[derive(Clone)]
    /// # struct Mine;
    /// # impl WaitStrategy for Mine {
    /// #     const PARKS: bool = true;
    /// fn wait(&mut self, waiting: &Waiting<'_>) {
    ///     if !waiting.spin(100) {
    ///         waiting.park();
    ///     }
    /// }
    /// # }
    /// # let (_producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).wait(Mine).then_poller("all").build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// assert_eq!(poller.wait_timeout(Duration::ZERO).err(), Some(WaitTimeoutError::TimedOut));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// Blocks in the operating system. A strategy that said it never [parks](WaitStrategy::PARKS),
    /// in a ring where none does, has nobody to wake it and only yields here.
    pub fn park(&self) {
        if self.is_signalled {
            let place = self.awaited.event_count();
            // Who was behind may have advanced before we lay down there, and somebody else may be
            // behind by now, who would not wake us. The place first, then the state: whoever
            // advances in between shows in the second look.
            let is_elsewhere = || !ptr::eq(place, self.awaited.event_count());
            place.park(self.fence, self.deadline, || is_elsewhere() || self.is_over());
        } else {
            yield_now();
        }
    }
}

impl fmt::Debug for Waiting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}
