//! What a wait strategy has to implement, and how the library calls a strategy of any type. Not here: what a
//! strategy can do during a wait (`waiting`).

use super::cpu_load::CpuLoad;
use super::{Pacing, Waiting};

/// A way to wait. Each waiter has its own instance, which may adapt from wait to wait.
///
/// A strategy is `Sync`, since each endpoint has one and endpoints may be shared: cloning a
/// [`MultiProducer`](crate::MultiProducer) through a shared reference clones its strategy. All calls but
/// `clone` take `&mut self`, so a plain field serves where a `Cell` would. State that clones share needs an
/// atomic or a lock.
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
///     .stage("sum").read(|event, _, _| assert!(*event > 0))
///     .build()?;
/// let running = consumers.start()?;
/// producer.publish(|event| *event = 1)?;
/// running.shutdown()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A strategy that is not `Sync` does not compile:
///
/// ```compile_fail,E0277
/// # use lapwing::wait::{WaitStrategy, Waiting};
/// # use std::cell::Cell;
/// #[derive(Clone)]
/// struct Counting(Cell<u64>);
///
/// impl WaitStrategy for Counting {
/// #   const PARKS: bool = false;
///     fn wait(&mut self, waiting: &Waiting<'_>) {
///         self.0.set(self.0.get() + 1);
///         waiting.spin(1_000);
///     }
/// }
/// ```
///
/// ```
/// # use lapwing::wait::{WaitStrategy, Waiting};
/// #[derive(Clone)]
/// struct Counting(u64);
///
/// impl WaitStrategy for Counting {
/// #   const PARKS: bool = false;
///     fn wait(&mut self, waiting: &Waiting<'_>) {
///         self.0 += 1;
///         waiting.spin(1_000);
///     }
/// }
/// ```
pub trait WaitStrategy: Clone + Send + Sync + 'static {
    /// Whether [`wait`](Self::wait) calls [`Waiting::park`]. If no strategy of a ring does, a publication
    /// does not check for sleepers, and `park` sleeps in short intervals.
    ///
    /// ```
    /// use lapwing::wait::{Adaptive, BusySpin, WaitStrategy};
    ///
    /// assert!(Adaptive::PARKS && !BusySpin::PARKS);
    /// ```
    const PARKS: bool;

    /// Whether a consumer only polls and never calls [`wait`](Self::wait). False by default.
    ///
    /// This is the shortest path to an event: the poll that finds the event also takes it. The consumer polls
    /// in rounds of 256, and checks its time limit and a stop between two rounds. A pause hint follows each
    /// poll, or three hints follow each of the first polls and none the others; an A/B test chooses the
    /// faster way. It applies to stages on a thread of their own and to pollers that
    /// [wait](crate::Poller::wait). Workers, producers and stages that share a thread still call `wait`.
    ///
    /// ```
    /// use lapwing::wait::{Adaptive, BusySpin, WaitStrategy};
    ///
    /// assert!(BusySpin::SPINS && !Adaptive::SPINS);
    /// ```
    const SPINS: bool = false;

    /// Whether a consumer that found nothing polls for some microseconds, as with [`SPINS`](Self::SPINS),
    /// before it calls [`wait`](Self::wait). It sees an answer that comes in that time sooner than with any
    /// strategy. Called before each wait of a stage on a thread of its own and of a poller that
    /// [waits](crate::Poller::wait), unless `SPINS` is true. False by default.
    ///
    /// `is_oversubscribed` says whether the threads of the ring need more CPUs than they get. A thread that
    /// polls then keeps others from running, perhaps the one that it waits for. The next call shows the
    /// result of the polls: [`wait`](Self::wait) if they found nothing, or [`pace`](Self::pace) once the
    /// events that they found are finished.
    ///
    /// ```
    /// use lapwing::wait::{WaitStrategy, Waiting};
    ///
    /// /// Parks, but not before it has looked.
    /// #[derive(Clone)]
    /// struct Glance;
    ///
    /// impl WaitStrategy for Glance {
    ///     const PARKS: bool = true;
    ///
    ///     fn spins_first(&mut self, is_oversubscribed: bool) -> bool {
    ///         !is_oversubscribed
    ///     }
    ///
    ///     fn wait(&mut self, waiting: &Waiting<'_>) {
    ///         waiting.park();
    ///     }
    /// }
    ///
    /// let ring = lapwing::Disruptor::single_producer(8, || 0_u64).wait(Glance);
    /// let (mut producer, mut consumers) = ring.stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// let thread = std::thread::spawn(move || producer.publish(|event| *event = 7));
    /// assert_eq!(poller.wait()?.as_slice(), [7]); // seen by a look, or after a sleep
    /// # thread.join().unwrap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn spins_first(&mut self, is_oversubscribed: bool) -> bool {
        let _ = is_oversubscribed;
        false
    }

    /// Waits until about when [`Waiting::is_over`]. It may return early or late; if it returns early, it is
    /// called again.
    ///
    /// It must return some time after the wait is over or [expired](Waiting::is_expired).
    ///
    /// ```
    /// # use std::{thread, time::Duration};
    /// # use lapwing::{Disruptor, error::WaitTimeoutError, wait::{WaitStrategy, Waiting}};
    /// # #[derive(Clone)]
    /// # struct Mine;
    /// # impl WaitStrategy for Mine {
    /// #     const PARKS: bool = false;
    /// fn wait(&mut self, waiting: &Waiting<'_>) {
    ///     while !waiting.is_over() && !waiting.is_expired() {
    ///         thread::yield_now();
    ///     }
    /// }
    /// # }
    /// # let (_producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).wait(Mine).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// let error = poller.wait_timeout(Duration::from_millis(1)).unwrap_err();
    /// assert_eq!(error, WaitTimeoutError::TimedOut);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn wait(&mut self, waiting: &Waiting<'_>);

    /// Called when a consumer has finished all events that its last check found, before it checks for more.
    /// [`Pacing`] says how many these were. Does nothing by default.
    ///
    /// A strategy may [back off](Pacing::keep_away) here for a moment. A consumer that checks too often finds
    /// few events each time, and each check takes a cache line from the thread that writes it. The price is
    /// the latency of events that come meanwhile. Nothing ends this back-off early, not even a halt: it is
    /// meant to last a microsecond or two.
    ///
    /// Called for stages, for workers except those by key, and for pollers that [wait](crate::Poller::wait).
    /// For stages that share a thread, the strategy of the first one is called, after a turn of each, if none
    /// of them knows of more events.
    ///
    /// ```
    /// # use lapwing::{Disruptor, wait::{Pacing, WaitStrategy, Waiting, Yielding}};
    /// #[derive(Clone, Default)]
    /// struct Doubling(u32);
    ///
    /// impl WaitStrategy for Doubling {
    ///     const PARKS: bool = false;
    /// #   fn wait(&mut self, waiting: &Waiting<'_>) { Yielding::default().wait(waiting) }
    ///
    ///     fn pace(&mut self, pacing: &Pacing<'_>) {
    ///         let is_stream = pacing.events() >= 16 && !pacing.is_late();
    ///         self.0 = if is_stream { (2 * self.0).clamp(1, 64) } else { self.0 / 2 };
    ///         pacing.keep_away(self.0);
    ///     }
    /// }
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    /// #     .wait(Doubling::default())
    /// #     .stage("check").read(|event, _, _| assert_eq!(*event, 7))
    /// #     .build()?;
    /// # let running = consumers.start()?;
    /// # (0..100).try_for_each(|_| producer.publish(|event| *event = 7).map(drop))?;
    /// # assert_eq!(running.shutdown()?.stages().next().unwrap().processed(), 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn pace(&mut self, pacing: &Pacing<'_>) {
        let _ = pacing;
    }
}

/// A [`WaitStrategy`] of any type. Called through a pointer, by a thread that must wait, and by a consumer
/// once for the events that a check found.
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
