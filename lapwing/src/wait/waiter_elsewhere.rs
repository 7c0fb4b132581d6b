//! How one thread waits for something that is not in a ring of this crate. Not here: what that is
//! (`elsewhere`), the loop (`waiter`), what the strategies learn about the CPUs (`cpu_load`).

use std::fmt;
use std::time::Instant;

use super::cpu_load::CpuLoad;
use super::elsewhere::{Elsewhere, Outside};
use super::spinner::count_cpus;
use super::{Pacing, WaitStrategy, Waiter};
use crate::sync::{Figure, now};

/// Waits with a [strategy](WaitStrategy) for something that is not in a ring of this crate: how one
/// thread waits [elsewhere](Elsewhere).
///
/// A thread [begins](Self::begin) a wait, and then alternates between a check of its own and a call
/// of [`wait`](Self::wait), until the check succeeds. The strategy takes the same steps as in a
/// ring, and learns from wait to wait. So each thread keeps its `WaiterElsewhere`.
///
/// It also records how long the yields of its thread take, from which a strategy learns [how busy
/// the CPUs are](super#the-default-and-busy-cpus). The threads of a ring share these records. Here
/// each thread has its own, because the others may be in other processes.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use std::thread;
/// use std::time::{Duration, Instant};
/// use lapwing::wait::{Adaptive, Elsewhere, WaiterElsewhere};
///
/// /// A flag. The thread that sets it then unparks the one that waits.
/// struct Flag(AtomicBool);
///
/// impl Elsewhere for Flag {
///     fn is_over(&self) -> bool {
///         self.0.load(Ordering::Acquire)
///     }
///     fn sleep(&self, time: Duration) {
///         if !self.is_over() {
///             thread::sleep(time);
///         }
///     }
///     fn park(&self, deadline: Option<Instant>) {
///         if self.is_over() {
///             return;
///         }
///         // An `unpark` that comes between the check and the park ends the park at once.
///         match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
///             None => thread::park(),
///             Some(left) => thread::park_timeout(left),
///         }
///     }
/// }
///
/// let flag = Flag(AtomicBool::new(false));
/// let mut waiter = WaiterElsewhere::new(Adaptive::default());
/// thread::scope(|scope| {
///     let (flag, waiting) = (&flag, thread::current());
///     scope.spawn(move || {
///         flag.0.store(true, Ordering::Release);
///         waiting.unpark();
///     });
///     waiter.begin();
///     while !flag.is_over() {
///         waiter.wait(flag, None);
///     }
/// });
/// assert!(flag.is_over());
/// ```
pub struct WaiterElsewhere {
    waiter: Waiter,
    /// Whether the strategy parks.
    parks: bool,
    /// What the thread records about its yields (`cpu_load`).
    cpu_load: [Figure; 3],
    made_at: Instant,
}

impl WaiterElsewhere {
    /// Creates a waiter with this strategy.
    ///
    /// This counts the CPUs that the calling thread may use, unless the process has found several
    /// before. So create the first one before you pin the thread to a CPU: a process that seems to
    /// have only one CPU never polls with [`Adaptive`](super::Adaptive).
    ///
    /// ```
    /// use lapwing::wait::{Sleeping, WaiterElsewhere};
    ///
    /// let waiter = WaiterElsewhere::new(Sleeping::default());
    /// assert!(!waiter.parks());
    /// ```
    #[must_use]
    pub fn new(strategy: impl WaitStrategy) -> Self {
        count_cpus();
        let waiter = Waiter::new(Box::new(strategy));
        let parks = waiter.parks();
        Self { waiter, parks, cpu_load: Default::default(), made_at: now() }
    }

    /// Returns whether the strategy [parks](WaitStrategy::PARKS).
    ///
    /// If not, no wait of this waiter calls [`Elsewhere::park`]. Where that holds for all threads,
    /// the threads that publish need not check for parked ones.
    ///
    /// ```
    /// use lapwing::wait::{Blocking, BusySpin, WaiterElsewhere};
    ///
    /// assert!(WaiterElsewhere::new(Blocking::default()).parks());
    /// assert!(!WaiterElsewhere::new(BusySpin).parks());
    /// ```
    #[must_use]
    pub fn parks(&self) -> bool {
        self.parks
    }

