//! How a thread parks or sleeps until its wait is over, and the checks that prevent a missed
//! wake-up. Not here: how long a thread spins or yields before (`lapwing::wait`).

use std::ptr;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use super::Control;
use crate::parking::event_count::UNSEEN_SLEEP;
use crate::parking::{Awaited, EventCount, Sleeper, TaskPlace};
use crate::stages::StageIndex;
use crate::sync::{now, yield_now};

/// Longest sleep once the ring accepts no more events: the rest of them arrive soon, and no thread
/// wakes a sleeper that has left no mark.
const DRAINING_SLEEP: Duration = Duration::from_millis(1);

/// One wait of a thread: what it waits for, until when, and what learns of its sleep.
#[derive(Clone, Copy)]
pub struct Wait<'a> {
    /// What the thread waits for.
    pub awaited: &'a dyn Awaited,
    /// When it gives up, if it does.
    pub deadline: Option<Instant>,
    /// Notified before the thread parks and after it wakes.
    pub sleeper: Option<&'a dyn Sleeper>,
}

impl Wait<'_> {
    /// Whether the deadline has passed. Reads the clock only if there is one.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.deadline.is_some_and(|deadline| now() >= deadline)
    }

    /// Time until the deadline, if there is one.
    fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(now()))
    }

    /// Runs `sleep`, which returns whether another thread woke this one. Notifies the sleeper before
    /// and after.
    fn asleep(&self, sleep: impl FnOnce() -> bool) -> bool {
        self.sleeper.inspect(|sleeper| sleeper.lie_down());
        let is_woken = sleep();
        self.sleeper.inspect(|sleeper| sleeper.get_up(is_woken));
        is_woken
    }
}

impl Control {
    /// Parks until another thread wakes this one: when what it waits for may be available, or after
    /// a close, a halt or a stop. Returns at once if the wait is over. Also returns at the deadline,
    /// and may return spuriously.
    ///
    /// In a ring whose threads do not check for parked threads, the call wakes every 50 µs to check
    /// by itself, until the wait is over or has expired.
    ///
    /// # Panics
    ///
    /// With debug assertions, if what it waits for names an event count of another ring.
    pub fn park(&self, wait: &Wait<'_>) {
        if !self.parking.is_signalled() {
            while !wait.awaited.is_over() && !wait.is_expired() {
                self.sleep(wait, UNSEEN_SLEEP);
            }
            return;
        }
        let Some(turn) = wait.awaited.turn() else {
            return self.park_there(wait);
        };
        let fence = self.fence();
        let mut watching = turn.take_watch().then(|| turn.watching(fence));
        if watching.is_none() {
            wait.asleep(|| {
                let is_over = || wait.awaited.is_over();
                let has_watch = turn.follow(fence, || wait.time_left(), is_over);
                watching = has_watch.then(|| turn.watching(fence));
                has_watch
            });
        }
        if watching.is_some() {
            self.park_there(wait);
        }
    }

    /// Parks where a thread that advances the position waited for wakes this one.
    fn park_there(&self, wait: &Wait<'_>) {
        let awaited = wait.awaited;
        let Some(place) = awaited.event_count() else {
            return yield_now();
        };
        debug_assert!(self.is_own(place), "no thread of this ring wakes those of another");
        let is_over = || need_not_wait_at(place, awaited);
        wait.asleep(|| place.park(self.fence(), || wait.time_left(), is_over));
    }

    /// Polls the wait of a task. While it is pending, the task has a place where a thread would park,
    /// and is woken when what it waits for may be available, or after a close, a halt or a stop.
    ///
    /// In a ring whose threads do not check for parked threads, the task is woken at once, so that it
    /// polls.
    ///
    /// # Panics
    ///
    /// With debug assertions, if what it waits for names an event count of another ring.
    pub fn poll_wait(
        &self,
        awaited: &dyn Awaited,
        place: &mut Option<TaskPlace>,
        waker: &Waker,
    ) -> Poll<()> {
        while !awaited.is_over() {
            let at = awaited.event_count().filter(|_| self.parking.is_signalled());
            let Some(at) = at else {
                waker.wake_by_ref();
                return Poll::Pending;
            };
            debug_assert!(self.is_own(at), "no thread of this ring wakes tasks of another");
            let is_over = || need_not_wait_at(at, awaited);
            if at.register(self.fence(), (place, waker), is_over) {
                return Poll::Pending;
            }
        }
        *place = None;
        Poll::Ready(())
    }

