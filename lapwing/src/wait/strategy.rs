//! The trait of a wait strategy, and how the library calls a strategy of any type. Not here: how a
//! thread takes the steps that a strategy answers (`waiter`).

use std::time::Duration;

use super::cpu_load::Yield;
use super::{Pacing, Waiting};

/// A way to wait: it answers what a waiting thread does next. Each waiting end of a ring has its
/// own instance, which may adapt from wait to wait.
///
/// The library asks for a [`Step`], takes it, and checks whether the wait is over. It repeats that
/// until [the wait ends](super#what-ends-a-wait). So a strategy needs no loop, and what it waits
/// for is noticed at once, unless it pauses or sleeps.
///
/// All methods but `clone` run on the waiting thread. If one panics in a stage, the stage's
/// [panic policy](crate::Stage::on_panic) decides what happens. A producer or a poller passes the
/// panic on to its caller.
///
/// ```
/// use lapwing::wait::{Step, WaitStrategy, Waiting};
///
/// /// Polls a million times, then parks.
/// #[derive(Clone)]
/// struct Patient;
///
/// impl WaitStrategy for Patient {
///     const PARKS: bool = true;
///     fn next(&mut self, waiting: &Waiting<'_>) -> Step {
///         if waiting.steps() == 0 { Step::Poll(1_000_000) } else { Step::Park }
///     }
/// }
///
/// let ring = lapwing::Disruptor::single_producer(8, || 0_u64).wait_strategy(Patient).stage("all").poller();
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
/// use lapwing::wait::{Step, WaitStrategy, Waiting};
/// use std::cell::Cell;
///
/// #[derive(Clone)]
/// struct Counting(Cell<u64>);
///
/// impl WaitStrategy for Counting {
///     const PARKS: bool = false;
///     fn next(&mut self, _: &Waiting<'_>) -> Step {
///         self.0.set(self.0.get() + 1);
///         Step::Poll(1)
///     }
/// }
/// ```
///
/// With a plain number, the same strategy compiles:
///
/// ```
/// use lapwing::wait::{Step, WaitStrategy, Waiting};
///
/// #[derive(Clone)]
/// struct Counting(u64);
///
/// impl WaitStrategy for Counting {
///     const PARKS: bool = false;
///     fn next(&mut self, _: &Waiting<'_>) -> Step {
///         self.0 += 1;
///         Step::Poll(1)
///     }
/// }
/// ```
pub trait WaitStrategy: Clone + Send + Sync + 'static {
    /// Whether [`next`](Self::next) may answer [`Step::Park`]. A ring without dynamic stages may be
    /// built with no strategy that parks. Its threads then do not check for parked threads, and a
    /// thread that parks sleeps in short intervals instead.
    ///
    /// ```
    /// use lapwing::wait::{Adaptive, BusySpin, WaitStrategy};
    ///
    /// assert!(Adaptive::PARKS && !BusySpin::PARKS);
    /// ```
    const PARKS: bool;

    /// Returns what the thread does next.
    ///
    /// Called when a poll has found nothing, and again after each step that did not end the wait.
    /// [`Waiting`] says how many steps the thread has taken.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Disruptor, wait::{Step, WaitStrategy, Waiting}};
    ///
    /// #[derive(Clone)]
    /// struct Yields;
    ///
    /// impl WaitStrategy for Yields {
    ///     const PARKS: bool = false;
    ///     fn next(&mut self, _: &Waiting<'_>) -> Step { Step::Yield }
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64).wait_strategy(Yields).stage("all").poller();
    /// let (_producer, mut consumers) = ring.build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// assert!(poller.wait_timeout(Duration::from_millis(1)).is_err()); // expired
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn next(&mut self, waiting: &Waiting<'_>) -> Step;

    /// Says how a wait ended. Called once after each wait in which the strategy has answered a
    /// step, also if a panic ended it. Does nothing by default.
    ///
    /// The call comes when the same end of the ring is about to wait or to [pace](Self::pace)
    /// itself again: a consumer first handles the event that it has waited for. The last wait of an
    /// end is therefore not reported, nor is a wait before
    /// [`set_wait_strategy`](crate::Producer::set_wait_strategy). A clone that is made in between
    /// is not told.
    ///
    /// ```
    /// use std::{sync::mpsc, time::Duration};
    /// use lapwing::{Disruptor, wait::{Step, WaitStrategy, Waited, Waiting}};
    ///
    /// /// Parks, and records the longest time.
    /// #[derive(Clone)]
    /// struct Record(mpsc::Sender<Duration>);
    ///
    /// impl WaitStrategy for Record {
    ///     const PARKS: bool = true;
    ///     fn next(&mut self, _: &Waiting<'_>) -> Step { Step::Park }
    ///     fn ended(&mut self, waited: &Waited) { self.0.send(waited.slept()).unwrap() }
    /// }
    ///
    /// let (log, times) = mpsc::channel();
    /// let ring = Disruptor::single_producer(8, || 0_u64).stage("all").wait_strategy(Record(log)).poller();
    /// let (_producer, mut consumers) = ring.build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// for _ in 0..2 {
    ///     assert!(poller.wait_timeout(Duration::from_millis(1)).is_err()); // nothing is published
    /// }
    /// assert!(times.try_recv()? >= Duration::from_millis(1)); // that of the first wait
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn ended(&mut self, waited: &Waited) {
        let _ = waited;
    }

    /// Paces a consumer. Called when the consumer has finished all events that it knew of: before
    /// its next poll, or after that poll has found nothing. [`Pacing`] says how many these were.
    /// Does nothing by default.
    ///
    /// A strategy may [back off](Pacing::pause) here for a moment. A consumer that polls too often
    /// finds few events each time, and each poll acquires a cache line from the thread that writes
    /// it. The price is the latency of events that arrive meanwhile. Nothing ends this back-off
    /// early, not even a halt, so it should last a microsecond or two.
    ///
    /// Called for stages, for workers except those by key, and for pollers that
    /// [wait](crate::Poller::wait). For stages that share a thread, only the strategy of the first
    /// one is called, after each of them had its turn, and only if none has more events.
    ///
    /// ```
    /// use lapwing::{Disruptor, wait::{Pacing, Step, WaitStrategy, Waiting}};
    ///
    /// #[derive(Clone, Default)]
    /// struct Doubling(u32);
    ///
    /// impl WaitStrategy for Doubling {
    ///     const PARKS: bool = false;
    ///     fn next(&mut self, _: &Waiting<'_>) -> Step { Step::Yield }
    ///     fn pace(&mut self, pacing: &Pacing<'_>) {
    ///         let is_stream = pacing.events() >= 16 && !pacing.is_late();
    ///         self.0 = if is_stream { (2 * self.0).clamp(1, 64) } else { self.0 / 2 };
    ///         pacing.pause(self.0);
    ///     }
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64).wait_strategy(Doubling::default());
    /// let (mut producer, mut consumers) = ring.stage("all").poller().build()?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(consumers.take_poller("all")?.wait()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn pace(&mut self, pacing: &Pacing<'_>) {
        let _ = pacing;
    }
}

