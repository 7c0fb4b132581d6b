//! What a strategy learns when its consumer has finished all available events, and how it may back
//! off then. Not here: when that is (`WaitStrategy::pace`, `consumer::source`).

use super::cpu_load::CpuLoad;
use crate::sync::yield_now;

/// The events that a consumer has just finished, for a [`WaitStrategy`](super::WaitStrategy) that
/// [paces](super::WaitStrategy::pace) it.
///
/// This strategy yields under oversubscription, and backs off from a stream for ten pause hints:
///
/// ```
/// use lapwing::{Disruptor, wait::{Pacing, Step, WaitStrategy, Waiting}};
///
/// #[derive(Clone)]
/// struct Calm;
///
/// impl WaitStrategy for Calm {
///     const PARKS: bool = false;
///     fn next(&mut self, _: &Waiting<'_>) -> Step { Step::Yield }
///     fn pace(&mut self, pacing: &Pacing<'_>) {
///         if pacing.is_oversubscribed() {
///             pacing.yield_now();
///         } else if pacing.events() >= 16 && !pacing.is_late() {
///             pacing.pause(10);
///         }
///     }
/// }
///
/// let ring = Disruptor::single_producer(8, || 0_u64).wait_strategy(Calm).stage("all").poller();
/// assert!(ring.build().is_ok());
/// ```
#[derive(Debug)]
pub struct Pacing<'a> {
    pub(crate) events: u64,
    pub(crate) is_late: bool,
    /// The load of the CPUs, if this consumer may hold up another stage while it keeps its CPU.
    pub(crate) load: Option<CpuLoad<'a>>,
}

