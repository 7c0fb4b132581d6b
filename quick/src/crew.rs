//! The threads of one run. They start together, and the clock runs from their release until the last one is done.

use std::error::Error;
use std::process;
use std::sync::{Barrier, mpsc};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use crate::graphs::Checksum;

/// The longest time that a run may take. A library that loses an event, or a thread that panics, leaves other threads
/// waiting; the program ends then.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why a run has no result, or why the program cannot go on.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// What a thread does: its checksums, if it is a consumer.
type Job<'a> = Box<dyn FnOnce() -> Vec<Checksum> + Send + 'a>;

/// A run that came to its end. Its answers are not checked.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) started_at: Instant,
    pub(crate) ended_at: Instant,
    /// The checksums of all consumers, in the order of `Graph::expected`.
    pub(crate) answers: Vec<Checksum>,
}

/// Threads that start together.
#[derive(Default)]
pub(crate) struct Crew<'a>(Vec<Job<'a>>);

impl<'a> Crew<'a> {
    /// Adds a thread that has no answer.
    pub(crate) fn add(&mut self, job: impl FnOnce() + Send + 'a) {
        self.0.push(Box::new(|| {
            job();
            Vec::new()
        }));
    }

    /// Adds a thread that computes a checksum.
    pub(crate) fn add_consumer(&mut self, job: impl FnOnce() -> Checksum + Send + 'a) {
        self.0.push(Box::new(|| vec![job()]));
    }

    /// Runs every job on a thread of its own. The answers are in the order in which the consumers were added.
    ///
    /// # Errors
    ///
    /// A thread panicked.
    pub(crate) fn run(self) -> Result<Run, Failure> {
        let (start, (ended, ends)) = (Barrier::new(self.0.len() + 1), mpsc::channel());
        thread::scope(|scope| {
            let mut threads = Vec::with_capacity(self.0.len());
            for job in self.0 {
                let (start, ended) = (&start, ended.clone());
                let thread = Builder::new().spawn_scoped(scope, move || {
                    start.wait();
                    let answers = job();
                    let _unread = ended.send(Instant::now());
                    answers
                });
                // The threads that have started wait for all others.
                threads.push(thread.unwrap_or_else(|error| give_up(&error.to_string())));
            }
            drop(ended);
            start.wait();
            let started_at = Instant::now();
            let mut ended_at = started_at;
            for _ in &threads {
                match ends.recv_timeout(PATIENCE) {
                    Ok(end) => ended_at = ended_at.max(end),
                    Err(mpsc::RecvTimeoutError::Disconnected) => break, // a thread panicked
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        give_up("a run does not come to its end")
                    }
                }
            }
            let answers = threads.into_iter().map(|thread| thread.join());
            let answers =
                answers.collect::<Result<Vec<_>, _>>().map_err(|_| "a thread panicked")?;
            Ok(Run { started_at, ended_at, answers: answers.concat() })
        })
    }
}

/// Ends the program while threads are waiting.
fn give_up(reason: &str) -> ! {
    eprintln!("lapwing-quick: {reason}");
    process::exit(1)
}
