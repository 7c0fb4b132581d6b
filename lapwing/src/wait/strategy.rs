//! What a way to wait is, and how one of any type is called.

use super::cpu_load::CpuLoad;
use super::{Pacing, Waiting};

/// A way to wait. The instance belongs to one waiter and may learn from wait to wait.
///
/// A strategy is `Sync`, since each endpoint has one and endpoints may be shared: cloning a
/// [`MultiProducer`](crate::MultiProducer) through a shared reference clones its strategy. All calls but
/// `clone` take `&mut self`, so a plain field serves where a `Cell` would; use an atomic or a lock for
/// what clones have in common.
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
    /// Whether [`wait`](Self::wait) calls [`Waiting::park`]. Where no strategy does that a ring is
    /// built with, nobody looks for sleepers after a publish, and `park` sleeps in short pieces.
    ///
    /// ```
    /// use lapwing::wait::{Adaptive, BusySpin, WaitStrategy};
    ///
    /// assert!(Adaptive::PARKS && !BusySpin::PARKS);
    /// ```
    const PARKS: bool;

    /// Whether a consumer only ever looks again, by itself, and never calls [`wait`](Self::wait). False by
    /// default.
    ///
    /// That is the shortest way to an event: the look that finds it is the one that takes it. The
    /// first 32 looks of a wait are followed by the CPU's pause hint, so that the producer of a stream keeps
    /// its lines for a while; the others come without any break. The time limit and a stop are looked
    /// at every 256 looks. It is so of stages that have their thread to themselves, and of pollers that
    /// [wait](crate::Poller::wait); workers, producers and stages that share a thread call `wait` all the same.
    ///
    /// ```
    /// use lapwing::wait::{Adaptive, BusySpin, WaitStrategy};
    ///
    /// assert!(BusySpin::SPINS && !Adaptive::SPINS);
    /// ```
    const SPINS: bool = false;

    /// Whether a consumer that found nothing is to look by itself for some microseconds, as one that
    /// [spins](Self::SPINS), before it calls [`wait`](Self::wait): an answer that comes by then is seen sooner than by any
    /// strategy. Asked before each wait of a stage that has its thread to itself and of a poller that
    /// [waits](crate::Poller::wait), unless it spins anyway. False by default.
    ///
    /// `is_oversubscribed` says whether the threads of the ring want more CPUs than they get: then whoever looks keeps others from
    /// running, perhaps the one that it waits for. What came of the looks shows in the call that follows: [`wait`](Self::wait)
    /// if it was nothing, and [`pace`](Self::pace) if it was something and that is done.
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

    /// Waits until [`Waiting::is_over`], roughly: it may return early or late, and is then called
    /// again if need be.
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

    /// Called before a consumer looks for more, when it has finished all that its last look had
    /// found; [`Pacing`] says how much that was. Does nothing by default.
    ///
    /// Here a strategy may [keep away](Pacing::keep_away) for a moment. A consumer that looks too often finds little each
    /// time, and each look takes a line from whoever writes it. The price is the latency of the events
    /// that come meanwhile. Nothing ends it early, not even a halt: it is for a microsecond or two.
    ///
    /// Stages and workers are paced, and pollers that [wait](crate::Poller::wait); workers by key are not.
    /// Of stages that share a thread the strategy of the first is asked, after a turn of each, if none of them
    /// knows of more.
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

/// A [`WaitStrategy`] of any type. Called through a pointer: by who has to wait, and by a consumer
/// once for what a look has found.
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
