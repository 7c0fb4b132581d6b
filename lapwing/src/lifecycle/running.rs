//! The consumers of a ring that run: stopping them, and waiting until they have.

use std::error::Error;
use std::fmt;
use std::thread::{JoinHandle, ScopedJoinHandle};
use std::time::{Duration, Instant};

use super::completion::Completion;
use super::report::{Failed, Report};
use crate::Sequence;
use crate::control::{Control, StageIndex};
use crate::ring::Ring;
use crate::sync::Arc;

/// Threads that run the stages of a ring.
///
/// Dropping it closes the ring and does not wait: stages drain what was accepted, and end. So a
/// scope that is left early, by `?` or by a panic, ends too. To leave the threads alone instead,
/// [`detach`](Self::detach) it.
///
/// ```
/// use std::time::Duration;
/// use lapwing::{Disruptor, Outcome, Stopped};
///
/// let (mut producer, consumers) =
///     Disruptor::single_producer(8, || 0_u64).then("work", |_, _, _| {}).build()?;
/// let running = consumers.start()?;
/// producer.publish(|event| *event = 1)?;
///
/// running.close();
/// assert_eq!(producer.publish(|event| *event = 2), Err(Stopped::Closed));
///
/// let report = running.shutdown_timeout(Duration::from_secs(10))?;
/// let stage = report.stages().next().unwrap();
/// assert_eq!((stage.name(), stage.outcome(), stage.processed()), ("work", &Outcome::Drained, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "dropping it closes the ring; call `shutdown` or `join` to see how the stages ended"]
pub struct Running<'scope> {
    ring: Box<dyn AnyRing + 'scope>,
    /// The stages that have a thread, upstream ones first, each with its index in the ring.
    stages: Vec<(StageIndex, String)>,
    threads: Vec<Handle<'scope>>,
    completion: Arc<Completion>,
    /// Whether dropping this leaves the ring open.
    is_detached: bool,
}

/// A ring whatever its events.
pub(super) trait AnyRing: Send + Sync {
    fn control(&self) -> &Control;
}

impl<E: Send> AnyRing for Arc<Ring<E>> {
    fn control(&self) -> &Control {
        &self.control
    }
}

/// A thread of a stage.
pub(super) enum Handle<'scope> {
    Owned(JoinHandle<()>),
    Scoped(ScopedJoinHandle<'scope, ()>),
}

impl Handle<'_> {
    /// Waits for the thread. What its stage did is in the report, and that it left nothing as well.
    fn join(self) {
        let _ = match self {
            Self::Owned(handle) => handle.join(),
            Self::Scoped(handle) => handle.join(),
        };
    }
}

impl<'scope> Running<'scope> {
    pub(super) fn new(
        ring: Box<dyn AnyRing + 'scope>,
        stages: Vec<(StageIndex, String)>,
        completion: Arc<Completion>,
    ) -> Self {
        Self { ring, stages, threads: Vec::new(), completion, is_detached: false }
    }

    pub(super) fn add(&mut self, thread: Handle<'scope>) {
        self.threads.push(thread);
    }

    /// Halts, and waits for the threads there are.
    pub(super) fn abort(mut self) {
        self.halt();
        self.join_threads();
    }

    fn join_threads(&mut self) {
        self.threads.drain(..).for_each(Handle::join);
    }

    /// Accepts no further event: producers get [`Stopped::Closed`](crate::Stopped::Closed), those
    /// that wait on a full ring as well; stages drain what was accepted, and end.
    pub fn close(&self) {
        self.ring.control().close();
    }

    /// Stops every stage after the batch that it is at, and every producer with
    /// [`Stopped::Halted`](crate::Stopped::Halted), wherever they wait. Events that are left are
    /// not handled.
    pub fn halt(&self) {
        self.ring.control().halt();
    }

