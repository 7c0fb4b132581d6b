//! An event count: parks a thread until the cursor or the sequence of a stage advances. Not here:
//! how long a thread spins before it parks (`wait`), and the layout of the word (`word`).
//!
//! ```text
//! waiter                              thread that advances the sequence
//! seen = word, marked                 sequence = new
//! heavy fence                         light fence
//! load the sequence: not reached      is the word marked? then word = next epoch, unmarked; wake
//! park unless the word has changed
//! from `seen`
//! ```
//!
//! Either the waiter sees the new sequence or the other side sees the mark (O6). If the epoch
//! advances before the mark is set, the waiter sees the sequence (O7). If it advances later, that
//! ends the park. The thread that wakes the others clears the mark. Later advances therefore pay
//! nothing until a thread parks again, even if the woken thread gets no CPU for a while.
//!
//! A task waits in the same way: it registers its waker, and then does what a waiter does, except for
//! the park. The waker comes before the mark, so a thread that clears the mark finds it. But tasks wait
//! as often as every few hundred nanoseconds, and on some machines the heavy fence takes 13 µs, because
//! it interrupts the other CPUs. So the first task here raises a flag and runs that fence once. A thread
//! that advances the sequence sees the flag from then on, runs a full fence, and loads the word again.
//! With full fences on both sides, no further task needs the heavy one.
//!
//! A waiter that polls between timed sleeps sets no mark and costs the other side nothing. Only a
//! wake-up of all threads, by a close or a halt, ends its sleep early.

use std::task::Waker;
use std::time::Duration;

use super::asymmetric::AsymmetricFence;
use super::tasks::{TaskPlace, Tasks};
pub(crate) use super::word::{ENDED, FOLLOW_UP};
use super::word::{Epoch, MARK, TASKS};
use crate::sync::{Ordering, fence as cpu_fence};

/// Length of a sleep where no thread checks for parked threads: 50 µs. With its default timer
/// slack, Linux makes shorter sleeps about as long.
pub(crate) const UNSEEN_SLEEP: Duration = Duration::from_micros(50);

/// Longest park where a thread is [woken late](EventCount::late): 100 µs, several times the cost of a
/// sleep and a wake-up. What a consumer holds for longer may be what the thread waits for.
const LATE_SLEEP: Duration = Duration::from_micros(100);

/// The place where threads park that wait for one sequence. While none is parked, it costs the
/// thread that advances the sequence one load.
#[derive(Debug, Default)]
#[repr(C)]
pub struct EventCount {
    epoch: Epoch,
    /// Whether a thread that parks here may be woken later than it could go on.
    is_late: bool,
    /// The tasks that wait here; `None` where only threads wait.
    tasks: Option<Tasks>,
}

impl EventCount {
    /// Creates the place of threads and tasks.
    pub(super) fn with_tasks() -> Self {
        Self { tasks: Some(Tasks::default()), ..Self::default() }
    }

    /// Creates the place of threads that are not woken as soon as they could go on. A park here has
    /// a short limit, whatever the caller asks for.
    pub(super) fn late() -> Self {
        Self { is_late: true, ..Self::default() }
    }

    /// Parks until woken, until `is_over`, for `time_left`, or spuriously; the caller must check
    /// its condition again. Returns whether another thread woke it.
    ///
    /// The mark stays set if the thread did not park or timed out, since clearing it could clear
    /// the mark of another waiter. A stale mark costs one needless wake-up.
    pub(crate) fn park(
        &self,
        fence: AsymmetricFence,
        time_left: impl FnOnce() -> Option<Duration>,
        is_over: impl FnOnce() -> bool,
    ) -> bool {
        let Some((seen, is_fenced)) = self.announce(fence, is_over) else { return false };
        // Without the fence the other side may miss the mark, so the time is bounded.
        let unseen = (!is_fenced).then_some(UNSEEN_SLEEP);
        let late = self.is_late.then_some(LATE_SLEEP);
        let timeout = [time_left(), unseen, late].into_iter().flatten().min();
        self.epoch.sleep(seen, timeout);
        self.epoch.has_left(seen)
    }