    /// Whether threads of this ring wake those that park at `place`.
    fn is_own(&self, place: &EventCount) -> bool {
        let mut stages = self.stages.all().iter();
        ptr::eq(place, self.published()) || stages.any(|stage| stage.released().has(place))
    }

    /// Sleeps for `duration`, or until the deadline if that is earlier. Does not sleep if the wait
    /// is over. An advance does not wake the thread; a close, a halt or a stop does. In a closed
    /// ring, a sleep lasts at most a millisecond.
    pub fn sleep(&self, wait: &Wait<'_>, duration: Duration) {
        match wait.awaited.event_count() {
            Some(place) => place.sleep(|| self.length_of_sleep(wait, duration)),
            None => yield_now(),
        }
    }

    /// How long to sleep if `longest` is asked for; `None` if not at all.
    fn length_of_sleep(&self, wait: &Wait<'_>, longest: Duration) -> Option<Duration> {
        // O7: the epoch was loaded before, so this load sees a close or a halt that has already
        // woken the sleepers. Any event count serves, since a close and a halt wake all of them.
        if wait.awaited.is_over() {
            return None;
        }
        let longest = if self.is_open() { longest } else { longest.min(DRAINING_SLEEP) };
        let length = wait.time_left().map_or(longest, |left| left.min(longest));
        (!length.is_zero()).then_some(length)
    }

    /// Parks an idle worker with the word `worker` until `is_over`, until the ring is closed or halted
    /// or a stage is stopped, or spuriously. A thread that moves the word must also call
    /// [`wake_all_behind`](Self::wake_all_behind): in a ring whose threads do not check for parked
    /// threads, [`move_word`](crate::Sharing::move_word) wakes none.
    pub fn park_idle(&self, worker: StageIndex, is_over: impl FnOnce() -> bool) {
        // While the worker is idle, no other thread parks here.
        self.released(worker).park(self.fence(), || None, is_over);
    }
}