    /// Whether every stage has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.completion.count() == self.threads.len()
    }

    /// For each stage that runs, pollers not included, the number of accepted events that it has
    /// not finished; a look, which may be old at once.
    #[must_use]
    pub fn backlog(&self) -> Vec<Backlog> {
        let ended = self.completion.names();
        let accepted = self.ring.control().accepted();
        let running = self.stages.iter().filter(|(_, name)| !ended.contains(name));
        running
            .map(|(stage, name)| {
                let finished = self.ring.control().finished_by(*stage);
                Backlog { stage: name.clone(), events: accepted.saturating_sub(finished) }
            })
            .collect()
    }

    /// Closes the ring, lets the stages drain it, waits for their threads, and hands back what they
    /// leave.
    ///
    /// # Errors
    ///
    /// [`Failed`] with the report, if a stage panicked or the ring was halted before it was
    /// drained.
    ///
    /// # Blocking
    ///
    /// Until every stage has handled every event that was accepted. Stages wait for pollers that
    /// come before them: one that holds its events, on this thread or another, holds this call.
    pub fn shutdown(self) -> Result<Report, Failed> {
        self.close();
        self.join()
    }

    /// As [`shutdown`](Self::shutdown), but waits for `timeout` at most. The ring is closed in any
    /// case.
    ///
    /// # Errors
    ///
    /// [`ShutdownError::TimedOut`] with what is left and this handle, to wait again or to halt; and
    /// as [`shutdown`](Self::shutdown).
    ///
    /// # Blocking
    ///
    /// As [`shutdown`](Self::shutdown), for `timeout`.
    pub fn shutdown_timeout(self, timeout: Duration) -> Result<Report, ShutdownError<'scope>> {
        self.close();
        let is_finished = match Instant::now().checked_add(timeout) {
            Some(deadline) => self.completion.wait(self.threads.len(), deadline),
            // Too long for the clock is no limit.
            None => true,
        };
        if is_finished {
            return Ok(self.join()?);
        }
        let backlog = self.backlog();
        Err(ShutdownError::TimedOut { running: self, backlog })
    }

    /// Leaves the threads alone: they end when the last producer is gone, or the ring is closed or
    /// halted.
    pub fn detach(mut self) {
        self.is_detached = true;
    }

    /// Waits until the stages have ended, because the producers are gone or somebody closed or
    /// halted the ring.
    ///
    /// # Errors
    ///
    /// As [`shutdown`](Self::shutdown).
    ///
    /// # Blocking
    ///
    /// As [`shutdown`](Self::shutdown), and for as long as there is a producer.
    pub fn join(mut self) -> Result<Report, Failed> {
        self.join_threads();
        let names: Vec<&str> = self.stages.iter().map(|(_, name)| name.as_str()).collect();
        Report::new(&names, self.completion.take()).into_result()
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.is_detached {
            self.close();
        }
    }
}

impl fmt::Debug for Running<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("stages", &self.stages).finish_non_exhaustive()
    }
}

impl Control {
    /// Number of events accepted so far; with several producers, of those claimed.
    fn accepted(&self) -> Sequence {
        self.life.end().unwrap_or_else(|| self.claimed())
    }
}

/// Accepted events that a stage has not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backlog {
    /// Name of the stage.
    pub stage: String,
    /// Number of events.
    pub events: u64,
}

/// Error of [`Running::shutdown_timeout`].
#[derive(Debug)]
pub enum ShutdownError<'scope> {
    /// Stages were still at work. The ring is closed, and they go on.
    TimedOut {
        /// The handle, to wait again or to halt.
        running: Running<'scope>,
        /// What each stage had left.
        backlog: Vec<Backlog>,
    },
    /// The stages ended, but not well.
    Failed(Failed),
}

impl fmt::Display for ShutdownError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(failed) => failed.fmt(f),
            Self::TimedOut { backlog, .. } => {
                f.write_str("stages were still at work at the timeout:")?;
                for Backlog { stage, events } in backlog {
                    write!(f, " stage={stage:?} events={events}")?;
                }
                Ok(())
            }
        }
    }
}

impl Error for ShutdownError<'_> {}

impl From<Failed> for ShutdownError<'_> {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}