/// What a waiting thread does next: the answer of a [`WaitStrategy`].
///
/// After each step, the thread checks whether the wait is over and whether its time limit has
/// passed. It reads the clock only if there is a limit.
///
/// ```
/// use std::time::Duration;
/// use lapwing::wait::{Step, WaitStrategy, Waiting};
///
/// /// Polls, yields, and sleeps, each for longer than the step before.
/// #[derive(Clone)]
/// struct Phases;
///
/// impl WaitStrategy for Phases {
///     const PARKS: bool = false;
///     fn next(&mut self, waiting: &Waiting<'_>) -> Step {
///         match waiting.steps() {
///             0 => Step::Poll(100),
///             1..100 => Step::Yield,
///             _ => Step::Sleep(Duration::from_micros(50)),
///         }
///     }
/// }
///
/// let ring = lapwing::Disruptor::single_producer(8, || 0_u64).wait_strategy(Phases).stage("all").poller();
/// let (mut producer, mut consumers) = ring.build()?;
/// let mut poller = consumers.take_poller("all")?;
/// let thread = std::thread::spawn(move || producer.publish(|event| *event = 7));
/// assert_eq!(poller.wait()?.as_slice(), [7]);
/// thread.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Polls up to this many times, with a pause hint after each poll. This has the lowest latency
    /// and keeps the CPU busy. The thread checks for the end of the ring and the time limit after
    /// 256 polls at most.
    ///
    /// For a stage with a thread of its own, and for a poller, a poll is the shortest path to an
    /// event: the poll that finds the event also takes it.
    Poll(u32),

    /// Backs off for this many pause hints, 10 to 45 ns each, and polls once. In a fast stream,
    /// this leaves the cache line with the other side meanwhile. The thread checks whether the wait
    /// is over after 1,024 hints at most.
    Pause(u32),

    /// Yields the CPU to another thread, if one is ready to run, and polls once. The ring records
    /// how long the yield took.
    ///
    /// [Beside busy threads](super#beside-busy-threads) of other programs, a yield takes a time
    /// slice of some milliseconds, so it [is refused](Waiting::is_yield_refused). The first refused
    /// yield of a wait, or after a sleep, does nothing. If the next yield is refused too, it is a
    /// sleep of about 65 µs.
    Yield,

    /// Sleeps for this time, or until the time limit if that is earlier. Does not sleep if the wait
    /// is over.
    ///
    /// An event or a free slot does not wake the thread, so the sleep costs the other side nothing.
    /// A close, a halt or a stop does. The thread may also wake spuriously. In a closed ring that
    /// is not drained, a sleep lasts at most a millisecond: the remaining events arrive soon. Linux
    /// adds its timer slack, 50 µs by default.
    Sleep(Duration),

    /// Parks until another thread wakes this one: when what it waits for may be available, or after
    /// a close, a halt or a stop. Does not park if the wait is over. Also returns at the time
    /// limit, and may return spuriously.
    ///
    /// In a ring whose threads [do not check](WaitStrategy::PARKS) for parked threads, the thread
    /// wakes every 50 µs to check by itself, until the wait is over or has expired.
    Park,
}

