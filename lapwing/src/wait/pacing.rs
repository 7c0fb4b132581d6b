//! What a strategy is told when its consumer has finished all that it knew of, and how it may keep away then.

use super::cpu_load::CpuLoad;
use crate::sync::{pause, yield_now};

/// What a consumer has finished since it last looked, as a [`WaitStrategy`](super::WaitStrategy) sees it that
/// [paces](super::WaitStrategy::pace) it.
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
    /// Whether the threads of the ring want more CPUs than they get, where this consumer may hold up another stage by that.
    pub(crate) load: Option<CpuLoad<'a>>,
}

impl Pacing<'_> {
    /// Number of events that the last look had found, all of which are finished: at least one. Of stages that share
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

    /// Whether these were a quarter of the ring or more: the consumer came late, whatever kept it away, and producers
    /// may wait for it. A strategy that keeps away does so for a shorter time from now on.
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

    /// Whether the threads of the ring want more CPUs than they get, as far as its waiters have noticed when they
    /// gave theirs away, and this consumer may hold up another stage by keeping its own. A stage that all others come before
    /// never does, as it waits for what they do not get done, nor a worker, whose group takes what it leaves.
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

    /// Gives the CPU to another thread, if one wants it, and notes whether one did: so a load that is gone is
    /// forgotten.
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

    /// Keeps away for `hints` pause hints, 10 to 45 ns each.
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
