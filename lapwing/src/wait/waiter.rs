//! The loop of a wait: it asks the strategy for a step, takes the step, and checks whether the wait
//! is over. All threads of a ring wait in this loop, and so do those that wait `elsewhere`. Not here:
//! what a strategy may answer (`strategy`), what ends a wait (`lapwing_core::Awaited`), how a thread
//! parks (`lapwing_core::Control`).

use std::cell::Cell;
use std::mem;
use std::time::{Duration, Instant};

use lapwing_core::{Awaited, Sleeper, Wait};

use super::cpu_load::{CpuLoad, Yield};
use super::spinner::Spinner;
use super::strategy::{Step, Waited};
use super::waiting::SoFar;
use super::{AnyWaitStrategy, Pacing, Waiting};
use crate::deadline::has_passed;
use crate::ring::Shared;
use crate::sync::{IS_CHECKED, now, pause, spin_loop};

/// Most polls between two checks for a close, a stop and the time limit: a few microseconds. In a
/// model, more polls show nothing new.
const POLLS_PER_CHECK: u32 = if IS_CHECKED { 1 } else { 256 };

/// Most pause hints between two such checks.
const HINTS_PER_CHECK: u32 = 1024;

/// Length of the sleep that replaces a yield where a yield takes a time slice. Linux adds its timer
/// slack, so it takes about 65 µs.
pub(super) const SHORTEST_SLEEP: Duration = Duration::from_micros(1);

/// What the loop needs of a wait: how the thread polls, and how it sleeps.
pub(super) trait Waitable {
    /// Whether a poll takes what it finds; see [`Goal`].
    const TAKES: bool;

    /// Polls up to `times` times, with a pause hint after each poll. Returns whether the wait seems
    /// to be over.
    fn poll(&mut self, times: u32) -> bool;

    /// Polls once, and takes nothing.
    fn seems_over(&self) -> bool;

    /// Sleeps for `time`, or until `limit` if that is earlier. Does not sleep if the wait is over.
    fn sleep(&self, time: Duration, limit: Option<Instant>);

    /// Parks until another thread wakes this one, until `limit`, or spuriously. Does not park if the
    /// wait is over.
    fn park(&self, limit: Option<Instant>);
}

/// Polls up to `times` times, with a pause hint after each poll. Returns whether the wait seems to
/// be over.
#[inline(always)]
pub(super) fn poll(times: u32, seems_over: impl Fn() -> bool) -> bool {
    for _ in 0..times {
        if seems_over() {
            return true;
        }
        spin_loop();
    }
    false
}

/// What a thread waits for in a ring, and how it polls for that.
pub(crate) trait Goal {
    /// Whether a poll takes what it finds, so that it is the shortest path to an event.
    const TAKES: bool = false;

    /// What ends the wait.
    fn awaited(&self) -> &dyn Awaited;

    /// Polls up to `times` times, with a pause hint after each poll. Returns whether the wait seems
    /// to be over.
    fn poll(&mut self, times: u32) -> bool {
        let awaited = self.awaited();
        poll(times, || awaited.seems_over())
    }
}

impl<T: Awaited> Goal for &T {
    fn awaited(&self) -> &dyn Awaited {
        *self
    }
}

/// A wait in a ring.
struct InRing<'a, G> {
    goal: &'a mut G,
    shared: &'a Shared,
    /// Notified of each park.
    sleeper: Option<&'a dyn Sleeper>,
}

impl<G: Goal> InRing<'_, G> {
    fn until(&self, limit: Option<Instant>) -> Wait<'_> {
        Wait { awaited: self.goal.awaited(), deadline: limit, sleeper: self.sleeper }
    }
}

impl<G: Goal> Waitable for InRing<'_, G> {
    const TAKES: bool = G::TAKES;

    #[inline(always)]
    fn poll(&mut self, times: u32) -> bool {
        self.goal.poll(times)
    }

    #[inline(always)]
    fn seems_over(&self) -> bool {
        self.goal.awaited().seems_over()
    }

    fn sleep(&self, time: Duration, limit: Option<Instant>) {
        self.shared.control.sleep(&self.until(limit), time);
    }

    fn park(&self, limit: Option<Instant>) {
        self.shared.control.park(&self.until(limit));
    }
}

/// How one end of a ring waits: its strategy, and what has happened in its wait so far.
pub(crate) struct Waiter {
    strategy: Box<dyn AnyWaitStrategy>,
    so_far: SoFar,
}

impl Waiter {
    pub(crate) fn new(strategy: Box<dyn AnyWaitStrategy>) -> Self {
        Self { strategy, so_far: SoFar::default() }
    }

    /// Whether its strategy parks.
    pub(crate) fn parks(&self) -> bool {
        self.strategy.parks()
    }

    /// Changes the strategy.
    pub(crate) fn set(&mut self, strategy: Box<dyn AnyWaitStrategy>) {
        *self = Self::new(strategy);
    }