    /// Registers a task, which gives up the `place` that it had, unless `is_over`. Returns whether it is
    /// registered: it is then woken as a parked thread is. Where only threads wait, it is woken at once.
    pub(crate) fn register(
        &self,
        fence: AsymmetricFence,
        (place, waker): (&mut Option<TaskPlace>, &Waker),
        is_over: impl FnOnce() -> bool,
    ) -> bool {
        let is_seen = self.tasks.as_ref().is_some_and(|tasks| {
            let (own, is_seen) = tasks.register(waker, || self.ask_for_full_fences(fence));
            *place = Some(own);
            is_seen
        });
        let is_registered = self.announce(AsymmetricFence::Full, is_over).is_some();
        if !is_registered {
            *place = None;
        } else if !is_seen {
            waker.wake_by_ref(); // the other side may miss the mark, so the task polls
        }
        is_registered
    }

    /// Makes each thread that advances the sequence run a full fence before it checks the mark. Returns
    /// false if the system refuses the fence after which all of them do.
    #[cold]
    fn ask_for_full_fences(&self, fence: AsymmetricFence) -> bool {
        if fence == AsymmetricFence::Full {
            return true;
        }
        self.epoch.raise(TASKS);
        // O6: after it, no thread can miss both the flag and the mark of a task.
        fence.heavy()
    }

    /// Marks the word, and checks what the caller waits for. Returns the word, and whether the other side
    /// is sure to see the mark; `None` if the wait `is_over`.
    fn announce(
        &self,
        fence: AsymmetricFence,
        is_over: impl FnOnce() -> bool,
    ) -> Option<(u32, bool)> {
        let seen = self.epoch.mark();
        // O6: between the mark and the check.
        let is_fenced = fence.heavy();
        if is_over() {
            return None;
        }
        Some((seen, is_fenced))
    }

    /// Clears the mark after a park has ended. Returns false if another thread has woken this one.
    /// Only for an event count on which no other thread parks: a thread that [wakes](Self::notify)
    /// it and the caller then agree on which was first.
    pub(super) fn take_mark(&self) -> bool {
        self.epoch.take_mark()
    }

    /// Sleeps without a mark, at most for the duration that `length` returns, or not at all if it
    /// returns `None`. A thread that advances the sequence does not see this thread;
    /// [`wake_all`](Self::wake_all) wakes it.
    pub(crate) fn sleep(&self, length: impl FnOnce() -> Option<Duration>) {
        // O7: the epoch is loaded before the check in `length`. A thread that wakes all others
        // stores before it advances the epoch. Either the check sees that store, or the new epoch
        // ends the sleep.
        let seen = self.epoch.current();
        if let Some(length) = length() {
            self.epoch.sleep(seen, Some(length));
        }
    }

    /// Whether a thread is parked here or is about to park.
    #[inline]
    pub(super) fn is_awaited(&self) -> bool {
        self.epoch.is_marked()
    }

    /// Returns the mark and the flags; 0 if no thread [is parked](Self::is_awaited) and no flag is
    /// raised.
    #[inline]
    pub(crate) fn flags(&self) -> u32 {
        self.epoch.flags()
    }

    /// Raises a flag for the threads that advance the sequence.
    pub(crate) fn raise(&self, flag: u32) {
        self.epoch.raise(flag);
    }

    /// Lowers a flag that the caller has raised.
    pub(crate) fn lower(&self, flag: u32) {
        self.epoch.lower(flag);
    }

    /// Wakes the parked threads and the tasks if the word is marked; returns whether this call did. The
    /// caller has advanced the sequence and then run the light fence.
    #[inline]
    pub(crate) fn notify(&self) -> bool {
        self.epoch.flags() & (MARK | TASKS) != 0 && self.wake_marked()
    }

    #[cold]
    #[inline(never)]
    fn wake_marked(&self) -> bool {
        if self.epoch.flags() & TASKS != 0 {
            // O6: between the caller's store and the second load of the mark. Pairs with the fence of
            // a task.
            cpu_fence(Ordering::SeqCst);
        }
        let has_woken = self.epoch.wake_marked();
        if has_woken {
            self.wake_tasks();
        }
        has_woken
    }

    /// Returns how often threads were woken.
    #[cfg(test)]
    pub(crate) fn epochs(&self) -> u32 {
        self.epoch.number()
    }

    /// Wakes all threads and tasks, marked or not; for a close, a halt and similar events.
    #[cold]
    pub(crate) fn wake_all(&self) {
        self.epoch.advance_and_wake();
        self.wake_tasks();
    }

    fn wake_tasks(&self) {
        if let Some(tasks) = &self.tasks {
            tasks.wake();
        }
    }
}
