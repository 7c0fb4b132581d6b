//! The threads of one run. They start together, and the clock runs from the start of the first one to the end of the last.

use std::error::Error;
use std::io::{self, Write};
use std::process;
use std::sync::Barrier;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use crate::graphs::{Checksum, Event};

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

    /// Adds a thread that sends each event by `call` and takes what comes back, and one that sends each back by `echo`.
    pub(crate) fn add_round_trips(
        &mut self,
        events: u32,
        mut call: impl FnMut(Event) -> Event + Send + 'a,
        mut echo: impl FnMut() + Send + 'a,
    ) {
        self.add_consumer(move || {
            let mut sum = Checksum::default();
            (0..events).for_each(|number| call(Event::new(number, 0)).consume(&mut sum));
            sum
        });
        self.add(move || (0..events).for_each(|_| echo()));
    }

    /// Runs every job on a thread of its own. The answers are in the order in which the consumers were added.
    ///
    /// # Errors
    ///
    /// A thread panicked.
    pub(crate) fn run(self) -> Result<Run, Failure> {
        let (start, (done, times)) = (Barrier::new(self.0.len()), mpsc::channel());
        thread::scope(|scope| {
            let mut threads = Vec::with_capacity(self.0.len());
            for job in self.0 {
                let (start, done) = (&start, done.clone());
                let thread = Builder::new().spawn_scoped(scope, move || {
                    start.wait();
                    let started_at = Instant::now();
                    let answers = job();
                    let _unread = done.send((started_at, Instant::now()));
                    answers
                });
                // The threads that have started wait for all others.
                threads.push(thread.unwrap_or_else(|error| give_up(&error.to_string())));
            }
            drop(done);
            let (mut started_at, mut ended_at) = wait_for(&times)?;
            for _ in 1..threads.len() {
                let (start, end) = wait_for(&times)?;
                (started_at, ended_at) = (started_at.min(start), ended_at.max(end));
            }
            let answers = threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default());
            Ok(Run { started_at, ended_at, answers: answers.collect() })
        })
    }
}

/// Waits until a thread has come to its end: when it started, and when it ended.
fn wait_for(times: &Receiver<(Instant, Instant)>) -> Result<(Instant, Instant), Failure> {
    times.recv_timeout(PATIENCE).map_err(|error| match error {
        RecvTimeoutError::Timeout => give_up("a run does not come to its end"),
        RecvTimeoutError::Disconnected => "a thread panicked".into(),
    })
}

/// Ends the program while threads are waiting.
fn give_up(reason: &str) -> ! {
    let _unread = writeln!(io::stderr(), "lapwing-quick: {reason}");
    process::exit(1)
}