/// How a wait ended, for [`WaitStrategy::ended`], which has an example.
#[derive(Debug, Clone)]
pub struct Waited {
    /// The result of the last yield since the last sleep.
    pub(super) last_yield: Option<Yield>,
    pub(super) slept: Duration,
    pub(super) is_expired: bool,
}

impl Waited {
    /// Returns how long the last sleep of the wait took, parked or not. Zero if there was none.
    ///
    /// [`WaitStrategy::ended`] has an example.
    #[must_use]
    pub fn slept(&self) -> Duration {
        self.slept
    }

    /// Returns whether the [time limit](Waiting::deadline) had passed when the thread last checked
    /// it. What it waited for may still have arrived at the last moment.
    ///
    /// ```
    /// use std::{sync::mpsc, time::Duration};
    /// use lapwing::{Disruptor, wait::{Step, WaitStrategy, Waited, Waiting}};
    ///
    /// #[derive(Clone)]
    /// struct Record(mpsc::Sender<bool>);
    ///
    /// impl WaitStrategy for Record {
    ///     const PARKS: bool = true;
    ///     fn next(&mut self, _: &Waiting<'_>) -> Step { Step::Park }
    ///     fn ended(&mut self, waited: &Waited) { self.0.send(waited.is_expired()).unwrap() }
    /// }
    ///
    /// let (log, answers) = mpsc::channel();
    /// let ring = Disruptor::single_producer(8, || 0_u64).stage("all").wait_strategy(Record(log)).poller();
    /// let (_producer, mut consumers) = ring.build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// for _ in 0..2 {
    ///     assert!(poller.wait_timeout(Duration::from_millis(1)).is_err()); // nothing is published
    /// }
    /// assert!(answers.try_recv()?); // that of the first wait
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.is_expired
    }
}

/// A [`WaitStrategy`] of any type. Called through a pointer by a thread that must wait, and by a
/// consumer once for the events that a poll found.
pub(crate) trait AnyWaitStrategy: Send + Sync {
    fn parks(&self) -> bool;
    fn next(&mut self, waiting: &Waiting<'_>) -> Step;
    fn ended(&mut self, waited: &Waited);
    fn pace(&mut self, pacing: &Pacing<'_>);
    fn boxed_clone(&self) -> Box<dyn AnyWaitStrategy>;
}

impl<W: WaitStrategy> AnyWaitStrategy for W {
    fn parks(&self) -> bool {
        W::PARKS
    }

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        WaitStrategy::next(self, waiting)
    }

    fn ended(&mut self, waited: &Waited) {
        WaitStrategy::ended(self, waited);
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
