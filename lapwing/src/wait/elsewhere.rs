//! What a thread waits for that is not in a ring of this crate, such as a ring in memory that
//! processes share, and what the loop of a wait makes of it. Not here: the waiter
//! (`waiter_elsewhere`), the loop (`waiter`).

use std::time::{Duration, Instant};

use super::cpu_load::Workplace;
use super::waiter::{Waitable, poll};
use crate::Sequence;
use crate::sync::now;

/// Length of the sleep in place of a park, with a strategy that says that it does not park. As long
/// as in a ring whose threads do not check for parked threads.
pub(super) const UNSEEN_SLEEP: Duration = Duration::from_micros(50);

/// What a thread waits for that is not in a ring of this crate, and how it sleeps there.
///
/// A [`WaiterElsewhere`](super::WaiterElsewhere) waits for it with any
/// [strategy](super::WaitStrategy). It needs to know when the wait is over, how to sleep, and how to
/// park. The other methods answer questions about the place where the threads work, from which a
/// strategy learns whether a yield or a poll pays. Those answers are advice: a wrong one costs time.
///
/// Other threads advance this counter of events. Its reader waits for the next one:
///
/// ```
/// use std::sync::{Condvar, Mutex};
/// use std::thread;
/// use std::time::{Duration, Instant};
/// use lapwing::wait::{Adaptive, Elsewhere, WaiterElsewhere};
///
/// #[derive(Default)]
/// struct Events { published: Mutex<u64>, grown: Condvar }
///
/// /// The wait for the event with this number.
/// struct Next<'a>(&'a Events, u64);
///
/// impl Elsewhere for Next<'_> {
///     fn is_over(&self) -> bool {
///         self.progress() > self.1
///     }
///     fn sleep(&self, time: Duration) {
///         if !self.is_over() {
///             thread::sleep(time);
///         }
///     }
///     fn park(&self, deadline: Option<Instant>) {
///         let published = self.0.published.lock().unwrap();
///         if *published > self.1 {
///             return; // checked under the lock, so no wake-up is missed
///         }
///         match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
///             None => drop(self.0.grown.wait(published).unwrap()),
///             Some(left) => drop(self.0.grown.wait_timeout(published, left).unwrap()),
///         }
///     }
///     fn progress(&self) -> u64 { *self.0.published.lock().unwrap() }
///     fn capacity(&self) -> u64 { 1_024 }
///     fn threads(&self) -> u64 { 2 }
///     fn has_siblings(&self) -> bool { false } // one reader
///     fn has_several_producers(&self) -> bool { false }
/// }
///
/// let events = Events::default();
/// thread::scope(|scope| {
///     scope.spawn(|| {
///         for _ in 0..3 {
///             *events.published.lock().unwrap() += 1;
///             events.grown.notify_one();
///         }
///     });
///     let mut waiter = WaiterElsewhere::new(Adaptive::default());
///     for number in 0..3 {
///         let next = Next(&events, number);
///         waiter.begin();
///         while !next.is_over() {
///             waiter.wait(&next, None);
///         }
///     }
/// });
/// assert_eq!(*events.published.lock().unwrap(), 3);
/// ```
///
/// It is `Sync`, since the threads that end the wait share it. With an `AtomicBool`, as in the
/// example of [`WaiterElsewhere`](super::WaiterElsewhere), this flag compiles. With a `Cell`, it does
/// not:
///
/// ```compile_fail,E0277
/// use std::{cell::Cell, time::{Duration, Instant}};
///
/// struct Flag(Cell<bool>);
///
/// impl lapwing::wait::Elsewhere for Flag {
///     fn is_over(&self) -> bool { self.0.get() }
///     fn sleep(&self, _: Duration) {}
///     fn park(&self, _: Option<Instant>) {}
/// }
/// ```
pub trait Elsewhere: Sync {
    /// Returns whether the wait is over: what the thread waits for is there, or never will be.
    ///
    /// A thread that polls calls this again and again, so it should be a load or two.
    /// [`Elsewhere`] has an example.
    fn is_over(&self) -> bool;

