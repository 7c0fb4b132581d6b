//! The child process: runs one episode after the other, watches for stalls, and prints its figures.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::board::{Board, locked};
use super::memory::{self, Memory};
use super::plan::Plan;
use super::violation::Violation;
use super::watch::{INTERVAL, Watch};
use super::wire::{Line, State};
use super::{channels, ring, weather};
use crate::output;

/// Time between two beats.
const BEAT: Duration = Duration::from_secs(1);

/// What the child has to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    /// The seed of everything.
    pub(super) seed: u64,
    /// The only episode, again and again.
    pub(super) only: Option<u64>,
    /// For how long.
    pub(super) time: Duration,
}

/// The child's own state.
struct Soak {
    task: Task,
    board: Arc<Board>,
    memory: Mutex<Memory>,
    watch: Mutex<Watch>,
    is_over: AtomicBool,
}

/// Runs until the time is over, or until a violation, which ends the process.
///
/// # Errors
///
/// The last line cannot be printed.
pub(super) fn run(task: Task) -> std::io::Result<()> {
    let soak = Arc::new(Soak {
        task,
        board: Arc::default(),
        memory: Mutex::default(),
        watch: Mutex::default(),
        is_over: AtomicBool::new(false),
    });
    let watching = Arc::clone(&soak);
    let watch = thread::Builder::new().name("soak-watch".to_owned());
    let watch = watch.spawn(move || watching.keep_watch())?;
    let outside = Arc::clone(&soak);
    let weather = thread::Builder::new().name("soak-weather".to_owned()).spawn(move || {
        weather::run(outside.task.seed, &outside.board, &outside.is_over);
    })?;
    soak.run_episodes();
    soak.is_over.store(true, Ordering::Relaxed);
    let _ended = (weather.join(), watch.join());
    soak.end_if_violated();
    print(&Line::Done(soak.state()))
}

impl Soak {
    /// Runs episodes until the time is over. Some small ones run side by side.
    fn run_episodes(&self) {
        let end = Instant::now() + self.task.time;
        let mut next = 0;
        while Instant::now() < end && self.board.violation().is_none() {
            let plan = Plan::draw(self.task.seed, self.task.only.unwrap_or(next));
            next += 1;
            let beside = Plan::draw(self.task.seed, next);
            let is_pair = self.task.only.is_none()
                && !plan.is_large
                && !beside.is_large
                && plan.rng(0, 1).bool();
            thread::scope(|scope| {
                if is_pair {
                    next += 1;
                    scope.spawn(|| run_episode(beside, &self.board));
                }
                run_episode(plan, &self.board);
            });
            locked(&self.memory).sample();
        }
    }

    /// Polls for stalls, hangs and violations, and prints a line at times.
    fn keep_watch(&self) {
        let (mut polled_at, mut beat_at) = (Instant::now(), Instant::now());
        while !self.is_over.load(Ordering::Relaxed) {
            thread::sleep(INTERVAL);
            let now = Instant::now();
            let hang = locked(&self.watch).poll(now - polled_at, self.board.seen());
            polled_at = now;
            if let Some(time) = hang {
                self.board.refuse(Violation::Hang(time), "the rings below");
            }
            self.end_if_violated();
            if now - beat_at >= BEAT {
                beat_at = now;
                // A closed pipe means that the parent has ended.
                let _closed = print(&Line::Beat(self.state()));
            }
        }
    }

    /// Ends the process if there is a violation.
    fn end_if_violated(&self) {
        if let Some((violation, whence)) = self.board.violation() {
            let text = format!("{violation}; found by {whence}");
            let (snapshots, state) = (self.board.snapshots(), self.state());
            let _closed = print(&Line::Violation { text, snapshots, state });
            process::exit(1);
        }
    }

    fn state(&self) -> State {
        let totals = self.board.totals();
        let watch = locked(&self.watch);
        State {
            events: totals.published,
            checked: totals.handled,
            rings: totals.rings,
            faults: self.board.faults.by_name(),
            topologies: self.board.by_topology(),
            longest_stall_ms: watch.longest.as_millis() as u64,
            longest_crowded_stall_ms: watch.longest_crowded.as_millis() as u64,
            resident_bytes: memory::resident(),
            growth_bytes: locked(&self.memory).growth(),
        }
    }
}

fn run_episode(plan: Plan, board: &Arc<Board>) {
    let plan = Arc::new(plan);
    if plan.topology.is_channel() {
        channels::run(&plan, board);
    } else {
        ring::run(&plan, board);
    }
}

fn print(line: &Line) -> std::io::Result<()> {
    output::print(&serde_json::to_string(line)?)
}
