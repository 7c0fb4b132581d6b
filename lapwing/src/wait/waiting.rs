//! What a strategy can do during one wait: poll, yield the CPU, sleep and park. Not here: the goal
//! of the wait (`lapwing_core::Awaited`), the loops of polls (`polls`).

use std::fmt;
use std::time::{Duration, Instant};

use lapwing_core::{Awaited, Control, Sleeper, Wait};

use super::cpu_load::{CpuLoad, Yield};
use crate::ring::Shared;
use crate::sync::{now, spin_loop};

/// Polls of a spinning strategy between two reads of the clock. A read costs as much as one or two
/// polls. A yielding strategy reads the clock each time, since other threads may have used the CPU
/// for long.
pub(super) const SPINS_PER_CLOCK: u32 = 64;

/// The length of the shortest sleep.
const SHORTEST_SLEEP: Duration = Duration::from_micros(1);
/// One wait of a thread, for a [`WaitStrategy`](super::WaitStrategy): checks whether the wait is
/// over, and waits.
///
/// ```
/// use lapwing::wait::{WaitStrategy, Waiting};
///
/// #[derive(Clone)]
/// struct Eager;
///
/// impl WaitStrategy for Eager {
///     const PARKS: bool = true;
///     fn wait(&mut self, waiting: &Waiting<'_>) {
///         if !waiting.spin(1_000) && !waiting.yield_up_to(10) && !waiting.is_expired() {
///             waiting.park();
///         }
///     }
/// }
///
/// let ring = lapwing::Disruptor::single_producer(8, || 0_u64).wait(Eager).stage("all").poller();
/// let (mut producer, mut consumers) = ring.build()?;
/// let mut poller = consumers.take_poller("all")?;
/// let thread = std::thread::spawn(move || producer.publish(|event| *event = 7));
/// assert_eq!(poller.wait()?.as_slice(), [7]);
/// thread.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Waiting<'a> {
    wait: Wait<'a>,
    control: &'a Control,
    /// What the ring knows about the load of its CPUs.
    pub(super) load: CpuLoad<'a>,
}

impl<'a> Waiting<'a> {
    /// The wait for `awaited` in the ring of `shared`, until `deadline` if there is one.
    pub(crate) fn new(
        shared: &'a Shared,
        awaited: &'a dyn Awaited,
        deadline: Option<Instant>,
    ) -> Self {
        let wait = Wait { awaited, deadline, sleeper: None };
        Self { wait, control: &shared.control, load: CpuLoad::of(shared) }
    }

    /// The same wait, whose sleeps `sleeper` records.
    pub(crate) fn recorded(mut self, sleeper: &'a dyn Sleeper) -> Self {
        self.wait.sleeper = Some(sleeper);
        self
    }

    /// A cheaper [`is_over`](Self::is_over), for a thread that polls.
    pub(super) fn seems_over(&self) -> bool {
        self.wait.awaited.seems_over()
    }