    /// Sleeps for `time`. Does not sleep if the wait is over.
    ///
    /// An event need not wake the thread. Something that ends the wait for good, such as a close,
    /// should. The thread may also wake spuriously. `time` ends at the deadline of the wait at the
    /// latest. [`Elsewhere`] has an example.
    fn sleep(&self, time: Duration);

    /// Parks until another thread wakes this one, because the wait may be over. Does not park if
    /// the wait is over. Also returns at the `deadline`, and may return spuriously.
    ///
    /// The check and the park are one step for the thread that wakes: if it ends the wait after the
    /// check, the park must end too. A lock around both, a futex, or [`std::thread::park`] is
    /// enough for that. Called only if [the strategy parks](super::WaiterElsewhere::parks).
    /// [`Elsewhere`] has an example.
    fn park(&self, deadline: Option<Instant>);

    /// Returns the number of events that producers have claimed or published so far. It never
    /// decreases. 0 by default, as if there were none.
    ///
    /// If a yield took a time slice, but events for twice the [capacity](Self::capacity) were
    /// claimed meanwhile, the threads here used that time, and [yields are not
    /// banned](super#beside-busy-threads). [`Elsewhere`] has an example.
    fn progress(&self) -> u64 {
        0
    }

    /// Returns the number of slots for events: at least 1, which is also the default.
    ///
    /// [`Elsewhere`] has an example.
    fn capacity(&self) -> u64 {
        1
    }

    /// Returns the number of threads that work here, in all processes: producers and consumers. 2
    /// by default.
    ///
    /// [Beside busy threads](super#beside-busy-threads), a thread polls only if the process has a
    /// CPU for each of them. [`Elsewhere`] has an example.
    fn threads(&self) -> u64 {
        2
    }

    /// Returns whether an event may wake several threads at once: consumers that wait for the same
    /// events. False by default.
    ///
    /// Such a consumer may hold up the others while it keeps its CPU, so [it
    /// learns](super::WaiterElsewhere::pace) of an oversubscription. [`Elsewhere`] has an example.
    fn has_siblings(&self) -> bool {
        false
    }

    /// Returns whether there are several producers. False by default.
    ///
    /// If so, a thread polls for half a microsecond before it yields under oversubscription.
    /// [`Elsewhere`] has an example.
    fn has_several_producers(&self) -> bool {
        false
    }
}

/// What the loop and the strategies know of the place where a
/// [`WaiterElsewhere`](super::WaiterElsewhere) waits.
pub(super) struct Outside<'a, T: ?Sized> {
    pub(super) elsewhere: &'a T,
    /// Whether the strategy parks.
    pub(super) parks: bool,
    /// When the waiter was made.
    pub(super) made_at: Instant,
}

impl<T: Elsewhere + ?Sized> Waitable for &Outside<'_, T> {
    const TAKES: bool = false;

    #[inline(always)]
    fn poll(&mut self, times: u32) -> bool {
        poll(times, || self.elsewhere.is_over())
    }

    #[inline(always)]
    fn seems_over(&self) -> bool {
        self.elsewhere.is_over()
    }

    fn sleep(&self, time: Duration, limit: Option<Instant>) {
        let left = limit.map(|limit| limit.saturating_duration_since(now()));
        let time = left.map_or(time, |left| left.min(time));
        if !time.is_zero() {
            self.elsewhere.sleep(time);
        }
    }

    /// Sleeps if the strategy says that it does not park: the caller may have relied on that, so no
    /// thread would wake this one.
    fn park(&self, limit: Option<Instant>) {
        if self.parks {
            self.elsewhere.park(limit);
        } else {
            self.sleep(UNSEEN_SLEEP, limit);
        }
    }
}

impl<T: Elsewhere + ?Sized> Workplace for Outside<'_, T> {
    fn has_several_producers(&self) -> bool {
        self.elsewhere.has_several_producers()
    }

    fn threads(&self) -> u64 {
        self.elsewhere.threads()
    }

    fn has_siblings(&self) -> bool {
        self.elsewhere.has_siblings()
    }

    fn claimed(&self) -> Sequence {
        self.elsewhere.progress()
    }

    fn capacity(&self) -> u64 {
        self.elsewhere.capacity().max(1)
    }

    fn made_at(&self) -> Instant {
        self.made_at
    }
}