impl Pacing<'_> {
    /// Returns the number of events that the consumer has finished since it last had none left.
    ///
    /// Usually its last poll found all of them. The number is at least 1. If several stages share
    /// the thread, it is the greatest of their numbers.
    ///
    /// ```
    /// use std::{sync::mpsc, time::Duration};
    /// use lapwing::{Disruptor, wait::{Pacing, Step, WaitStrategy, Waiting}};
    ///
    /// #[derive(Clone)]
    /// struct Record(mpsc::Sender<u64>);
    ///
    /// impl WaitStrategy for Record {
    ///     const PARKS: bool = false;
    ///     fn next(&mut self, _: &Waiting<'_>) -> Step { Step::Yield }
    ///     fn pace(&mut self, pacing: &Pacing<'_>) {
    ///         self.0.send(pacing.events()).unwrap();
    ///     }
    /// }
    ///
    /// let (log, numbers) = mpsc::channel();
    /// let ring = Disruptor::single_producer(64, || 0_u64).stage("all").wait_strategy(Record(log)).poller();
    /// let (mut producer, mut consumers) = ring.build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// producer.publish_batch(3, |_| {})?;
    /// poller.wait()?.consume_all();
    /// assert!(poller.wait_timeout(Duration::ZERO).is_err()); // calls `pace` before it polls
    /// assert_eq!(numbers.try_recv(), Ok(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Returns whether these events were a quarter of the ring or more. The consumer then came
    /// late, and producers may be waiting for it. A strategy that backs off should do so for a
    /// shorter time from now on.
    ///
    /// ```
    /// use std::{sync::mpsc, time::Duration};
    /// use lapwing::{Disruptor, wait::{Pacing, Step, WaitStrategy, Waiting}};
    ///
    /// #[derive(Clone)]
    /// struct Record(mpsc::Sender<bool>);
    ///
    /// impl WaitStrategy for Record {
    ///     const PARKS: bool = false;
    ///     fn next(&mut self, _: &Waiting<'_>) -> Step { Step::Yield }
    ///     fn pace(&mut self, pacing: &Pacing<'_>) {
    ///         self.0.send(pacing.is_late()).unwrap();
    ///     }
    /// }
    ///
    /// let (log, answers) = mpsc::channel();
    /// let ring = Disruptor::single_producer(8, || 0_u64).stage("all").wait_strategy(Record(log)).poller();
    /// let (mut producer, mut consumers) = ring.build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// producer.publish_batch(7, |_| {})?; // 7 of 8 slots
    /// poller.wait()?.consume_all();
    /// assert!(poller.wait_timeout(Duration::ZERO).is_err()); // calls `pace` before it polls
    /// assert_eq!(answers.try_recv(), Ok(true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.is_late
    }

    /// Returns whether the ring is oversubscribed and this consumer may hold up another stage while
    /// it keeps its CPU.
    ///
    /// Oversubscription means more runnable threads than CPUs. It is estimated from how long the
    /// yields of the ring's threads take. A process with one CPU always counts as oversubscribed. A
    /// ring [beside busy threads](super#beside-busy-threads) never does.
    ///
    /// A stage that runs last and alone, in a ring without dynamic stages, holds up no other stage.
    /// Nor does a worker, since its group handles what it leaves. Stages that share a thread always
    /// count as holding up another one.
    ///
    /// ```
    /// use std::{sync::mpsc, time::Duration};
    /// use lapwing::{Disruptor, wait::{Pacing, Step, WaitStrategy, Waiting}};
    ///
    /// #[derive(Clone)]
    /// struct Record(mpsc::Sender<bool>);
    ///
    /// impl WaitStrategy for Record {
    ///     const PARKS: bool = false;
    ///     fn next(&mut self, _: &Waiting<'_>) -> Step { Step::Yield }
    ///     fn pace(&mut self, pacing: &Pacing<'_>) {
    ///         self.0.send(pacing.is_oversubscribed()).unwrap();
    ///     }
    /// }
    ///
    /// let (log, answers) = mpsc::channel();
    /// let ring = Disruptor::single_producer(8, || 0_u64).stage("all").wait_strategy(Record(log)).poller();
    /// let (mut producer, mut consumers) = ring.build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// producer.publish(|_| {})?;
    /// poller.wait()?.consume_all();
    /// assert!(poller.wait_timeout(Duration::ZERO).is_err()); // calls `pace` before it polls
    /// assert_eq!(answers.try_recv(), Ok(false)); // there is no other stage
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_oversubscribed(&self) -> bool {
        self.load.is_some_and(CpuLoad::is_oversubscribed)
    }

    /// Yields the CPU to another thread, if one is ready to run.
    ///
    /// If the consumer may hold up another stage, this also records whether a thread was ready, so
    /// that the ring notices the end of an oversubscription. It then does nothing while yields are
    /// [banned](super#beside-busy-threads).
    ///
    /// ```
    /// use lapwing::{Disruptor, wait::{Pacing, Step, WaitStrategy, Waiting}};
    ///
    /// #[derive(Clone)]
    /// struct Polite;
    ///
    /// impl WaitStrategy for Polite {
    ///     const PARKS: bool = false;
    ///     fn next(&mut self, _: &Waiting<'_>) -> Step { Step::Yield }
    ///     fn pace(&mut self, pacing: &Pacing<'_>) {
    ///         pacing.yield_now();
    ///     }
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64).wait_strategy(Polite).stage("all").poller();
    /// let (mut producer, mut consumers) = ring.build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// producer.publish(|_| {})?;
    /// poller.wait()?.consume_all();
    /// assert!(poller.wait_timeout(std::time::Duration::ZERO).is_err()); // calls `pace`
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
    /// use lapwing::{Disruptor, wait::{Pacing, Step, WaitStrategy, Waiting}};
    ///
    /// #[derive(Clone)]
    /// struct Brief;
    ///
    /// impl WaitStrategy for Brief {
    ///     const PARKS: bool = false;
    ///     fn next(&mut self, _: &Waiting<'_>) -> Step { Step::Yield }
    ///     fn pace(&mut self, pacing: &Pacing<'_>) {
    ///         pacing.pause(10);
    ///     }
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64).wait_strategy(Brief).stage("all").poller();
    /// let (mut producer, mut consumers) = ring.build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// producer.publish(|_| {})?;
    /// poller.wait()?.consume_all();
    /// assert!(poller.wait_timeout(std::time::Duration::ZERO).is_err()); // calls `pace`
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn pause(&self, hints: u32) {
        crate::sync::pause(hints);
    }
}
