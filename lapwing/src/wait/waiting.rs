//! One wait, as a strategy sees it: looking, giving up the CPU, sleeping and parking.

use std::fmt;
use std::ptr;
use std::time::{Duration, Instant};

use super::cpu_load::CpuLoad;
use crate::activity::Sleeper;
use crate::protocol::control::Control;
use crate::protocol::life::Life;
use crate::protocol::parking::Awaited;
use crate::protocol::parking::asymmetric::AsymmetricFence;
use crate::protocol::parking::event_count::UNSEEN_SLEEP;
use crate::sync::{spin_loop, yield_now};

/// Looks of a strategy that spins between two looks at the clock, which costs as much as one or two of them. One that
/// yields looks at the clock each time: other threads may have had the CPU for long.
pub(super) const SPINS_PER_CLOCK: u32 = 64;
/// Longest sleep once the ring takes no more events: what is left of them is there soon, and nobody
/// wakes who sleeps uncounted.
const DRAINING_SLEEP: Duration = Duration::from_millis(1);

/// One wait, as a [`WaitStrategy`](super::WaitStrategy) sees it.
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
///     lapwing::Disruptor::single_producer(8, || 0_u64).wait(Eager).stage("all").poller().build()?;
/// let mut poller = consumers.take_poller("all")?;
/// let thread = std::thread::spawn(move || producer.publish(|event| *event = 7));
/// assert_eq!(poller.wait()?.as_slice(), [7]); // whichever thread is first
/// # thread.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Waiting<'a> {
    pub(crate) awaited: &'a dyn Awaited,
    pub(crate) deadline: Option<Instant>,
    pub(crate) life: &'a Life,
    pub(crate) fence: AsymmetricFence,
    /// Whether those who are waited for look for sleepers.
    pub(crate) is_signalled: bool,
    /// Whether the threads of the ring want more CPUs than they get.
    pub(crate) load: CpuLoad<'a>,
    /// Whom to tell that this thread sleeps.
    pub(crate) sleeper: Option<&'a dyn Sleeper>,
}

impl<'a> Waiting<'a> {
    /// The wait for `awaited` in the ring of `control`, until `deadline` if there is one.
    pub(crate) fn new(
        control: &'a Control,
        awaited: &'a dyn Awaited,
        deadline: Option<Instant>,
    ) -> Self {
        let Control { life, fence, is_signalled, .. } = control;
        let (fence, is_signalled, load) = (*fence, *is_signalled, CpuLoad::of(control));
        Self { awaited, deadline, life, fence, is_signalled, load, sleeper: None }
    }