    /// Begins a new wait. The strategy [learns](WaitStrategy::ended) how the last one ended, if
    /// that took a step.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use lapwing::wait::{Elsewhere, Step, WaitStrategy, WaiterElsewhere, Waiting};
    ///
    /// struct Never;
    ///
    /// impl Elsewhere for Never {
    ///     fn is_over(&self) -> bool { false }
    ///     fn sleep(&self, time: Duration) { std::thread::sleep(time) }
    ///     fn park(&self, _: Option<Instant>) {}
    /// }
    ///
    /// /// Sleeps once in each wait.
    /// #[derive(Clone)]
    /// struct Once;
    ///
    /// impl WaitStrategy for Once {
    ///     const PARKS: bool = false;
    ///     fn next(&mut self, waiting: &Waiting<'_>) -> Step {
    ///         assert_eq!(waiting.steps(), 0); // a new wait
    ///         Step::Sleep(Duration::from_micros(50))
    ///     }
    /// }
    ///
    /// let mut waiter = WaiterElsewhere::new(Once);
    /// for _ in 0..2 {
    ///     waiter.begin();
    ///     waiter.wait(&Never, None); // one step: it returns after a sleep
    /// }
    /// ```
    pub fn begin(&mut self) {
        self.waiter.begin();
    }

    /// Takes the steps that the strategy answers, until the wait seems to be over, the `deadline`
    /// has passed, or the thread has slept or parked. The caller then checks what it waits for, and
    /// calls this again if that is not there.
    ///
    /// # Blocking
    ///
    /// Waits until one of these. With a strategy that parks and no deadline, that may be until
    /// another thread wakes this one. [`Elsewhere::is_over`] does not wait.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use lapwing::wait::{Elsewhere, WaiterElsewhere, Yielding};
    ///
    /// struct Never;
    ///
    /// impl Elsewhere for Never {
    ///     fn is_over(&self) -> bool { false }
    ///     fn sleep(&self, time: Duration) { std::thread::sleep(time) }
    ///     fn park(&self, _: Option<Instant>) {}
    /// }
    ///
    /// let deadline = Instant::now() + Duration::from_millis(2);
    /// let mut waiter = WaiterElsewhere::new(Yielding::default());
    /// waiter.begin();
    /// while !Never.is_over() && Instant::now() < deadline {
    ///     waiter.wait(&Never, Some(deadline));
    /// }
    /// assert!(Instant::now() >= deadline);
    /// ```
    pub fn wait<T: Elsewhere + ?Sized>(&mut self, elsewhere: &T, deadline: Option<Instant>) {
        let Self { waiter, parks, cpu_load, made_at } = self;
        let outside = Outside { elsewhere, parks: *parks, made_at: *made_at };
        waiter.take_steps(&outside, CpuLoad::new(&outside, cpu_load), deadline);
    }

    /// Lets the strategy [pace](WaitStrategy::pace) a consumer. Call this when the consumer has
    /// finished all events that it knew of, before its next poll or after that poll has found
    /// nothing. It begins a new wait, as [`begin`](Self::begin) does.
    ///
    /// `events` is how many these were since it last had none left, and `is_late` whether that is a
    /// quarter of the slots or more. If the consumer [has siblings](Elsewhere::has_siblings), the
    /// strategy also learns [of an oversubscription](Pacing::is_oversubscribed), and its yields are
    /// recorded.
    ///
    /// ```
    /// use std::{sync::mpsc, time::{Duration, Instant}};
    /// use lapwing::wait::{Elsewhere, Pacing, Step, WaitStrategy, WaiterElsewhere, Waiting};
    ///
    /// struct Always;
    ///
    /// impl Elsewhere for Always {
    ///     fn is_over(&self) -> bool { true }
    ///     fn sleep(&self, _: Duration) {}
    ///     fn park(&self, _: Option<Instant>) {}
    /// }
    ///
    /// #[derive(Clone)]
    /// struct Record(mpsc::Sender<(u64, bool)>);
    ///
    /// impl WaitStrategy for Record {
    ///     const PARKS: bool = false;
    ///     fn next(&mut self, _: &Waiting<'_>) -> Step { Step::Yield }
    ///     fn pace(&mut self, pacing: &Pacing<'_>) {
    ///         self.0.send((pacing.events(), pacing.is_late())).unwrap();
    ///     }
    /// }
    ///
    /// let (log, batches) = mpsc::channel();
    /// WaiterElsewhere::new(Record(log)).pace(&Always, 3, true);
    /// assert_eq!(batches.try_recv(), Ok((3, true)));
    /// ```
    pub fn pace<T: Elsewhere + ?Sized>(&mut self, elsewhere: &T, events: u64, is_late: bool) {
        let Self { waiter, parks, cpu_load, made_at } = self;
        let outside = Outside { elsewhere, parks: *parks, made_at: *made_at };
        let load = elsewhere.has_siblings().then(|| CpuLoad::new(&outside, cpu_load));
        waiter.pace(&Pacing { events, is_late, load });
    }
}

