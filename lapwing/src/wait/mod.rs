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

mod adaptive;
pub(crate) mod asymmetric;
mod blocking;
mod busy_spin;
pub(crate) mod event_count;
mod park;
mod sleeping;
mod yielding;

use std::fmt;
use std::ptr;
use std::time::Instant;

pub use adaptive::Adaptive;
pub use blocking::Blocking;
pub use busy_spin::BusySpin;
pub use sleeping::Sleeping;
pub use yielding::Yielding;

use crate::sync::{spin_loop, yield_now};
use asymmetric::AsymmetricFence;
use event_count::EventCount;

/// How many times a strategy looks between two looks at the clock, where there is a deadline.
const LOOKS_PER_CLOCK: u32 = 64;

/// A way to wait. The instance belongs to one waiter and may learn from wait to wait.
///
/// ```
/// use lapwing::wait::{WaitStrategy, Waiting};
///
/// /// Looks a million times, then parks.
/// #[derive(Clone)]
/// struct Patient;
///
/// impl WaitStrategy for Patient {
///     const PARKS: bool = true;
///
///     fn wait(&mut self, waiting: &Waiting<'_>) {
///         if !waiting.spin(1_000_000) {
///             waiting.park();
///         }
///     }
/// }
///
/// let (mut producer, consumers) = lapwing::Disruptor::single_producer(8, || 0_u64)
///     .wait(Patient)
///     .then("sum", |event, _, _| assert!(*event > 0))
///     .build()?;
/// let running = consumers.start()?;
/// producer.publish(|event| *event = 1)?;
/// running.shutdown()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait WaitStrategy: Clone + Send + 'static {
    /// Whether [`wait`](Self::wait) calls [`Waiting::park`]. Where no strategy of a ring does,
    /// nobody looks for sleepers after a publish.
    const PARKS: bool;

    /// Waits until [`Waiting::is_over`], roughly: it may return early or late, and is then called
    /// again if need be.
    ///
    /// It must return some time after the wait is over or [expired](Waiting::is_expired).
    fn wait(&mut self, waiting: &Waiting<'_>);
}

/// What is waited for: a sequence of the cursor, of stages upstream, or of the gate on a full ring.
pub(crate) trait Awaited {
    /// Whether it is there, or will never come.
    fn is_over(&self) -> bool;

    /// Where to sleep: with something that is behind just now. Who has lain down looks again
    /// whether it still is.
    fn event_count(&self) -> &EventCount;
}

/// One wait, as a [`WaitStrategy`] sees it.
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
    /// # Blocking
    ///
    /// Never; reads one cache line for each thing that is waited for.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.awaited.is_over()
    }

    /// Whether the caller's time limit has passed. Reads the clock if there is one.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// When the caller's time limit ends, if it has one.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Looks `times` times with the CPU's pause hint in between; true as soon as the wait is over.
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

/// A [`WaitStrategy`] of any type. Called through a pointer, which only a waiter pays that has to
/// wait.
pub(crate) trait AnyWaitStrategy: Send {
    fn parks(&self) -> bool;
    fn wait(&mut self, waiting: &Waiting<'_>);
    fn boxed_clone(&self) -> Box<dyn AnyWaitStrategy>;
}

impl<W: WaitStrategy> AnyWaitStrategy for W {
    fn parks(&self) -> bool {
        W::PARKS
    }

    fn wait(&mut self, waiting: &Waiting<'_>) {
        WaitStrategy::wait(self, waiting);
    }

    fn boxed_clone(&self) -> Box<dyn AnyWaitStrategy> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn AnyWaitStrategy> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}
