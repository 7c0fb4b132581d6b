//! What a strategy knows about the wait in which it is asked for a step. Not here: how the thread
//! takes the step (`waiter`).

use std::cell::Cell;
use std::fmt;
use std::time::{Duration, Instant};

use super::cpu_load::{CpuLoad, Yield};
use super::spinner::Spinner;

/// The wait in which a [`WaitStrategy`](super::WaitStrategy) is asked for the next
/// [step](super::Step).
///
/// ```
/// use lapwing::wait::{Step, WaitStrategy, Waiting};
///
/// /// Polls, yields ten times, and parks.
/// #[derive(Clone)]
/// struct Eager;
///
/// impl WaitStrategy for Eager {
///     const PARKS: bool = true;
///     fn next(&mut self, waiting: &Waiting<'_>) -> Step {
///         match waiting.steps() {
///             0 => Step::Poll(1_000),
///             1..=10 if !waiting.is_yield_refused() => Step::Yield,
///             _ => Step::Park,
///         }
///     }
/// }
///
/// let ring = lapwing::Disruptor::single_producer(8, || 0_u64).wait_strategy(Eager).stage("all").poller();
/// let (mut producer, mut consumers) = ring.build()?;
/// let mut poller = consumers.take_poller("all")?;
/// let thread = std::thread::spawn(move || producer.publish(|event| *event = 7));
/// assert_eq!(poller.wait()?.as_slice(), [7]);
/// thread.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Waiting<'a> {
    /// What the ring knows about the load of its CPUs.
    pub(super) load: CpuLoad<'a>,
    limit: Option<Instant>,
    /// Whether its polls take what they find; see [`Goal`](super::waiter::Goal).
    pub(super) takes: bool,
    so_far: &'a SoFar,
    /// The right to spin, if the strategy has taken it.
    spinner: &'a Cell<Option<Spinner>>,
    /// The step at which the wait began, for this view of it.
    first: u64,
}

/// What has happened in a wait so far.
#[derive(Debug, Default)]
pub(super) struct SoFar {
    /// Steps that the strategy has answered.
    pub(super) steps: u64,
    /// How many of them the last sleep ended.
    pub(super) slept_at: u64,
    /// The result of the last yield since the last sleep. That of a yield which a sleep replaced
    /// stays.
    pub(super) last_yield: Option<Yield>,
    /// How long the last sleep took.
    pub(super) slept: Duration,
    /// Whether the time limit has passed.
    pub(super) is_expired: bool,
}

impl<'a> Waiting<'a> {
    pub(super) fn new(
        load: CpuLoad<'a>,
        limit: Option<Instant>,
        takes: bool,
        so_far: &'a SoFar,
        spinner: &'a Cell<Option<Spinner>>,
    ) -> Self {
        Self { load, limit, takes, so_far, spinner, first: 0 }
    }