    /// Returns a copy of the strategy.
    pub(crate) fn copy_strategy(&self) -> Box<dyn AnyWaitStrategy> {
        self.strategy.clone()
    }

    /// Steps of the wait so far.
    #[cfg(all(test, not(loom)))]
    pub(super) fn steps(&self) -> u64 {
        self.so_far.steps
    }

    /// Begins a new wait.
    pub(crate) fn begin(&mut self) {
        let SoFar { steps, last_yield, slept, is_expired, .. } = mem::take(&mut self.so_far);
        if steps > 0 {
            self.strategy.ended(&Waited { last_yield, slept, is_expired });
        }
    }

    /// Lets the strategy pace its consumer.
    pub(crate) fn pace(&mut self, pacing: &Pacing<'_>) {
        self.begin();
        self.strategy.pace(pacing);
    }

    /// Takes steps in a ring. Notifies `sleeper` of each park.
    #[inline(always)]
    pub(crate) fn wait<G: Goal>(
        &mut self,
        goal: &mut G,
        shared: &Shared,
        limit: Option<Instant>,
        sleeper: Option<&dyn Sleeper>,
    ) {
        let waitable = InRing { goal, shared, sleeper };
        self.take_steps(waitable, CpuLoad::of(shared), limit);
    }

    /// Takes the steps that the strategy answers. Returns when the wait seems to be over, when
    /// `limit` has passed, and after a sleep. The caller then polls, and calls this again if the
    /// poll finds nothing.
    #[inline(always)]
    pub(super) fn take_steps<W: Waitable>(
        &mut self,
        waitable: W,
        load: CpuLoad<'_>,
        limit: Option<Instant>,
    ) {
        let Self { strategy, so_far } = self;
        so_far.is_expired = false;
        let spinner = Cell::new(None);
        let mut taking = Taking { waitable, load, limit, so_far, spinner: &spinner };
        loop {
            let so_far = &*taking.so_far;
            let step = strategy.next(&Waiting::new(load, limit, W::TAKES, so_far, &spinner));
            taking.so_far.steps += 1;
            if taking.take(step) {
                return;
            }
        }
    }
}

/// What a thread needs to take a step.
struct Taking<'a, W> {
    waitable: W,
    load: CpuLoad<'a>,
    limit: Option<Instant>,
    so_far: &'a mut SoFar,
    /// The right to spin, if the strategy has taken it.
    spinner: &'a Cell<Option<Spinner>>,
}

impl<W: Waitable> Taking<'_, W> {
    /// Takes a step. Returns whether the thread now has to check what it waits for.
    #[inline(always)]
    fn take(&mut self, step: Step) -> bool {
        match step {
            Step::Poll(times) => self.in_parts(times, POLLS_PER_CHECK, W::poll),
            Step::Pause(hints) => self.in_parts(hints, HINTS_PER_CHECK, |_, hints| {
                pause(hints);
                false
            }),
            Step::Yield => self.give_way(),
            Step::Sleep(time) => self.asleep(|waitable, limit| waitable.sleep(time, limit)),
            Step::Park => self.asleep(W::park),
        }
    }

    /// Runs `part` for `times` in parts of at most `most`, with a check after each part. Ends early
    /// if `part` says that the wait seems to be over, or a check does.
    #[inline(always)]
    fn in_parts(
        &mut self,
        times: u32,
        most: u32,
        mut part: impl FnMut(&mut W, u32) -> bool,
    ) -> bool {
        let mut left = times;
        loop {
            let now = left.min(most);
            if part(&mut self.waitable, now) || self.is_over() {
                return true;
            }
            left -= now;
            if left == 0 {
                return false;
            }
        }
    }

    /// Yields. Sleeps if that is refused for the second time.
    fn give_way(&mut self) -> bool {
        let result = self.load.give_way();
        let before = self.so_far.last_yield.replace(result);
        if result == Yield::Refused && before == Some(Yield::Refused) {
            let is_over = self.asleep(|waitable, limit| waitable.sleep(SHORTEST_SLEEP, limit));
            self.so_far.last_yield = Some(result);
            return is_over;
        }
        self.is_over()
    }

    /// Runs `sleep`, and records how long it took. The thread does not keep the right to spin
    /// meanwhile.
    fn asleep(&mut self, sleep: impl FnOnce(&W, Option<Instant>)) -> bool {
        self.spinner.take();
        let start = now();
        sleep(&self.waitable, self.limit);
        self.so_far.slept = now() - start;
        self.so_far.slept_at = self.so_far.steps;
        self.so_far.last_yield = None;
        self.so_far.is_expired = has_passed(self.limit);
        true
    }

    /// Whether the wait is over or has expired.
    fn is_over(&mut self) -> bool {
        if self.waitable.seems_over() {
            return true;
        }
        self.so_far.is_expired = has_passed(self.limit);
        self.so_far.is_expired
    }
}
