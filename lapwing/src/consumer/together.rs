//! How several stages share a thread: they take turns in order, one short batch each, and wait
//! together for anything that one of them can handle. Not here: the turn of a stage (`stage_loop`).
//!
//! ```text
//! a ──> b ──> c, where a chunk fits into the first-level cache
//!
//! turn  a: chunk 0   b: chunk 0   c: chunk 0   a: chunk 1   b: chunk 1   c: chunk 1   ...
//! ```
//!
//! A turn that finds nothing costs a load of the words upstream of the stage. It reads no clock,
//! except for a stage with a timeout or a pause. A release wakes no other stage of this thread,
//! which is running.

use std::sync::Arc;
use std::time::Duration;

use lapwing_core::{Awaited, Drained, EventCount, Sleeper};

use super::source::pace;
use super::task::{Task, TurnResult};
use super::{Consumer, StageReport};
use crate::activity::{Activity, Doing};
use crate::catch::catch;
use crate::deadline::earlier;
use crate::sync::now;
use crate::wait::Waiter;
use crate::wait::cpu_load::CpuLoad;

/// Longest sleep of a thread whose stages have no event count in common. They belong to different
/// rings, or to a ring that does not know that they share a thread.
const LONGEST_SLEEP: Duration = Duration::from_millis(1);

/// Most bytes of the ring that a stage handles in one turn: half of 32 KiB, the smallest
/// first-level cache. Then the next stage finds the events in this cache. The other half is for the
/// handlers. Measured: see E30 in `lab/results/experiments.md`.
const TURN_BYTES: u64 = 16 << 10;

/// Fewest events of the longest batch of a turn, however large they are. It keeps the fixed cost of
/// a turn per event small.
const LEAST_TURN: u64 = 16;

/// Runs `consumers` on this thread until all have ended. Passes each result to `deliver`, with the
/// place of the consumer among them.
pub(crate) fn run_together<'env>(
    consumers: impl IntoIterator<Item = Consumer<'env>>,
    deliver: &mut dyn FnMut(usize, StageReport),
) {
    let mut thread = TasksOfThread { tasks: Vec::new(), waiter: None };
    for (place, consumer) in consumers.into_iter().enumerate() {
        match consumer.begin() {
            Ok(task) => thread.tasks.push((place, task)),
            Err(end) => deliver(place, end),
        }
    }
    for (_, task) in &mut thread.tasks {
        task.share_thread();
        task.start();
    }
    let mut is_waiting = false;
    while !thread.tasks.is_empty() {
        is_waiting = match thread.take_turns(deliver) {
            Round::Idle => thread.wait(is_waiting),
            Round::Drained(drained) => {
                thread.pace(drained);
                false
            }
            Round::TimedOut | Round::Busy => false,
        };
    }
}

/// Longest batch of a stage that shares its thread, in events.
pub(super) fn longest_turn<E>() -> u64 {
    // A zero-sized event counts as a byte.
    (TURN_BYTES / (size_of::<E>() as u64).max(1)).max(LEAST_TURN)
}

/// The result of one turn of each stage: the greatest of their results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Round {
    /// No stage had anything to do.
    Idle,
    /// A stage has handled its timeout, and no stage had anything else to do.
    TimedOut,
    /// No stage knows of more events.
    Drained(Drained),
    /// A stage has more events, or has ended.
    Busy,
}

/// The stages of a thread that have not ended, each with its place among all of them.
struct TasksOfThread<'env> {
    tasks: Vec<(usize, Box<dyn Task + 'env>)>,
    /// How it waits: with a copy of the strategy of the first stage, made when it is first needed.
    waiter: Option<Waiter>,
}

impl<'env> TasksOfThread<'env> {
    /// Gives each stage a turn.
    fn take_turns(&mut self, deliver: &mut dyn FnMut(usize, StageReport)) -> Round {
        let mut round = Round::Idle;
        let mut index = 0;
        while let Some((_, task)) = self.tasks.get_mut(index) {
            let turn = task.take_turn();
            round = round.max(match turn {
                TurnResult::Idle => Round::Idle,
                TurnResult::TimedOut => Round::TimedOut,
                TurnResult::Handled(drained) => drained.map_or(Round::Busy, Round::Drained),
                TurnResult::Ended => Round::Busy,
            });
            if turn == TurnResult::Ended {
                let (place, task) = self.tasks.remove(index);
                deliver(place, task.finish());
            } else {
                index += 1;
            }
        }
        round
    }

    /// Backs off if the strategy of the first stage says so. All stages had time to find more
    /// events.
    fn pace(&mut self, drained: Drained) {
        self.ask(|waiter, tasks| {
            pace(drained, waiter, Some(CpuLoad::of(tasks[0].1.shared())));
        });
    }

    /// Waits with the strategy of the first stage until a stage may have something to do. The wait
    /// is a new one unless it continues the last. Returns whether it may be continued.
    fn wait(&mut self, continues: bool) -> bool {
        let tasks = &self.tasks;
        let shared = Arc::clone(tasks[0].1.shared());
        let is_one_ring = tasks.iter().all(|(_, task)| Arc::ptr_eq(task.shared(), &shared));
        let mut deadline = tasks.iter().filter_map(|(_, task)| task.deadline()).min();
        if !is_one_ring || !shared.control.shares_threads() {
            let soon = now() + LONGEST_SLEEP;
            deadline = Some(earlier(deadline, soon));
        }
        let limit = shared.turns.limit_wait(&shared.control, deadline);
        self.ask(|waiter, tasks| {
            let anything = Anything { tasks };
            anything.tell(|activity| activity.set(Doing::Waiting));
            if !continues {
                waiter.begin();
            }
            waiter.wait(&mut &anything, &shared, limit, Some(&anything));
        })
    }

    /// Calls the strategy of the first stage. A panic there, or in the copy of the strategy, counts
    /// as a panic of that stage. Returns whether there was none.
    fn ask(
        &mut self,
        question: impl FnOnce(&mut Waiter, &[(usize, Box<dyn Task + 'env>)]),
    ) -> bool {
        let Self { tasks, waiter } = self;
        let answer = catch(|| {
            let waiter = waiter.get_or_insert_with(|| Waiter::new(tasks[0].1.copy_strategy()));
            question(waiter, tasks);
        });
        let Err(message) = answer else { return true };
        tasks[0].1.fail(message);
        false
    }
}

/// The wait of a thread that runs several stages.
struct Anything<'a, 'env> {
    tasks: &'a [(usize, Box<dyn Task + 'env>)],
}

impl Anything<'_, '_> {
    /// Applies `what` to the activity of each stage that waits.
    fn tell(&self, what: impl Fn(&Activity)) {
        // A stage that pauses does not wait.
        let waiting = self.tasks.iter().filter(|(_, task)| !task.is_pausing());
        waiting.for_each(|(_, task)| what(task.activity()));
    }
}

impl Sleeper for Anything<'_, '_> {
    fn lie_down(&self) {
        self.tell(Sleeper::lie_down);
    }

    fn get_up(&self, is_woken: bool) {
        self.tell(|activity| activity.get_up(is_woken));
    }
}

impl Awaited for Anything<'_, '_> {
    fn is_over(&self) -> bool {
        self.tasks.iter().any(|(_, task)| task.is_ready())
    }

    fn event_count(&self) -> Option<&EventCount> {
        let control = &self.tasks[0].1.shared().control;
        // Where no stage that releases events wakes this thread, the wait has a limit.
        Some(control.anything().unwrap_or_else(|| control.published()))
    }
}
