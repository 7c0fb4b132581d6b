//! The threads of one run. They start together, and the clock runs from their release until the
//! last one ends. A worker that fails never leaves the others blocked. The workers' jobs are in
//! `topologies` and `contenders`.
//!
//! ```text
//! main    spawn .. spawn | release, clock starts |  join .. join   | drop rings and queues
//! worker        wait ....|.......................| job, finished_at |
//! ```
//!
//! The system places the threads, or each has its own CPU (`placement`).

use std::any::Any;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder, ScopedJoinHandle};
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::machine::cpu_time;
use crate::machine::placement::{self, Placement};

/// The answers of one worker. A producer has none.
pub(crate) type Answers = Vec<u64>;

/// The job of a worker between the start and its end. It is `FnMut`, so that a successful worker's
/// queues still exist when the clock stops.
type Job<'a> = Box<dyn FnMut() -> Result<Answers, Disconnected> + Send + 'a>;

/// A worker stopped early because the worker at the other end of its queue or ring is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the other end is gone")]
pub(crate) struct Disconnected;

/// The reason why a run has no result.
#[derive(Debug, Error)]
pub(crate) enum RunError {
    /// The system refused to create a thread. No worker has started its job.
    #[error("cannot start a thread: worker={worker}: {source}")]
    Spawn {
        /// The worker without a thread.
        worker: String,
        /// The system's reason.
        source: io::Error,
    },
    /// A worker panicked; the others were joined.
    #[error("worker panicked: worker={worker} message={message:?}")]
    Panicked {
        /// The first worker, in order of enlistment, that panicked.
        worker: String,
        /// Its message.
        message: String,
    },
    /// A worker stopped early because its peer is gone, although no worker panicked.
    #[error("worker stopped because its peer is gone: worker={worker}")]
    Disconnected {
        /// The first worker, in order of enlistment, that stopped early.
        worker: String,
    },
    /// A program in another language failed.
    #[error("{0}")]
    Foreign(String),
    /// The contender could not be built.
    #[error("cannot build the contender: {0}")]
    Build(String),
}

impl RunError {
    /// Returns the error of a contender whose ring or queue was refused with `error`.
    pub(crate) fn refused(error: impl std::error::Error) -> Self {
        Self::Build(error.to_string())
    }
}

/// A run that completed.
#[derive(Debug)]
pub(crate) struct Finish {
    /// The time at which the workers were released.
    pub(crate) started_at: Instant,
    /// The time from the release of the workers to the end of the last one.
    pub(crate) elapsed: Duration,
    /// CPU time of the process during the run, or `None` if the system does not report it.
    pub(crate) cpu_time: Option<Duration>,
    /// The answers of all workers, in order of enlistment.
    pub(crate) answers: Answers,
}

/// Workers that start together.
pub(crate) struct Crew<'a> {
    /// Each worker's name and job.
    workers: Vec<(String, Job<'a>)>,
    /// The placement of the threads.
    placement: Placement,
}

impl<'a> Crew<'a> {
    /// Creates a crew without workers. Its workers run where `placement` says.
    pub(crate) fn new(placement: Placement) -> Self {
        Self { workers: Vec::new(), placement }
    }

    /// Adds a worker. `job` is called once.
    pub(crate) fn enlist(
        &mut self,
        worker: impl Into<String>,
        job: impl FnMut() -> Result<Answers, Disconnected> + Send + 'a,
    ) {
        self.workers.push((worker.into(), Box::new(job)));
    }

    /// Starts all workers at the same time and waits for them.
    ///
    /// # Errors
    ///
    /// [`RunError`] with the first panic, or else with the first lost peer. No thread is left
    /// running.
    ///
    /// # Blocking
    ///
    /// Waits until the last worker ends. A worker that fails drops its ends of all queues at once,
    /// so its peers fail as well and do not wait forever.
    pub(crate) fn run(self) -> Result<Finish, RunError> {
        let gate = Gate::default();
        let mut cpus = self.placement.cpus(self.workers.len()).into_iter();
        thread::scope(|scope| {
            let mut handles = Vec::with_capacity(self.workers.len());
            for (worker, job) in self.workers {
                let (gate, cpu) = (&gate, cpus.next());
                let thread = Builder::new().name(worker.clone());
                let job = move || {
                    cpu.into_iter().for_each(placement::pin);
                    work(job, gate)
                };
                match thread.spawn_scoped(scope, job) {
                    Ok(handle) => handles.push((worker, handle)),
                    Err(source) => {
                        gate.abandon();
                        return Err(RunError::Spawn { worker, source });
                    }
                }
            }
            let cpu_before = cpu_time::used();
            let started_at = gate.open(handles.len());
            let finish = finish(started_at, handles)?;
            Ok(Finish { cpu_time: cpu_time::since(cpu_before), ..finish })
        })
    }
}

