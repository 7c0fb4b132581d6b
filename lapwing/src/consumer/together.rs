//! Several stages on one thread: they take turns in their order, a short batch each, and wait for anything
//! at all.
//!
//! ```text
//! a <-- b <-- c, a chunk being as much as stays in the first-level cache
//!
//! turn  a: chunk 0   b: chunk 0   c: chunk 0   a: chunk 1   b: chunk 1   c: chunk 1   ...
//! ```
//!
//! A turn that finds nothing costs a look at the words of those before the stage. No clock is read for it,
//! but where a stage has a timeout or a pause. A release finds no sleeper of its own thread, which is
//! awake.

use std::time::{Duration, Instant};

use super::catch::catch;
use super::source::pace;
use super::task::{Task, Turn};
use super::{Consumer, Finished};
use crate::activity::{Activity, Doing, Sleeper};
use crate::protocol::parking::Awaited;
use crate::protocol::parking::event_count::EventCount;
use crate::protocol::reading::Drained;
use crate::sync::Arc;
use crate::wait::cpu_load::CpuLoad;
use crate::wait::{AnyWaitStrategy, Waiting};

/// Stages of different rings, or of a ring that was not told that they share a thread, have nothing
/// in common to sleep on: their thread looks again after this time.
const LONGEST_SLEEP: Duration = Duration::from_millis(1);

/// Bytes of the ring that a stage which shares its thread handles in one turn: half of the first-level
/// cache where that is smallest, 32 KiB, so that the events are still there when the next stage of the
/// thread has its turn, whatever the handlers need besides.
const TURN_BYTES: u64 = 16 << 10;

/// Events that such a batch may have at least, however large they are, so that what a turn costs apart
/// from them is little for each. Measured: see `perf/results/experiments.md`.
const LEAST_TURN: u64 = 16;

/// Runs `consumers` on this thread until all of them have ended, and hands each one's end to `deliver`
/// with its place among them.
pub(crate) fn run_together<'env>(
    consumers: impl IntoIterator<Item = Consumer<'env>>,
    deliver: &mut dyn FnMut(usize, Finished),
) {
    let mut crew = Crew { tasks: Vec::new(), strategy: None };
    for (place, consumer) in consumers.into_iter().enumerate() {
        match consumer.begin() {
            Ok(task) => crew.tasks.push((place, task)),
            Err(end) => deliver(place, end),
        }
    }
    for (_, task) in &mut crew.tasks {
        task.share_thread();
        task.start();
    }
    while !crew.tasks.is_empty() {
        match crew.take_turns(deliver) {
            Round::Idle => crew.wait(),
            Round::Drained(drained) => crew.pace(drained),
            Round::Busy => {}
        }
    }
}

/// Longest batch of a stage that shares its thread, in events.
pub(super) fn longest_turn<E>() -> u64 {
    // An event without a size counts as a byte.
    (TURN_BYTES / (size_of::<E>() as u64).max(1)).max(LEAST_TURN)
}

/// What a turn of each stage came to: the greatest of what became of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Round {
    /// None of them had anything to do.
    Idle,
    /// None of them knows of more.
    Drained(Drained),
    /// One of them has more, or has ended.
    Busy,
}

/// The stages of a thread that have not ended, each with its place among all of them.
struct Crew<'env> {
    tasks: Vec<(usize, Box<dyn Task + 'env>)>,
    /// That of the first stage; made when it is first needed.
    strategy: Option<Box<dyn AnyWaitStrategy>>,
}

impl<'env> Crew<'env> {
    /// Gives each stage a turn.
    fn take_turns(&mut self, deliver: &mut dyn FnMut(usize, Finished)) -> Round {
        let mut round = Round::Idle;
        let mut index = 0;
        while let Some((_, task)) = self.tasks.get_mut(index) {
            let turn = task.take_turn();
            round = round.max(match turn {
                Turn::Idle => Round::Idle,
                Turn::Handled(drained) => drained.map_or(Round::Busy, Round::Drained),
                Turn::Ended => Round::Busy,
            });
            if turn == Turn::Ended {
                let (place, task) = self.tasks.remove(index);
                deliver(place, task.finish());
            } else {
                index += 1;
            }
        }
        round
    }

    /// Keeps away for a moment if the strategy of the first stage says so: what any of them finds, all of them
    /// had time to find.
    fn pace(&mut self, drained: Drained) {
        self.ask(|strategy, tasks| {
            pace(drained, strategy, Some(CpuLoad::of(tasks[0].1.control())));
        });
    }

    /// Waits by the strategy of the first stage until one of them has something to do.
    fn wait(&mut self) {
        let tasks = &self.tasks;
        let control = Arc::clone(tasks[0].1.control());
        let is_one_ring = tasks.iter().all(|(_, task)| Arc::ptr_eq(task.control(), &control));
        let mut deadline = tasks.iter().filter_map(|(_, task)| task.deadline()).min();
        if !is_one_ring || !control.has_shared_threads {
            let soon = Instant::now() + LONGEST_SLEEP;
            deadline = Some(deadline.map_or(soon, |deadline| deadline.min(soon)));
        }
        self.ask(|strategy, tasks| {
            let anything = Anything { tasks };
            anything.tell(|activity| activity.set(Doing::Waiting));
            let sleeper: Option<&dyn Sleeper> = Some(&anything);
            strategy.wait(&Waiting { sleeper, ..Waiting::new(&control, &anything, deadline) });
        });
    }

    /// Asks the strategy of the first stage. If that panics, or its copy does, the stage has.
    fn ask(
        &mut self,
        question: impl FnOnce(&mut dyn AnyWaitStrategy, &[(usize, Box<dyn Task + 'env>)]),
    ) {
        let Self { tasks, strategy } = self;
        let answer = catch(|| {
            let strategy = strategy.get_or_insert_with(|| tasks[0].1.copy_strategy());
            question(&mut **strategy, tasks);
        });
        if let Err(message) = answer {
            tasks[0].1.fail(message);
        }
    }
}

/// What a thread of several stages waits for.
struct Anything<'a, 'env> {
    tasks: &'a [(usize, Box<dyn Task + 'env>)],
}

impl Anything<'_, '_> {
    /// Tells each stage what its thread does.
    fn tell(&self, what: impl Fn(&Activity)) {
        // One that pauses waits for nothing.
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
        Some(&self.tasks[0].1.control().published)
    }
}
