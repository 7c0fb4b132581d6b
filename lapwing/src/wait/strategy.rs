//! The trait of a wait strategy, and how the library calls a strategy of any type. Not here: what a
//! strategy can do during a wait (`waiting`).

use super::cpu_load::CpuLoad;
use super::{Pacing, Waiting};

/// A way to wait. Each waiting end of a ring has its own instance, which may adapt from wait to
/// wait.
///
/// All methods but `clone` run on the waiting thread. If one panics in a stage, the stage's
/// [panic policy](crate::Stage::on_panic) decides what happens. A producer or a poller passes the
/// panic on to its caller.
///
/// ```
/// use lapwing::wait::{WaitStrategy, Waiting};
///
/// /// Polls a million times, then parks.
/// #[derive(Clone)]
/// struct Patient;
///
/// impl WaitStrategy for Patient {
///     const PARKS: bool = true;
///     fn wait(&mut self, waiting: &Waiting<'_>) {
///         if !waiting.spin(1_000_000) {
///             waiting.park();
///         }
///     }
/// }
///
/// let ring = lapwing::Disruptor::single_producer(8, || 0_u64).wait(Patient).stage("all").poller();
/// let (mut producer, mut consumers) = ring.build()?;
/// producer.publish(|event| *event = 7)?;
/// assert_eq!(consumers.take_poller("all")?.wait()?.as_slice(), [7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A strategy is `Sync`, since producers and consumers may be shared: cloning a
/// [`MultiProducer`](crate::MultiProducer) through a shared reference clones its strategy. All
/// calls but `clone` take `&mut self`, so a plain field is enough for state. State that clones
/// share needs an atomic or a lock. A strategy that is not `Sync` does not compile:
///
/// ```compile_fail,E0277
/// use lapwing::wait::{WaitStrategy, Waiting};
/// use std::cell::Cell;
///
/// #[derive(Clone)]
/// struct Counting(Cell<u64>);
///
/// impl WaitStrategy for Counting {
///     const PARKS: bool = false;
///     fn wait(&mut self, waiting: &Waiting<'_>) {
///         self.0.set(self.0.get() + 1);
///         assert!(waiting.deadline().is_none());
///     }
/// }
/// ```
///
/// With a plain number, the same strategy compiles:
///
/// ```
/// use lapwing::wait::{WaitStrategy, Waiting};
///
/// #[derive(Clone)]
/// struct Counting(u64);
///
/// impl WaitStrategy for Counting {
///     const PARKS: bool = false;
///     fn wait(&mut self, waiting: &Waiting<'_>) {
///         self.0 += 1;
///         assert!(waiting.deadline().is_none());
///     }
/// }
/// ```
pub trait WaitStrategy: Clone + Send + Sync + 'static {
    /// Whether [`wait`](Self::wait) calls [`Waiting::park`]. A ring without seats may be built with
    /// no strategy that parks. Its threads then do not check for parked threads, and `park` sleeps
    /// in short intervals.
    ///
    /// ```
    /// use lapwing::wait::{Adaptive, BusySpin, WaitStrategy};
    ///
    /// assert!(Adaptive::PARKS && !BusySpin::PARKS);
    /// ```
    const PARKS: bool;

    /// Whether a consumer only polls and never calls [`wait`](Self::wait). False by default.
    ///
    /// This is the shortest path to an event: the poll that finds the event also takes it. The
    /// consumer polls in rounds of 256. Between two rounds it checks for a close, a halt, a stop
    /// and its time limit. A pause hint follows each poll.
    ///
    /// It applies to stages with a thread of their own, and to pollers that
    /// [wait](crate::Poller::wait). Workers, producers and stages that share a thread still call
    /// `wait`.
    ///
    /// ```
    /// use lapwing::wait::{Adaptive, BusySpin, WaitStrategy};
    ///
    /// assert!(BusySpin::SPINS && !Adaptive::SPINS);
    /// ```
    const SPINS: bool = false;

    /// Returns whether a consumer that found no event polls for some microseconds, as with
    /// [`SPINS`](Self::SPINS), before it calls [`wait`](Self::wait). False by default. It sees an
    /// event that arrives in that time sooner than by any call of `wait`.
    ///
    /// Called before each wait of a stage with a thread of its own, and of a poller that
    /// [waits](crate::Poller::wait), unless `SPINS` is true. The next call usually shows the result
    /// of the polls: [`wait`](Self::wait) if they found no event, or [`pace`](Self::pace) once the
    /// events that they found are finished.
    ///
    /// `is_oversubscribed` says whether the ring has more runnable threads than CPUs, by the
    /// [estimate](Pacing::is_oversubscribed) of the ring. In that case, a thread that polls keeps
    /// others from running, perhaps the one that it waits for.
    ///
    /// ```
    /// use lapwing::wait::{WaitStrategy, Waiting};
    ///
    /// /// Polls for some microseconds, then parks.
    /// #[derive(Clone)]
    /// struct Brief;
    ///
    /// impl WaitStrategy for Brief {
    ///     const PARKS: bool = true;
    ///     fn spins_first(&mut self, is_oversubscribed: bool) -> bool { !is_oversubscribed }
    ///     fn wait(&mut self, waiting: &Waiting<'_>) { waiting.park() }
    /// }
    ///
    /// let ring = lapwing::Disruptor::single_producer(8, || 0_u64).wait(Brief).stage("all").poller();
    /// let (mut producer, mut consumers) = ring.build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// let thread = std::thread::spawn(move || producer.publish(|event| *event = 7));
    /// assert_eq!(poller.wait()?.as_slice(), [7]); // found by a poll, or after a wake-up
    /// thread.join().unwrap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn spins_first(&mut self, is_oversubscribed: bool) -> bool {
        let _ = is_oversubscribed;
        false
    }

    /// Waits until the wait [is over](Waiting::is_over) or has [expired](Waiting::is_expired).
    ///
    /// An implementation may return earlier: the library checks, and calls it again. It may return
    /// later, which delays the thread. It must return at some time after the wait has ended.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Disruptor, wait::{WaitStrategy, Waiting}};
    ///
    /// #[derive(Clone)]
    /// struct Yields;
    ///
    /// impl WaitStrategy for Yields {
    ///     const PARKS: bool = false;
    ///     fn wait(&mut self, waiting: &Waiting<'_>) {
    ///         while !waiting.is_over() && !waiting.is_expired() {
    ///             std::thread::yield_now();
    ///         }
    ///     }
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64).wait(Yields).stage("all").poller();
    /// let (_producer, mut consumers) = ring.build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// assert!(poller.wait_timeout(Duration::from_millis(1)).is_err()); // expired
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn wait(&mut self, waiting: &Waiting<'_>);

    /// Paces a consumer. Called when the consumer has finished all events that it has found, before
    /// it polls again. [`Pacing`] says how many these were. Does nothing by default.
    ///
    /// A strategy may [back off](Pacing::keep_away) here for a moment. A consumer that polls too
    /// often finds few events each time, and each poll acquires a cache line from the thread that
    /// writes it. The price is the latency of events that arrive meanwhile. Nothing ends this
    /// back-off early, not even a halt, so it should last a microsecond or two.
    ///
    /// Called for stages, for workers except those by key, and for pollers that
    /// [wait](crate::Poller::wait). For stages that share a thread, only the strategy of the first
    /// one is called, after each of them had its turn, and only if none has more events.
    ///
    /// ```
    /// use lapwing::{Disruptor, wait::{Pacing, WaitStrategy, Waiting, Yielding}};
    ///
    /// #[derive(Clone, Default)]
    /// struct Doubling(u32);
    ///
    /// impl WaitStrategy for Doubling {
    ///     const PARKS: bool = false;
    ///     fn wait(&mut self, waiting: &Waiting<'_>) { Yielding::default().wait(waiting) }
    ///     fn pace(&mut self, pacing: &Pacing<'_>) {
    ///         let is_stream = pacing.events() >= 16 && !pacing.is_late();
    ///         self.0 = if is_stream { (2 * self.0).clamp(1, 64) } else { self.0 / 2 };
    ///         pacing.keep_away(self.0);
    ///     }
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64).wait(Doubling::default());
    /// let (mut producer, mut consumers) = ring.stage("all").poller().build()?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(consumers.take_poller("all")?.wait()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn pace(&mut self, pacing: &Pacing<'_>) {
        let _ = pacing;
    }
}

/// A [`WaitStrategy`] of any type. Called through a pointer by a thread that must wait, and by a
/// consumer once for the events that a poll found.
pub(crate) trait AnyWaitStrategy: Send + Sync {
    fn parks(&self) -> bool;
    fn spins(&self) -> bool;
    fn spins_first(&mut self, load: CpuLoad<'_>) -> bool;
    fn wait(&mut self, waiting: &Waiting<'_>);
    fn pace(&mut self, pacing: &Pacing<'_>);
    fn boxed_clone(&self) -> Box<dyn AnyWaitStrategy>;
}

impl<W: WaitStrategy> AnyWaitStrategy for W {
    fn parks(&self) -> bool {
        W::PARKS
    }

    fn spins(&self) -> bool {
        W::SPINS
    }

    fn spins_first(&mut self, load: CpuLoad<'_>) -> bool {
        WaitStrategy::spins_first(self, load.is_oversubscribed())
    }

    fn wait(&mut self, waiting: &Waiting<'_>) {
        WaitStrategy::wait(self, waiting);
    }

    fn pace(&mut self, pacing: &Pacing<'_>) {
        WaitStrategy::pace(self, pacing);
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