    /// Whether what is waited for is there, or will never come since the ring is closed or halted.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use lapwing::{Disruptor, error::WaitTimeoutError, wait::{WaitStrategy, Waiting}};
    /// # #[derive(Clone)]
    /// # struct Mine;
    /// # impl WaitStrategy for Mine {
    /// #     const PARKS: bool = false;
    /// fn wait(&mut self, waiting: &Waiting<'_>) {
    ///     assert!(!waiting.is_over()); // nothing is published here
    /// }
    /// # }
    /// # let (_producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).wait(Mine).stage("all").poller().build()?;
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
    /// # use lapwing::{Disruptor, error::WaitTimeoutError, wait::{WaitStrategy, Waiting}};
    /// # #[derive(Clone)]
    /// # struct Mine;
    /// # impl WaitStrategy for Mine {
    /// #     const PARKS: bool = false;
    /// fn wait(&mut self, waiting: &Waiting<'_>) {
    ///     assert!(waiting.is_expired()); // this caller's limit is no time at all
    /// }
    /// # }
    /// # let (_producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).wait(Mine).stage("all").poller().build()?;
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
    /// # use lapwing::{Disruptor, error::WaitTimeoutError, wait::{WaitStrategy, Waiting}};
    /// # #[derive(Clone)]
    /// # struct Mine;
    /// # impl WaitStrategy for Mine {
    /// #     const PARKS: bool = false;
    /// fn wait(&mut self, waiting: &Waiting<'_>) {
    ///     assert!(waiting.deadline().is_some()); // called by `wait_timeout`
    /// }
    /// # }
    /// # let (_producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).wait(Mine).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// # assert_eq!(poller.wait_timeout(Duration::ZERO).err(), Some(WaitTimeoutError::TimedOut));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Looks `times` times with the CPU's pause hint in between; true as soon as the wait is over.
    /// It stops early, with false, at the caller's time limit.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use lapwing::{Disruptor, error::WaitTimeoutError, wait::{WaitStrategy, Waiting}};
    /// # #[derive(Clone)]
    /// # struct Mine;
    /// # impl WaitStrategy for Mine {
    /// #     const PARKS: bool = false;
    /// fn wait(&mut self, waiting: &Waiting<'_>) {
    ///     assert!(!waiting.spin(100)); // nothing is published here
    /// }
    /// # }
    /// # let (_producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).wait(Mine).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// # assert_eq!(poller.wait_timeout(Duration::ZERO).err(), Some(WaitTimeoutError::TimedOut));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn spin(&self, times: u32) -> bool {
        self.look_up_to(times, SPINS_PER_CLOCK, spin_loop)
    }

    /// Looks `times` times and gives the CPU to another thread in between; true as soon as the wait
    /// is over. It stops early, with false, at the caller's time limit.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use lapwing::{Disruptor, error::WaitTimeoutError, wait::{WaitStrategy, Waiting}};
    /// # #[derive(Clone)]
    /// # struct Mine;
    /// # impl WaitStrategy for Mine {
    /// #     const PARKS: bool = false;
    /// fn wait(&mut self, waiting: &Waiting<'_>) {
    ///     assert!(!waiting.yield_up_to(10)); // nothing is published here
    /// }
    /// # }
    /// # let (_producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).wait(Mine).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// # assert_eq!(poller.wait_timeout(Duration::ZERO).err(), Some(WaitTimeoutError::TimedOut));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn yield_up_to(&self, times: u32) -> bool {
        self.look_up_to(times, 1, || _ = self.load.give_way())
    }

    /// As [`is_over`](Self::is_over), for a thread that looks again.
    pub(super) fn seems_over(&self) -> bool {
        self.awaited.seems_over()
    }

    /// Looks `times` times, each followed by a `step`; true as soon as the wait is over.
    pub(super) fn look(&self, times: u32, step: impl Fn()) -> bool {
        for _ in 0..times {
            if self.seems_over() {
                return true;
            }
            step();
        }
        false
    }

    /// As [`look`](Self::look), but stops at the deadline too, for which it looks at the clock after
    /// every `per_clock` steps.
    fn look_up_to(&self, times: u32, per_clock: u32, step: impl Fn()) -> bool {
        let mut left = times;
        while left > 0 {
            let block = left.min(per_clock);
            if self.look(block, &step) {
                return true;
            }
            if self.is_expired() {
                return false;
            }
            left -= block;
        }
        false
    }

    /// Repeats `step` until the wait is over or has expired; looks at the clock after every
    /// `per_clock` steps, and without a deadline never.
    pub(super) fn repeat(&self, per_clock: u32, step: impl Fn()) {
        while !self.look(per_clock, &step) && !self.is_expired() {}
    }

    /// Repeats `step` until the wait is over or has expired, which is true, or until `phase` has
    /// passed. Looks at the clock after every `per_clock` steps, not before the first: a short wait
    /// never pays for it.
    pub(super) fn repeat_for(&self, phase: Duration, per_clock: u32, step: impl Fn()) -> bool {
        if phase.is_zero() {
            return false;
        }
        let has_passed = |end: Option<Instant>, now| end.is_some_and(|end| now >= end);
        let mut end_of_phase = None;
        while !self.look(per_clock, &step) {
            let now = Instant::now();
            if has_passed(self.deadline, now) {
                return true;
            }
            // A phase that is too long for the clock has no end.
            let end = *end_of_phase.get_or_insert_with(|| now.checked_add(phase));
            if has_passed(end, now) {
                return false;
            }
        }
        true
    }

    /// Sleeps for `duration`, less if the caller's time limit ends before it, and not at all if the
    /// wait is over. Nobody wakes the sleeper because what is waited for advances, so nobody pays
    /// for it; a close or a halt of the ring does wake it. It may also wake for no reason.
    ///
    /// In a ring that is closed and not yet drained a sleep lasts a millisecond at most: what is
    /// left comes soon.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::wait::{WaitStrategy, Waiting};
    ///
    /// /// Looks every ten seconds.
    /// #[derive(Clone)]
    /// struct Drowsy;
    ///
    /// impl WaitStrategy for Drowsy {
    ///     const PARKS: bool = false;
    ///
    ///     fn wait(&mut self, waiting: &Waiting<'_>) {
    ///         waiting.sleep(Duration::from_secs(10));
    ///     }
    /// }
    ///
    /// # let start = std::time::Instant::now();
    /// let (_producer, consumers) = lapwing::Disruptor::single_producer(8, || 0_u64)
    ///     .wait(Drowsy)
    ///     .stage("idle").read(|_, _, _| {})
    ///     .build()?;
    /// let running = consumers.start()?;
    /// let report = running.shutdown()?; // wakes it
    /// assert_eq!(report.stages().next().unwrap().processed(), 0);
    /// # assert!(start.elapsed() < Duration::from_secs(10));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// Blocks in the operating system. Linux adds its timer slack, 50 µs by default.
    pub fn sleep(&self, duration: Duration) {
        match self.awaited.event_count() {
            Some(place) => place.sleep(|| self.length_of_sleep(duration)),
            None => yield_now(),
        }
    }

    /// How long to sleep who asked for `longest`; `None` for not at all.
    fn length_of_sleep(&self, longest: Duration) -> Option<Duration> {
        // O7: the epoch was read before, so this sees a close or a halt that has already woken the
        // sleepers. Which place it was does not matter: those two wake all of them.
        if self.is_over() {
            return None;
        }
        let longest = if self.life.is_open() { longest } else { longest.min(DRAINING_SLEEP) };
        let length = self.time_left().map_or(longest, |left| left.min(longest));
        (!length.is_zero()).then_some(length)
    }

    /// Time until the deadline, if there is one.
    fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Sleeps until what is waited for advances, until the deadline, or for no reason.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use lapwing::{Disruptor, error::WaitTimeoutError, wait::{WaitStrategy, Waiting}};
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
    /// #     Disruptor::single_producer(8, || 0_u64).wait(Mine).stage("all").poller().build()?;
    /// # let mut poller = consumers.take_poller("all")?;
    /// assert_eq!(poller.wait_timeout(Duration::ZERO).err(), Some(WaitTimeoutError::TimedOut));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// Blocks in the operating system. Where no strategy that the ring was built with
    /// [parks](super::WaitStrategy::PARKS), nobody looks for sleepers: there it wakes every 50 µs to look
    /// for itself, until the wait is over.
    pub fn park(&self) {
        if !self.is_signalled {
            while !self.is_over() && !self.is_expired() {
                self.sleep(UNSEEN_SLEEP);
            }
            return;
        }
        let Some(turn) = self.awaited.turn() else {
            return self.park_there();
        };
        let follow = || turn.follow(self.fence, || self.time_left(), || self.is_over());
        if turn.take_watch() || self.asleep(follow) {
            self.park_there();
            turn.hand_on_watch(self.fence);
        }
    }

    /// Sleeps where whoever advances what is waited for wakes it.
    fn park_there(&self) {
        let Some(place) = self.awaited.event_count() else {
            return yield_now();
        };
        // Who was behind may have advanced before we lay down there, and somebody else may be
        // behind by now, who would not wake us. The place first, then the state: whoever advances
        // in between wakes us, or shows in the second look.
        let is_elsewhere =
            || !self.awaited.event_count().is_some_and(|other| ptr::eq(place, other));
        let is_over = || is_elsewhere() || self.is_over();
        let longest = self.awaited.longest_sleep();
        let time_left = || [self.time_left(), longest].into_iter().flatten().min();
        self.asleep(|| place.park(self.fence, time_left, is_over));
    }

    /// Sleeps by `sleep`, which says whether somebody woke it, and tells who wants to know.
    fn asleep(&self, sleep: impl FnOnce() -> bool) -> bool {
        self.sleeper.inspect(|sleeper| sleeper.lie_down());
        let is_woken = sleep();
        self.sleeper.inspect(|sleeper| sleeper.get_up(is_woken));
        is_woken
    }
}

impl fmt::Debug for Waiting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}