    /// Returns whether the thread has no reason to wait any longer. That is one of the following:
    ///
    /// - What the thread waits for is available: an event, or enough free slots.
    /// - It will never be available, since the ring is closed or halted.
    /// - The stage is asked to [stop](crate::consumer::StopHandle::stop).
    /// - The worker has something else to do, such as to hand over the state of its keys.
    /// - Only the thread of this producer can free a slot: it [would
    ///   deadlock](crate::error::PublishError::WouldDeadlock).
    ///
    /// ```
    /// use lapwing::{Disruptor, wait::{WaitStrategy, Waiting}};
    ///
    /// #[derive(Clone)]
    /// struct Spin;
    ///
    /// impl WaitStrategy for Spin {
    ///     const PARKS: bool = false;
    ///     fn wait(&mut self, waiting: &Waiting<'_>) {
    ///         while !waiting.is_over() && !waiting.is_expired() {
    ///             std::hint::spin_loop();
    ///         }
    ///     }
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64).wait(Spin).stage("all").poller();
    /// let (mut producer, mut consumers) = ring.build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// let thread = std::thread::spawn(move || producer.publish(|event| *event = 7));
    /// assert_eq!(poller.wait()?.as_slice(), [7]);
    /// thread.join().unwrap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// Never blocks. Loads one cache line for each sequence that the thread waits for.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.wait.awaited.is_over()
    }

    /// Returns whether the time limit has passed. Reads the clock if there is a limit.
    ///
    /// The limit is that of the caller, for example the [timeout](crate::Stage::timeout) of a
    /// stage, or an earlier one that the library sets:
    ///
    /// - While [several producers](super#several-producers-on-a-full-ring) wait on a full ring, to
    ///   take turns. It also applies to the consumers of that ring.
    /// - For a thread that [runs stages together](crate::consumer::Consumer::run_together), to poll
    ///   those that cannot wake it, and to end the pause of one.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Disruptor, wait::{WaitStrategy, Waiting}};
    ///
    /// #[derive(Clone)]
    /// struct Check;
    ///
    /// impl WaitStrategy for Check {
    ///     const PARKS: bool = false;
    ///     // The caller's limit is zero.
    ///     fn wait(&mut self, waiting: &Waiting<'_>) { assert!(waiting.is_expired()); }
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64).wait(Check).stage("all").poller();
    /// let (_producer, mut consumers) = ring.build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// assert!(poller.wait_timeout(Duration::ZERO).is_err()); // nothing is published
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.wait.is_expired()
    }

    /// Returns when the time limit ends, if there is one.
    ///
    /// The limit is that of the caller, or an earlier one; see [`is_expired`](Self::is_expired).
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Disruptor, wait::{WaitStrategy, Waiting}};
    ///
    /// #[derive(Clone)]
    /// struct Check;
    ///
    /// impl WaitStrategy for Check {
    ///     const PARKS: bool = false;
    ///     // `wait_timeout` has a limit.
    ///     fn wait(&mut self, waiting: &Waiting<'_>) { assert!(waiting.deadline().is_some()); }
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64).wait(Check).stage("all").poller();
    /// let (_producer, mut consumers) = ring.build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// assert!(poller.wait_timeout(Duration::ZERO).is_err()); // nothing is published
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.wait.deadline
    }

    /// Polls up to `times` times, with a pause hint after each poll. Returns true as soon as the
    /// wait is over, and false after the last poll or at the time limit, checked every 64 polls.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Disruptor, wait::{WaitStrategy, Waiting}};
    ///
    /// #[derive(Clone)]
    /// struct Check;
    ///
    /// impl WaitStrategy for Check {
    ///     const PARKS: bool = false;
    ///     fn wait(&mut self, waiting: &Waiting<'_>) { assert!(!waiting.spin(100)); }
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64).wait(Check).stage("all").poller();
    /// let (_producer, mut consumers) = ring.build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// assert!(poller.wait_timeout(Duration::ZERO).is_err()); // nothing is published
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

    /// Polls up to `times` times, with a yield of the CPU after each poll. Returns true as soon as
    /// the wait is over, and false after the last poll or at the time limit.
    ///
    /// [Beside busy threads](super#beside-busy-threads) of other programs, a yield takes a time
    /// slice of some milliseconds. The call then returns false without a yield.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Disruptor, wait::{WaitStrategy, Waiting}};
    ///
    /// #[derive(Clone)]
    /// struct Check;
    ///
    /// impl WaitStrategy for Check {
    ///     const PARKS: bool = false;
    ///     fn wait(&mut self, waiting: &Waiting<'_>) { assert!(!waiting.yield_up_to(10)); }
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64).wait(Check).stage("all").poller();
    /// let (_producer, mut consumers) = ring.build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// assert!(poller.wait_timeout(Duration::ZERO).is_err()); // nothing is published
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

    /// Sleeps once, for as short as the system can, unless the wait is over: about 65 µs on Linux,
    /// which adds its timer slack. Costs the other side nothing. Returns how long it took.
    pub(super) fn nap(&self) -> Duration {
        let start = now();
        self.sleep(SHORTEST_SLEEP);
        now() - start
    }

    /// Sleeps for `duration`, or until the time limit if that is earlier. Does not sleep if the
    /// wait is over.
    ///
    /// An event or a free slot does not wake the thread, so the sleep costs the other side nothing.
    /// A close, a halt or a stop does. The thread may also wake spuriously. In a closed ring that
    /// is not drained, a sleep lasts at most a millisecond: the remaining events arrive soon.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use lapwing::{Disruptor, wait::{WaitStrategy, Waiting}};
    ///
    /// #[derive(Clone)]
    /// struct Rare;
    ///
    /// impl WaitStrategy for Rare {
    ///     const PARKS: bool = false;
    ///     fn wait(&mut self, waiting: &Waiting<'_>) {
    ///         waiting.sleep(Duration::from_secs(10));
    ///     }
    /// }
    ///
    /// let start = Instant::now();
    /// let ring = Disruptor::single_producer(8, || 0_u64).wait(Rare).stage("idle").read(|_, _, _| {});
    /// let (_producer, consumers) = ring.build()?;
    /// consumers.start()?.shutdown()?; // ends the sleep
    /// assert!(start.elapsed() < Duration::from_secs(10));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// Blocks in the operating system for `duration`, or until the time limit, a close, a halt or a
    /// stop. Linux adds its timer slack, 50 µs by default. [`spin`](Self::spin) never blocks.
    pub fn sleep(&self, duration: Duration) {
        self.control.sleep(&self.wait, duration);
    }

    /// Parks until another thread wakes this one: when what it waits for may be available, or after
    /// a close, a halt or a stop. Returns at once if the wait is over. Also returns at the time
    /// limit, and may return spuriously.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Disruptor, wait::{WaitStrategy, Waiting}};
    ///
    /// #[derive(Clone)]
    /// struct Parks;
    ///
    /// impl WaitStrategy for Parks {
    ///     const PARKS: bool = true;
    ///     fn wait(&mut self, waiting: &Waiting<'_>) {
    ///         if !waiting.spin(100) {
    ///             waiting.park();
    ///         }
    ///     }
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64).wait(Parks).stage("all").poller();
    /// let (_producer, mut consumers) = ring.build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// assert!(poller.wait_timeout(Duration::ZERO).is_err()); // nothing is published
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// Blocks in the operating system until another thread wakes it, or until the time limit. In a
    /// ring whose threads [do not check](super::WaitStrategy::PARKS) for parked threads, the call
    /// wakes every 50 µs to check by itself, until the wait is over or has expired.
    /// [`spin`](Self::spin) does not block.
    pub fn park(&self) {
        self.control.park(&self.wait);
    }
}

impl fmt::Debug for Waiting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("deadline", &self.deadline()).finish_non_exhaustive()
    }
}