/// Whether the wait is over, or has to go on at another place. Called after `place` is marked.
///
/// The stage that was behind may have advanced before the mark. Another stage may be behind at that
/// point, and would not wake the caller. So this checks the place first, then the state. A thread that
/// advances in between wakes the caller, or the second check sees it.
fn need_not_wait_at(place: &EventCount, awaited: &dyn Awaited) -> bool {
    let is_elsewhere = || !awaited.event_count().is_some_and(|other| ptr::eq(place, other));
    is_elsewhere() || awaited.is_over()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc::{self, Receiver, Sender};
    use std::thread;

    use super::*;
    use crate::advice::Plain;
    use crate::claims::SingleClaims;
    use crate::claims::steps::Steps;
    use crate::parking::{Turn, Waits};
    use crate::stages::Graph;

    const LONG: Duration = Duration::from_secs(5);

    /// The wait of a worker for the first event.
    struct FirstEvent<'a> {
        control: &'a Control,
        worker: usize,
        /// How often it may check before it panics.
        checks: Cell<u32>,
        /// Learns of each check.
        checked: Sender<usize>,
    }

    impl Awaited for FirstEvent<'_> {
        fn is_over(&self) -> bool {
            let left = self.checks.get().checked_sub(1).expect("panics on purpose");
            self.checks.set(left);
            self.checked.send(self.worker).unwrap();
            self.control.claimed() > 0
        }

        fn event_count(&self) -> Option<&EventCount> {
            Some(self.control.published())
        }

        fn turn(&self) -> Option<Turn<'_>> {
            Some(self.control.turn_of(0, self.worker))
        }
    }

    /// A ring with one group of three workers.
    fn group() -> Control {
        let mut graph = Graph::new(vec![Box::default()]);
        graph.share(0, 3);
        Control::for_test((8, None), graph, Waits { parks: true, shares_threads: false })
    }

    fn park(control: &Control, worker: usize, checks: u32, checked: Sender<usize>) {
        let checks = Cell::new(checks);
        let awaited = &FirstEvent { control, worker, checks, checked };
        while control.claimed() == 0 {
            control.park(&Wait { awaited, deadline: None, sleeper: None });
        }
    }

    /// Waits until `worker` has checked. It parks soon after, or panics.
    fn await_check(checks: &Receiver<usize>, worker: usize) {
        assert_eq!(checks.recv_timeout(LONG), Ok(worker));
        thread::sleep(Duration::from_millis(20));
    }

    fn publish(control: &Control) {
        let mut claims = SingleClaims::new(control, Plain);
        let first = claims.try_claim(control, 1).unwrap();
        claims.publish(control, first, 1).unwrap();
    }

    /// Publishes an event, and finds whether the worker that runs on `thread` learns of it.
    fn is_woken(control: &Control, returned: &Receiver<()>) -> bool {
        publish(control);
        let is_woken = returned.recv_timeout(LONG).is_ok();
        control.wake_all();
        is_woken
    }

    #[test]
    fn a_worker_that_panicked_kept_the_watch() {
        let (control, (checked, checks)) = (&group(), mpsc::channel());
        let (returns, returned) = mpsc::channel();
        let panic = || park(control, 0, 0, checked.clone());
        assert!(catch_unwind(AssertUnwindSafe(panic)).is_err());
        thread::scope(|scope| {
            scope.spawn(|| {
                park(control, 1, 100, checked.clone());
                returns.send(()).unwrap();
            });
            await_check(&checks, 1);
            assert!(is_woken(control, &returned));
        });
    }

    #[test]
    fn a_follower_that_panicked_used_up_the_wake_up_of_another() {
        let (control, (checked, checks)) = (&group(), mpsc::channel());
        let (returns, returned) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| park(control, 2, 100, checked.clone()));
            await_check(&checks, 2);
            let panic = || park(control, 0, 0, checked.clone());
            assert!(catch_unwind(AssertUnwindSafe(panic)).is_err());
            scope.spawn(|| {
                park(control, 1, 100, checked.clone());
                returns.send(()).unwrap();
            });
            await_check(&checks, 1);
            assert!(is_woken(control, &returned));
        });
    }

    /// The wait of a producer for a quarter of the ring, which the consumer does not free.
    struct Room<'a>(&'a Control);

    impl Awaited for Room<'_> {
        fn is_over(&self) -> bool {
            !self.0.is_open()
        }

        fn event_count(&self) -> Option<&EventCount> {
            self.0.behind_gate(0, true)
        }
    }

    /// A caller that set no limit of its own slept until a quarter of the ring was free, although the
    /// consumer waited for it.
    #[test]
    fn a_patient_producer_without_a_limit_slept_for_ever() {
        let waits = Waits { parks: true, shares_threads: false };
        let control = &Control::for_test((8, None), Graph::new(vec![Box::default()]), waits);
        let (returns, returned) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(move || {
                let awaited = &Room(control);
                control.park(&Wait { awaited, deadline: None, sleeper: None });
                returns.send(()).unwrap();
            });
            let has_returned = returned.recv_timeout(LONG).is_ok();
            control.close();
            assert!(has_returned);
        });
    }

    /// A thread that ran several stages parked on the publication, and no release woke it.
    #[test]
    fn a_ring_that_shares_no_threads_had_a_place_to_wait_for_any_advance() {
        for shares_threads in [false, true] {
            let waits = Waits { parks: true, shares_threads };
            let control = Control::for_test((8, None), Graph::new(vec![Box::default()]), waits);
            let places = control.anything().map(|place| {
                place.park(control.fence(), || None, || true); // only marks it
                control.advance_for_test(0, 1);
                place.epochs()
            });
            assert_eq!(places, shares_threads.then_some(1), "each advance wakes it");
        }
    }

    /// A thread that parked on an event count of another ring was never woken.
    #[cfg(debug_assertions)]
    #[test]
    fn a_thread_parked_where_no_thread_of_its_ring_wakes_it() {
        let [own, other] = [group(), group()];
        let awaited = &Room(&other);
        let park = || own.park(&Wait { awaited, deadline: None, sleeper: None });
        assert!(catch_unwind(AssertUnwindSafe(park)).is_err());
    }
}