    /// Returns the number of steps that the thread has taken in this wait. It is 0 for the first
    /// step of a wait.
    ///
    /// ```
    /// use lapwing::wait::{Step, WaitStrategy, Waiting};
    ///
    /// /// Polls once, then sleeps for longer and longer.
    /// #[derive(Clone)]
    /// struct Patient;
    ///
    /// impl WaitStrategy for Patient {
    ///     const PARKS: bool = false;
    ///     fn next(&mut self, waiting: &Waiting<'_>) -> Step {
    ///         match waiting.steps() {
    ///             0 => Step::Poll(1),
    ///             n => Step::Sleep(std::time::Duration::from_micros(50 * n.min(20))),
    ///         }
    ///     }
    /// }
    ///
    /// let ring = lapwing::Disruptor::single_producer(8, || 0_u64).wait_strategy(Patient).stage("all").poller();
    /// let (mut producer, mut consumers) = ring.build()?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(consumers.take_poller("all")?.wait()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.so_far.steps.saturating_sub(self.first)
    }

    /// Returns the number of steps since the thread last slept or parked in this wait. It is the
    /// same as [`steps`](Self::steps) if the thread has not slept.
    ///
    /// After a sleep or a park that did not end the wait, a strategy that uses this begins again
    /// with its first steps.
    ///
    /// ```
    /// use lapwing::wait::{Step, WaitStrategy, Waiting};
    ///
    /// /// Polls a thousand times before each park.
    /// #[derive(Clone)]
    /// struct Eager;
    ///
    /// impl WaitStrategy for Eager {
    ///     const PARKS: bool = true;
    ///     fn next(&mut self, waiting: &Waiting<'_>) -> Step {
    ///         if waiting.steps_awake() == 0 { Step::Poll(1_000) } else { Step::Park }
    ///     }
    /// }
    ///
    /// let ring = lapwing::Disruptor::single_producer(8, || 0_u64).wait_strategy(Eager).stage("all").poller();
    /// let (mut producer, mut consumers) = ring.build()?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(consumers.take_poller("all")?.wait()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn steps_awake(&self) -> u64 {
        self.so_far.steps.saturating_sub(self.so_far.slept_at.max(self.first))
    }

    /// Returns the same wait as if it began with step `first`. A strategy that hands over to
    /// another one in the middle of a wait shows it this view, in which
    /// [`steps`](Self::steps) begins at 0.
    ///
    /// ```
    /// use lapwing::wait::{Blocking, Step, WaitStrategy, Waiting};
    ///
    /// /// Polls a thousand times, then waits as `Blocking` does.
    /// #[derive(Clone, Default)]
    /// struct PollFirst(Blocking);
    ///
    /// impl WaitStrategy for PollFirst {
    ///     const PARKS: bool = Blocking::PARKS;
    ///     fn next(&mut self, waiting: &Waiting<'_>) -> Step {
    ///         match waiting.steps() {
    ///             0 => Step::Poll(1_000),
    ///             _ => self.0.next(&waiting.from_step(1)),
    ///         }
    ///     }
    /// }
    ///
    /// let ring = lapwing::Disruptor::single_producer(8, || 0_u64).wait_strategy(PollFirst::default());
    /// let (mut producer, mut consumers) = ring.stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// let thread = std::thread::spawn(move || producer.publish(|event| *event = 7));
    /// assert_eq!(poller.wait()?.as_slice(), [7]);
    /// thread.join().unwrap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn from_step(&self, first: u64) -> Self {
        Self { first: self.first.saturating_add(first), ..*self }
    }

    /// Returns when the time limit ends, if there is one.
    ///
    /// The limit is that of the caller, for example the [timeout](crate::Stage::timeout_after) of a
    /// stage, or an earlier one that the library sets:
    ///
    /// - While [several producers](crate::producer#several-producers-on-a-full-ring) wait on a full
    ///   ring, to take turns. It also applies to the consumers of that ring.
    /// - For a thread that [runs stages together](crate::consumer::Consumer::run_together), to poll
    ///   those that cannot wake it, and to end the pause of one.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Disruptor, wait::{Step, WaitStrategy, Waiting}};
    ///
    /// #[derive(Clone)]
    /// struct Check;
    ///
    /// impl WaitStrategy for Check {
    ///     const PARKS: bool = false;
    ///     fn next(&mut self, waiting: &Waiting<'_>) -> Step {
    ///         assert!(waiting.deadline().is_some()); // `wait_timeout` has a limit
    ///         Step::Poll(1)
    ///     }
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64).wait_strategy(Check).stage("all").poller();
    /// let (_producer, mut consumers) = ring.build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// assert!(poller.wait_timeout(Duration::ZERO).is_err()); // nothing is published
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.limit
    }

    /// Returns whether the ring is oversubscribed: it has more runnable threads than CPUs. A thread
    /// that polls then keeps others from running, perhaps the one that it waits for.
    ///
    /// This is estimated from how long the yields of the ring's threads take. A process with one
    /// CPU always counts as oversubscribed. A ring [beside busy
    /// threads](super#beside-busy-threads) never does.
    ///
    /// ```
    /// use lapwing::{Disruptor, wait::{Step, WaitStrategy, Waiting}};
    ///
    /// /// Polls, or yields if another thread of the ring may need the CPU.
    /// #[derive(Clone)]
    /// struct Polite;
    ///
    /// impl WaitStrategy for Polite {
    ///     const PARKS: bool = false;
    ///     fn next(&mut self, waiting: &Waiting<'_>) -> Step {
    ///         if waiting.is_oversubscribed() { Step::Yield } else { Step::Poll(100) }
    ///     }
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64).wait_strategy(Polite).stage("all").poller();
    /// let (mut producer, mut consumers) = ring.build()?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(consumers.take_poller("all")?.wait()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_oversubscribed(&self) -> bool {
        self.load.is_oversubscribed()
    }

    /// Returns whether the last [yield](super::Step::Yield) of this wait, since the thread last
    /// slept or parked, was refused. That happens [beside busy
    /// threads](super#beside-busy-threads), where a yield takes a time slice. A further yield may be
    /// a short sleep, so a strategy that parks should park.
    ///
    /// ```
    /// use lapwing::{Disruptor, wait::{Step, WaitStrategy, Waiting}};
    ///
    /// #[derive(Clone)]
    /// struct YieldsOnce;
    ///
    /// impl WaitStrategy for YieldsOnce {
    ///     const PARKS: bool = true;
    ///     fn next(&mut self, waiting: &Waiting<'_>) -> Step {
    ///         match waiting.steps() {
    ///             0 => {
    ///                 assert!(!waiting.is_yield_refused()); // there was none
    ///                 Step::Yield
    ///             }
    ///             _ => Step::Park,
    ///         }
    ///     }
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64).wait_strategy(YieldsOnce).stage("all").poller();
    /// let (mut producer, mut consumers) = ring.build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// let thread = std::thread::spawn(move || producer.publish(|event| *event = 7));
    /// assert_eq!(poller.wait()?.as_slice(), [7]);
    /// thread.join().unwrap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_yield_refused(&self) -> bool {
        self.so_far.last_yield == Some(Yield::Refused)
    }

    /// The result of the last yield of this wait.
    pub(super) fn last_yield(&self) -> Option<Yield> {
        self.so_far.last_yield
    }

    /// How long the last sleep of this wait took.
    pub(super) fn slept(&self) -> Duration {
        self.so_far.slept
    }

    /// Takes the right to spin, unless the wait has it already. Returns whether it has it. The
    /// right is returned, at the latest, when the thread sleeps or the wait is over.
    ///
    /// All threads of the process share the cache line of this right, so a thread that cannot use
    /// the right does not request it.
    pub(super) fn may_spin(&self) -> bool {
        let spinner = self.spinner.take().or_else(Spinner::try_new);
        let is_granted = spinner.is_some();
        self.spinner.set(spinner);
        is_granted
    }

    /// Returns the right to spin. Returns whether the wait had it.
    pub(super) fn spin_no_more(&self) -> bool {
        self.spinner.take().is_some()
    }
}

impl fmt::Debug for Waiting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Waiting");
        shown.field("steps", &self.steps()).field("deadline", &self.limit);
        shown.finish_non_exhaustive()
    }
}
