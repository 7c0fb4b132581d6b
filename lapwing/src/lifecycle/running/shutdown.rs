//! Waiting until the consumers of a ring have stopped, and what comes of it: the report, or why
//! there is none yet.

use std::error::Error;
use std::fmt;
use std::mem;
use std::time::Duration;

use super::{Backlog, Handle, Running};
use crate::lifecycle::report::{ALREADY_REPORTED, Report, RunError};

impl Running<'_> {
    /// Closes the ring, lets the stages drain it, waits for their threads, and hands back what they
    /// leave.
    ///
    /// ```
    /// # use lapwing::{Disruptor, consumer::Outcome};
    /// # let (mut producer, consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// let running = consumers.start()?;
    /// for value in 0..100 {
    ///     producer.publish(|event| *event = value)?;
    /// }
    /// let report = running.shutdown()?;
    /// let stage = report.stages().next().unwrap();
    /// assert_eq!((stage.processed(), stage.outcome()), (100, &Outcome::Drained));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError`] with the report, if a stage failed, panicked or was detached by its policy, or the
    /// ring was halted before it was drained. A handler of this ring cannot wait for itself: its call halts the ring
    /// and returns this error. To stop from a handler, use [`close`](Self::close) or
    /// [`Action::Halt`](crate::Action::Halt).
    ///
    /// If [`shutdown_timeout`](Self::shutdown_timeout) has returned the report already, the error says so
    /// ([`RunError::is_already_reported`]), and its report has no stages.
    ///
    /// # Blocking
    ///
    /// Until every stage that has a thread has handled every event that was accepted. Such stages
    /// wait for pollers that come before them: one that holds its events, on this thread or
    /// another, holds this call. A poller that none of them comes after does not, nor does a
    /// consumer that took a [seat](crate::graph::Seats): it drains the ring on its own.
    ///
    /// # After a fork
    ///
    /// A child process made by `fork` has a copy of the ring, but none of the threads. There this call
    /// panics: the standard library cannot join a thread that does not exist. Every wait for a stage
    /// blocks for ever, since nothing moves the stage on. Use a ring only in the process that started it, and make rings in a child
    /// after the fork. [`std::process::Command`] is not concerned, since it executes another program.
    pub fn shutdown(self) -> Result<Report, RunError> {
        self.close();
        self.join()
    }

    /// As [`shutdown`](Self::shutdown), but waits for `timeout` at most. The ring is closed in any
    /// case.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use lapwing::Disruptor;
    /// # let (mut producer, consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// let mut running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// let report = running.shutdown_timeout(Duration::from_secs(60))?;
    /// assert_eq!(report.stages().next().unwrap().processed(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A time limit that holds whatever the stages do, as far as each of them comes to the end of its
    /// batch:
    ///
    /// ```
    /// # use std::{sync::mpsc, time::Duration};
    /// # use lapwing::{Disruptor, Report, Running, lifecycle::{RunError, ShutdownError}};
    /// fn stop(mut running: Running<'_>, limit: Duration) -> Result<Report, RunError> {
    ///     match running.shutdown_timeout(limit) {
    ///         Ok(report) => Ok(report),
    ///         Err(ShutdownError::Failed(failed)) => Err(failed),
    ///         Err(ShutdownError::TimedOut { .. } | ShutdownError::AlreadyReported) => {
    ///             running.halt(); // events that are left are not handled
    ///             running.join()
    ///         }
    ///     }
    /// }
    /// # let (producer, consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// # assert!(stop(consumers.start()?, Duration::from_secs(60)).is_ok());
    /// # drop(producer);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`ShutdownError::TimedOut`] with what is left. Call again to wait on, or [`halt`](Self::halt) the ring. A
    ///   [drop](Self#dropping) does not wait after this error, unless [`set_drop_timeout`](Self::set_drop_timeout) is
    ///   called again. A handler of this ring gets it at once, since it cannot wait for itself.
    /// - [`ShutdownError::Failed`] with the report, as [`shutdown`](Self::shutdown).
    /// - [`ShutdownError::AlreadyReported`] if an earlier call has returned the report, as `Ok` or in `RunError`.
    ///
    /// # Blocking
    ///
    /// As [`shutdown`](Self::shutdown), for `timeout` at most; [`Duration::MAX`] is no limit. Leaving a
    /// [scope](std::thread::scope) with the error still waits for the stages, unless they are halted.
    pub fn shutdown_timeout(&mut self, timeout: Duration) -> Result<Report, ShutdownError> {
        self.close();
        if self.is_reported {
            return Err(ShutdownError::AlreadyReported);
        }
        // A handler of this ring would wait for itself.
        let is_own = self.threads.iter().any(Handle::is_own);
        if is_own || !self.wait_for_threads(timeout) {
            self.set_drop_timeout(Duration::ZERO);
            return Err(ShutdownError::TimedOut { backlog: self.backlog() });
        }
        Ok(self.finish()?)
    }

    /// Waits until the stages have ended, because the producers are gone or somebody closed or
    /// halted the ring.
    ///
    /// ```
    /// # use std::thread;
    /// # use lapwing::Disruptor;
    /// # let (mut producer, consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// let running = consumers.start()?;
    /// let feed = thread::spawn(move || producer.publish(|event| *event = 7)); // owns the producer
    /// let report = running.join()?; // ends when the feed has
    /// assert_eq!(report.stages().next().unwrap().processed(), 1);
    /// # feed.join().unwrap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`shutdown`](Self::shutdown).
    ///
    /// # Blocking
    ///
    /// As [`shutdown`](Self::shutdown), and for as long as there is a producer.
    pub fn join(mut self) -> Result<Report, RunError> {
        self.finish()
    }

    /// Waits for the threads and makes the report; after that, there is nothing left to report.
    fn finish(&mut self) -> Result<Report, RunError> {
        self.join_threads();
        if self.is_reported {
            return Err(RunError::already_reported());
        }
        self.is_reported = true;
        let stages = mem::take(&mut self.stages);
        let names = stages.iter().flat_map(|stage| &stage.consumers);
        let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
        Report::new(&names, self.completion.take()).into_result()
    }
}

