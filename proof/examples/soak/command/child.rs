//! The child process: runs one episode after the other, watches for stalls, and prints its figures.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use lapwing_proof::threads::{Board, Episode, Totals};

use super::memory::{self, Memory};
use super::watch::{INTERVAL, Watch};
use super::wire::{Line, State};
use super::{Task, weather};

/// Time between two beats.
const BEAT: Duration = Duration::from_secs(1);

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
pub(super) fn run(task: Task) -> io::Result<()> {
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
        let end = Instant::now() + self.task.time();
        let mut next = 0;
        while Instant::now() < end && self.board.violation().is_none() {
            let episode = Episode::draw(self.task.seed, self.task.episode.unwrap_or(next));
            next += 1;
            let beside = Episode::draw(self.task.seed, next);
            let is_pair = self.task.episode.is_none()
                && !episode.is_long()
                && !beside.is_long()
                && next.is_multiple_of(2);
            thread::scope(|scope| {
                if is_pair {
                    next += 1;
                    scope.spawn(|| beside.run(&self.board));
                }
                episode.run(&self.board);
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
                let hang = format!("hang: no progress for {time:?}");
                self.board.refuse(&hang, "the watch, in one of the rings below");
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
        if let Some(text) = self.board.violation() {
            let (snapshots, state) = (self.board.snapshots(), self.state());
            let _closed = print(&Line::Violation { text, snapshots, state });
            process::exit(1);
        }
    }

    fn state(&self) -> State {
        let Totals { published, handled, rings } = self.board.totals();
        let watch = locked(&self.watch);
        let faults = self.board.faults.each();
        State {
            events: published,
            checked: handled,
            rings,
            faults: faults.map(|(fault, count)| (fault.name().to_owned(), count)).collect(),
            topologies: self.board.by_topology(),
            longest_stall_ms: watch.longest.as_millis() as u64,
            longest_crowded_stall_ms: watch.longest_crowded.as_millis() as u64,
            resident_bytes: memory::resident(),
            growth_bytes: locked(&self.memory).growth(),
        }
    }
}

/// Locks, also after a panic of another thread.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn print(line: &Line) -> io::Result<()> {
    super::print(&serde_json::to_string(line)?)
}