impl fmt::Debug for WaiterElsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaiterElsewhere").field("parks", &self.parks).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::mem;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::deadline::has_passed;
    use crate::wait::cpu_load::YIELDS;
    use crate::wait::elsewhere::UNSEEN_SLEEP;
    use crate::wait::{
        Adaptive, Blocking, BusySpin, PhasedBackoff, Sleeping, Step, Waiting, Yielding,
    };

    const MS: Duration = Duration::from_millis(1);

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Call {
        Sleep(Duration),
        Park(Option<Instant>),
    }

    /// Something that is there from the check with a given number on. Records the sleeps and the
    /// parks of the thread, which are over at once.
    struct There {
        at: u64,
        checks: AtomicU64,
        calls: Mutex<Vec<Call>>,
        has_siblings: bool,
    }

    impl There {
        fn at_check(at: u64) -> Self {
            Self { at, checks: AtomicU64::new(0), calls: Mutex::default(), has_siblings: false }
        }

        fn never() -> Self {
            Self::at_check(u64::MAX)
        }

        /// Takes the calls so far.
        fn take_calls(&self) -> Vec<Call> {
            mem::take(&mut self.calls.lock().unwrap())
        }

        /// The calls of a wait up to the first `most`, or until the deadline.
        fn calls_of(
            &self,
            waiter: &mut WaiterElsewhere,
            most: usize,
            deadline: Option<Instant>,
        ) -> Vec<Call> {
            waiter.begin();
            while self.calls.lock().unwrap().len() < most && !has_passed(deadline) {
                waiter.wait(self, deadline);
            }
            self.take_calls()
        }
    }

    impl Elsewhere for There {
        fn is_over(&self) -> bool {
            self.checks.fetch_add(1, Ordering::Relaxed) + 1 >= self.at
        }

        fn sleep(&self, time: Duration) {
            self.calls.lock().unwrap().push(Call::Sleep(time));
        }

        fn park(&self, deadline: Option<Instant>) {
            self.calls.lock().unwrap().push(Call::Park(deadline));
        }

        fn threads(&self) -> u64 {
            u64::MAX
        }

        fn has_siblings(&self) -> bool {
            self.has_siblings
        }
    }

    /// A flag that another thread sets, which then unparks this one.
    #[derive(Default)]
    struct Flag(AtomicU64);

    impl Elsewhere for Flag {
        fn is_over(&self) -> bool {
            self.0.load(Ordering::Acquire) == 1
        }

        fn sleep(&self, time: Duration) {
            thread::sleep(time);
        }

        fn park(&self, deadline: Option<Instant>) {
            assert_eq!(deadline, None);
            if !self.is_over() {
                thread::park();
            }
        }
    }

    /// Answers the same step again and again. Says that it does not park.
    #[derive(Clone)]
    struct Always(Step);

    impl WaitStrategy for Always {
        const PARKS: bool = false;

        fn next(&mut self, _: &Waiting<'_>) -> Step {
            self.0
        }
    }

    /// Waits once, until it is over or has expired.
    fn wait_for<T: Elsewhere>(waiter: &mut WaiterElsewhere, elsewhere: &T, limit: Option<Instant>) {
        waiter.begin();
        while !elsewhere.is_over() && !has_passed(limit) {
            waiter.wait(elsewhere, limit);
        }
    }

    /// Calls `check` with a waiter of each strategy of this crate.
    fn with_each_strategy(check: impl Fn(WaiterElsewhere, &str)) {
        let backoff = PhasedBackoff::new(MS, MS, Blocking::default());
        check(WaiterElsewhere::new(Adaptive::default()), "Adaptive");
        check(WaiterElsewhere::new(Blocking::default()), "Blocking");
        check(WaiterElsewhere::new(BusySpin), "BusySpin");
        check(WaiterElsewhere::new(backoff), "PhasedBackoff");
        check(WaiterElsewhere::new(Sleeping::default()), "Sleeping");
        check(WaiterElsewhere::new(Yielding::default()), "Yielding");
    }

    #[test]
    fn a_wait_ends_when_it_is_over() {
        with_each_strategy(|mut waiter, strategy| {
            for at in [1, 2, 1_000] {
                let there = There::at_check(at);
                wait_for(&mut waiter, &there, None);
                assert!(there.checks.into_inner() >= at, "{strategy}");
            }
        });
    }

    #[test]
    fn a_wait_ends_when_another_thread_ends_it() {
        with_each_strategy(|mut waiter, _| {
            let (flag, waiting) = (Flag::default(), thread::current());
            thread::scope(|scope| {
                let flag = &flag;
                scope.spawn(move || {
                    flag.0.store(1, Ordering::Release);
                    waiting.unpark();
                });
                wait_for(&mut waiter, flag, None);
            });
        });
    }

    #[test]
    fn a_wait_ends_at_its_deadline_and_not_before() {
        with_each_strategy(|mut waiter, strategy| {
            let deadline = now() + 4 * MS;
            wait_for(&mut waiter, &There::never(), Some(deadline));
            // A wait whose deadline has passed ends after a step.
            waiter.wait(&There::never(), Some(deadline));
            assert!(now() >= deadline, "{strategy}");
        });
    }

    #[test]
    fn a_thread_sleeps_and_parks_where_it_waits() {
        with_each_strategy(|mut waiter, strategy| {
            let sleeps = strategy == "Sleeping";
            let limit = if sleeps || waiter.parks() { 60_000 * MS } else { 2 * MS };
            let deadline = Some(now() + limit);
            match There::never().calls_of(&mut waiter, 1, deadline)[..] {
                [Call::Sleep(time)] => assert!(sleeps && time <= MS, "{strategy}: {time:?}"),
                [Call::Park(until)] => assert!(waiter.parks() && until == deadline, "{strategy}"),
                _ => assert!(!sleeps && !waiter.parks(), "{strategy}"),
            }
        });
    }

    #[test]
    fn a_sleep_ends_at_the_deadline() {
        let (there, deadline) = (There::never(), now() + 2 * MS);
        let mut waiter = WaiterElsewhere::new(Always(Step::Sleep(Duration::MAX)));
        waiter.wait(&there, Some(deadline));
        let calls = there.take_calls();
        assert!(matches!(calls[..], [Call::Sleep(time)] if time <= 2 * MS), "{calls:?}");
        waiter.wait(&there, Some(now()));
        assert_eq!(there.take_calls(), [], "no time is left");
    }

    /// The caller may have told the other threads that none parks, so none would wake it.
    #[test]
    fn a_strategy_that_parks_and_says_that_it_does_not_sleeps() {
        let there = There::never();
        WaiterElsewhere::new(Always(Step::Park)).wait(&there, None);
        assert_eq!(there.take_calls(), [Call::Sleep(UNSEEN_SLEEP)]);
    }

    /// A yield would take a time slice in each wait.
    #[test]
    fn default_sleeps_once_and_parks_beside_busy_threads() {
        let mut waiter = WaiterElsewhere::new(Adaptive::default());
        // Else it parks at once while the threads of other tests share a CPU.
        let there = There { has_siblings: true, ..There::never() };
        let outside = Outside { elsewhere: &there, parks: true, made_at: waiter.made_at };
        CpuLoad::new(&outside, &waiter.cpu_load).forbid_yields();
        YIELDS.set(0);
        let calls = there.calls_of(&mut waiter, 2, None);
        assert!(matches!(calls[..], [Call::Sleep(_), Call::Park(None)]), "{calls:?}");
        assert_eq!(YIELDS.get(), 0);
    }

    #[test]
    fn a_consumer_is_told_of_oversubscription_if_it_has_siblings() {
        /// Yields if the consumer may hold up another one.
        #[derive(Clone)]
        struct Polite;

        impl WaitStrategy for Polite {
            const PARKS: bool = false;

            fn next(&mut self, _: &Waiting<'_>) -> Step {
                Step::Yield
            }

            fn pace(&mut self, pacing: &Pacing<'_>) {
                if pacing.is_oversubscribed() {
                    pacing.yield_now();
                }
            }
        }

        let yields = [false, true].map(|has_siblings| {
            let there = There { has_siblings, ..There::never() };
            let mut waiter = WaiterElsewhere::new(Polite);
            let outside = Outside { elsewhere: &there, parks: false, made_at: waiter.made_at };
            CpuLoad::new(&outside, &waiter.cpu_load).saw_others();
            YIELDS.set(0);
            waiter.pace(&there, 9, false);
            YIELDS.get()
        });
        assert_eq!(yields, [0, 1]);
    }
}