/// Error of [`Running::shutdown_timeout`].
///
/// ```
/// use std::{sync::mpsc, time::Duration};
/// use lapwing::{Disruptor, lifecycle::ShutdownError};
///
/// let (go, gate) = mpsc::channel::<()>();
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("slow").read(move |_, _, _| { let _ = gate.recv(); }) // until `go` is dropped
///     .build()?;
/// let mut running = consumers.start()?;
/// producer.publish_batch(3, |_| {})?;
/// match running.shutdown_timeout(Duration::from_millis(1)) {
///     Err(ShutdownError::TimedOut { backlog }) => {
///         assert_eq!((backlog[0].stage.as_str(), backlog[0].events), ("slow", 3));
///         running.halt();
///         drop(go);
///         assert!(running.join().is_err()); // not drained
///     }
///     result => panic!("the stage cannot have ended: {result:?}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub enum ShutdownError {
    /// Stages were still at work. The ring is closed, and they go on.
    TimedOut {
        /// What each stage had left.
        backlog: Vec<Backlog>,
    },
    /// The stages ended, but not well.
    Failed(RunError),
    /// The stages have ended, and an earlier call has returned the report.
    AlreadyReported,
}

impl fmt::Display for ShutdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(failed) => failed.fmt(f),
            Self::AlreadyReported => f.write_str(ALREADY_REPORTED),
            Self::TimedOut { backlog } => {
                f.write_str("stages were still at work at the timeout:")?;
                for Backlog { stage, events } in backlog {
                    write!(f, " stage={stage:?} events={events}")?;
                }
                Ok(())
            }
        }
    }
}

impl Error for ShutdownError {}

impl From<RunError> for ShutdownError {
    fn from(failed: RunError) -> Self {
        Self::Failed(failed)
    }
}
