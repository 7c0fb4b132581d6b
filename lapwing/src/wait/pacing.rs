//! What a strategy learns when its consumer has finished all events that it knew of, and how it may back off
//! then. Not here: when that is (`WaitStrategy::pace`, `consumer::source`).

use super::cpu_load::CpuLoad;
use crate::sync::{pause, yield_now};

/// The events that a consumer has finished since its last check, for a [`WaitStrategy`](super::WaitStrategy)
/// that [paces](super::WaitStrategy::pace) it.
///
/// ```
/// use lapwing::wait::{Pacing, WaitStrategy, Waiting, Yielding};
///
/// /// Keeps away from a stream for ten pause hints, and gives its CPU away where others want it.
/// #[derive(Clone)]
/// struct Calm;
///
/// impl WaitStrategy for Calm {
///     const PARKS: bool = false;
///
///     fn wait(&mut self, waiting: &Waiting<'_>) {
///         Yielding::default().wait(waiting);
///     }
///
///     fn pace(&mut self, pacing: &Pacing<'_>) {
///         if pacing.is_oversubscribed() {
///             pacing.yield_now();
///         } else if pacing.events() >= 16 && !pacing.is_late() {
///             pacing.keep_away(10);
///         }
///     }
/// }
///
/// let (mut producer, consumers) = lapwing::Disruptor::single_producer(8, || 0_u64)
///     .wait(Calm)
///     .stage("check").read(|event, _, _| assert_eq!(*event, 7))
///     .build()?;
/// let running = consumers.start()?;
/// (0..100).try_for_each(|_| producer.publish(|event| *event = 7).map(drop))?;
/// assert_eq!(running.shutdown()?.stages().next().unwrap().processed(), 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Pacing<'a> {
    pub(crate) events: u64,
    pub(crate) is_late: bool,
    /// The CPU load of the ring, if this consumer may hold up another stage while it keeps its CPU.
    pub(crate) load: Option<CpuLoad<'a>>,
}

impl Pacing<'_> {
    /// Number of events that the last check found, all of them finished: at least one. For stages that share
    /// a thread, the most that one of them has finished.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use lapwing::{Disruptor, wait::{Pacing, WaitStrategy, Waiting}};
    /// # #[derive(Clone)]
    /// # struct Mine;
    /// # impl WaitStrategy for Mine {
    /// #     const PARKS: bool = false;
    /// #     fn wait(&mut self, _: &Waiting<'_>) {}
    /// fn pace(&mut self, pacing: &Pacing<'_>) {
    ///     assert_eq!(pacing.events(), 3); // published together
    /// }
    /// # }
    /// # let (mut producer, mut consumers) =
    /// #     Disruptor::single_producer(64, || 0_u64).wait(Mine).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// producer.publish_batch(3, |_| {})?;
    /// poller.wait()?.consume_all();
    /// assert!(poller.wait_timeout(Duration::ZERO).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Whether these were a quarter of the ring or more. The consumer then came late, and producers may wait
    /// for it. A strategy that backs off should do so for a shorter time from now on.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use lapwing::{Disruptor, wait::{Pacing, WaitStrategy, Waiting}};
    /// # #[derive(Clone)]
    /// # struct Mine;
    /// # impl WaitStrategy for Mine {
    /// #     const PARKS: bool = false;
    /// #     fn wait(&mut self, _: &Waiting<'_>) {}
    /// fn pace(&mut self, pacing: &Pacing<'_>) {
    ///     assert_eq!(pacing.is_late(), pacing.events() >= 2); // of 8 slots
    /// }
    /// # }
    /// # let (mut producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).wait(Mine).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// for events in [1, 7] {
    ///     producer.publish_batch(events, |_| {})?;
    ///     poller.wait()?.consume_all();
    ///     assert!(poller.wait_timeout(Duration::ZERO).is_err());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.is_late
    }

    /// Whether the threads of the ring need more CPUs than they get, and this consumer may hold up another
    /// stage while it keeps its CPU. The first is an estimate, from how long yields of the ring's waiters
    /// take. The second is never true of a stage that comes after all others, nor of a worker, whose group
    /// handles what it leaves.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use lapwing::{Disruptor, wait::{Pacing, WaitStrategy, Waiting}};
    /// # #[derive(Clone)]
    /// # struct Mine;
    /// # impl WaitStrategy for Mine {
    /// #     const PARKS: bool = false;
    /// #     fn wait(&mut self, _: &Waiting<'_>) {}
    /// fn pace(&mut self, pacing: &Pacing<'_>) {
    ///     assert!(!pacing.is_oversubscribed()); // nobody has given away a CPU here
    /// }
    /// # }
    /// # let (mut producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).wait(Mine).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// producer.publish(|_| {})?;
    /// poller.wait()?.consume_all();
    /// assert!(poller.wait_timeout(Duration::ZERO).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_oversubscribed(&self) -> bool {
        self.load.is_some_and(CpuLoad::is_oversubscribed)
    }

    /// Yields the CPU to another thread, if one is ready. Also records whether one was, so that a load that
    /// has gone is forgotten.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use lapwing::{Disruptor, wait::{Pacing, WaitStrategy, Waiting}};
    /// # #[derive(Clone)]
    /// # struct Mine;
    /// # impl WaitStrategy for Mine {
    /// #     const PARKS: bool = false;
    /// #     fn wait(&mut self, _: &Waiting<'_>) {}
    /// fn pace(&mut self, pacing: &Pacing<'_>) {
    ///     pacing.yield_now();
    ///     assert_eq!(pacing.events(), 1);
    /// }
    /// # }
    /// # let (mut producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).wait(Mine).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// producer.publish(|_| {})?;
    /// poller.wait()?.consume_all();
    /// assert!(poller.wait_timeout(Duration::ZERO).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn yield_now(&self) {
        match self.load {
            Some(load) => _ = load.give_way(),
            None => yield_now(),
        }
    }

    /// Backs off for `hints` pause hints, 10 to 45 ns each.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use lapwing::{Disruptor, wait::{Pacing, WaitStrategy, Waiting}};
    /// # #[derive(Clone)]
    /// # struct Mine;
    /// # impl WaitStrategy for Mine {
    /// #     const PARKS: bool = false;
    /// #     fn wait(&mut self, _: &Waiting<'_>) {}
    /// fn pace(&mut self, pacing: &Pacing<'_>) {
    ///     pacing.keep_away(10);
    ///     assert_eq!(pacing.events(), 1);
    /// }
    /// # }
    /// # let (mut producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).wait(Mine).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// producer.publish(|_| {})?;
    /// poller.wait()?.consume_all();
    /// assert!(poller.wait_timeout(Duration::ZERO).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn keep_away(&self, hints: u32) {
        pause(hints);
    }
}