/// The start gate. A `Barrier` would block the other workers if one thread cannot be spawned.
#[derive(Default)]
struct Gate {
    /// Workers that have arrived.
    waiting: AtomicUsize,
    /// Set once: the time of the start, or `None` if the start is cancelled.
    start: OnceLock<Option<Instant>>,
}

impl Gate {
    /// Waits for the start. Returns false if it is cancelled.
    fn wait(&self) -> bool {
        // Relaxed suffices: `start` carries the ordering, not the count.
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.start.wait().is_some()
    }

    /// Releases the workers when all `workers` have arrived, and returns the time of the release.
    fn open(&self, workers: usize) -> Instant {
        // Relaxed suffices: `start` carries the ordering, not the count.
        while self.waiting.load(Ordering::Relaxed) < workers {
            thread::yield_now();
        }
        let now = Instant::now();
        self.start.get_or_init(|| Some(now)).unwrap_or(now)
    }

    /// Cancels the start and releases the workers.
    fn abandon(&self) {
        self.start.get_or_init(|| None);
    }
}

/// The result of one worker.
struct Done<'a> {
    /// The time at which its job returned.
    finished_at: Instant,
    /// The result of its job.
    outcome: Result<Answers, Disconnected>,
    /// The job of a successful worker with all that it owns. It is freed after the clock has
    /// stopped.
    _kept: Option<Job<'a>>,
}

/// Runs one worker on its own thread.
fn work<'a>(mut job: Job<'a>, gate: &Gate) -> Done<'a> {
    let outcome = if gate.wait() { job() } else { Err(Disconnected) };
    let finished_at = Instant::now();

    // A failed worker drops its ends here, so that its peers stop as well. A panic does the same.
    let kept = outcome.is_ok().then_some(job);
    Done { finished_at, outcome, _kept: kept }
}

/// A worker's name and its thread.
type Handle<'scope, 'a> = (String, ScopedJoinHandle<'scope, Done<'a>>);

/// Joins all workers, then stops the clock at the end of the last one.
fn finish(started_at: Instant, handles: Vec<Handle<'_, '_>>) -> Result<Finish, RunError> {
    let joined =
        handles.into_iter().map(|(worker, handle)| (worker, handle.join())).collect::<Vec<_>>();

    let mut dones = Vec::with_capacity(joined.len());
    for (worker, result) in joined {
        match result {
            Ok(done) => dones.push((worker, done)),
            Err(panic) => return Err(panicked(worker, panic.as_ref())),
        }
    }

    let mut answers = Answers::new();
    let mut elapsed = Duration::ZERO;
    for (worker, done) in dones {
        elapsed = elapsed.max(done.finished_at.duration_since(started_at));
        match done.outcome {
            Ok(own) => answers.extend(own),
            Err(Disconnected) => return Err(RunError::Disconnected { worker }),
        }
    }
    Ok(Finish { started_at, elapsed, cpu_time: None, answers })
}

/// Returns the error of a worker that panicked with `panic`.
fn panicked(worker: String, panic: &(dyn Any + Send)) -> RunError {
    let text = panic.downcast_ref::<&str>().copied();
    let message = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    RunError::Panicked { worker, message: message.unwrap_or("no message").to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_order_of_enlistment() {
        let mut crew = Crew::new(Placement::Free);
        crew.enlist("slow", || {
            thread::sleep(Duration::from_millis(5));
            Ok(vec![1])
        });
        crew.enlist("none", || Ok(Vec::new()));
        crew.enlist("fast", || Ok(vec![2, 3]));

        let finish = crew.run().unwrap();
        assert_eq!(finish.answers, [1, 2, 3]);
        assert!(finish.elapsed >= Duration::from_millis(5));
    }

    #[test]
    fn panic_is_reported_before_the_loss_that_it_causes() {
        let mut crew = Crew::new(Placement::Free);
        crew.enlist("neighbour", || Err(Disconnected));
        crew.enlist("culprit", || panic!("on purpose"));

        let error = crew.run().unwrap_err();
        assert!(
            matches!(&error, RunError::Panicked { worker, message }
                if worker == "culprit" && message == "on purpose"),
            "error={error}"
        );
    }

    #[test]
    fn abandoned_gate_sends_a_waiting_worker_home() {
        let gate = Gate::default();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| gate.wait());
            gate.abandon();
            assert!(!waiting.join().unwrap());
        });
    }
}
