//! What a strategy can do during one wait: poll, yield the CPU, sleep and park. Not here: what the wait is
//! for (`Awaited`), the loops of polls (`polls`).

use std::fmt;
use std::ptr;
use std::time::{Duration, Instant};

use super::cpu_load::{CpuLoad, Yield};
use super::polls::SPINS_PER_CLOCK;
use crate::activity::Sleeper;
use crate::deadline::has_passed;
use crate::protocol::control::Control;
use crate::protocol::life::Life;
use crate::protocol::parking::Awaited;
use crate::protocol::parking::asymmetric::AsymmetricFence;
use crate::protocol::parking::event_count::UNSEEN_SLEEP;
use crate::sync::{spin_loop, yield_now};

/// The length of a sleep that is to be as short as possible.
const SHORTEST_SLEEP: Duration = Duration::from_micros(1);
/// Longest sleep once the ring accepts no more events: the rest of them arrive soon, and no thread wakes a
/// sleeper without a mark.
const DRAINING_SLEEP: Duration = Duration::from_millis(1);

/// One wait, for a [`WaitStrategy`](super::WaitStrategy).
///
/// A strategy uses it to check whether the wait is over, and to wait:
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
    /// Whether the other side checks for sleepers.
    pub(crate) is_signalled: bool,
    /// Whether the threads of the ring need more CPUs than they get.
    pub(crate) load: CpuLoad<'a>,
    /// Notified when this thread sleeps and wakes.
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

    /// Whether the wait is over: its goal is reached, or never will be since the ring is closed or halted.
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
    /// Never blocks; loads one cache line for each sequence that it waits for.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.awaited.is_over()
    }

    /// Whether the time limit of the caller has passed. Reads the clock if there is a limit. One of several producers
    /// has a limit of a millisecond or more in each wait, after which they [take turns](super#several-producers-on-a-full-ring).
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
        has_passed(self.deadline)
    }

    /// When the time limit of the caller ends, if it has one, or an earlier one of
    /// [several producers](super#several-producers-on-a-full-ring).
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

    /// Polls up to `times` times, with a pause hint after each poll. Returns true as soon as the wait is
    /// over, and false after the last poll or at the time limit of the caller.
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
        let mut left = times;
        while left > 0 {
            let block = left.min(SPINS_PER_CLOCK);
            if self.look(block, spin_loop) {
                return true;
            }
            if self.is_expired() {
                return false;
            }
            left -= block;
        }
        false
    }

    /// Polls up to `times` times, with a yield of the CPU after each poll. Returns true as soon as the wait
    /// is over, and false after the last poll or at the time limit of the caller.
    ///
    /// Returns false without a yield beside busy threads of other programs, where a yield takes a time slice
    /// of some milliseconds. The [module](super#beside-busy-threads) says how the ring knows.
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
        for _ in 0..times {
            if self.seems_over() {
                return true;
            }
            if self.load.give_way() == Yield::Refused || self.is_expired() {
                return false;
            }
        }
        false
    }

    /// Sleeps once, unless the wait is over, for as short as the system can: about 65 µs on Linux, which adds its
    /// timer slack. Costs the other side nothing. Returns how long it took.
    pub(super) fn nap(&self) -> Duration {
        let start = Instant::now();
        self.sleep(SHORTEST_SLEEP);
        start.elapsed()
    }

    /// Sleeps for `duration`, less if the time limit of the caller ends sooner, and not at all if the wait is
    /// over. Progress of what it waits for does not wake the sleeper, so the sleep costs the other side
    /// nothing. A close or a halt of the ring wakes it. It may also wake spuriously.
    ///
    /// In a closed ring that is not yet drained, a sleep lasts at most a millisecond, since the remaining
    /// events arrive soon.
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

    /// How long to sleep if the strategy asked for `longest`; `None` for not at all.
    fn length_of_sleep(&self, longest: Duration) -> Option<Duration> {
        // O7: the epoch was loaded before, so this sees a close or a halt that has already woken the
        // sleepers. Any event count serves, since those two wake all of them.
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

    /// Sleeps until what it waits for advances, until the deadline, or until a spurious wake.
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
    /// Blocks in the operating system. If no strategy of the ring [parks](super::WaitStrategy::PARKS), other
    /// threads do not check for sleepers. The call then wakes every 50 µs to check for itself, until the wait
    /// is over or has expired.
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

    /// Sleeps where a thread that advances what it waits for wakes it.
    fn park_there(&self) {
        let Some(place) = self.awaited.event_count() else {
            return yield_now();
        };
        // The stage that was behind may have advanced before this thread marked its event count. Another one
        // may be behind now, and would not wake this thread. The place is checked first, then the state: a
        // thread that advances in between wakes this one, or the second check sees it.
        let is_elsewhere =
            || !self.awaited.event_count().is_some_and(|other| ptr::eq(place, other));
        let is_over = || is_elsewhere() || self.is_over();
        let longest = self.awaited.longest_sleep();
        let time_left = || [self.time_left(), longest].into_iter().flatten().min();
        self.asleep(|| place.park(self.fence, time_left, is_over));
    }

    /// Runs `sleep`, which returns whether another thread woke it, and notifies `sleeper` of both ends.
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
