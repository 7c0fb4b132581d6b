//! Waiting until the consumers of a ring have stopped, and the result: the report, or the reason
//! why there is none.

use std::error::Error;
use std::fmt;
use std::mem;
use std::time::Duration;

use super::{Backlog, Handle, Running};
use crate::lifecycle::report::{ALREADY_REPORTED, Report, RunError};

impl Running<'_> {
    /// Closes the ring, waits until the stages have handled every accepted event, joins their
    /// threads, and returns the report.
    ///
    /// ```
    /// use lapwing::{Disruptor, consumer::Outcome};
    ///
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
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
    /// [`RunError`] with the report, in these cases:
    ///
    /// - A stage failed, panicked, or was detached by its failure policy. A stage that
    ///   [stopped](crate::Action::Stop) is not an error.
    /// - A stage ended because the ring was halted, before it had drained the ring. If all stages
    ///   had stopped by themselves before the halt, the call returns `Ok`, although events may remain.
    /// - A handler of this ring called `shutdown`. It cannot wait for itself, so the call halts the
    ///   ring. To stop from a handler, use [`close`](Self::close) or
    ///   [`Action::Halt`](crate::Action::Halt).
    /// - [`shutdown_timeout`](Self::shutdown_timeout) has already returned the report.
    ///   [`RunError::is_already_reported`] is then true, and the report of the error has no stages.
    ///
    /// # Blocking
    ///
    /// Waits until every stage that has a thread has handled every accepted event. Such a stage
    /// waits for the pollers and acknowledgers upstream of it, and for held claims of several
    /// producers. If this thread holds such a batch or claim, the call blocks until the ring is
    /// halted. A [halt](Self::halt) ends each stage after its current batch.
    ///
    /// The call does not wait for pollers that no such stage depends on, nor for consumers in
    /// [dynamic stages](crate::graph::DynamicStages), which drain the ring by themselves.
    /// [`close`](Self::close) does not wait at all.
    ///
    /// # After a fork
    ///
    /// A child process made by `fork` has a copy of the ring, but none of its threads. In the
    /// child, this call panics, since the standard library cannot join a thread that does not
    /// exist. Every wait for a stage blocks forever there. Use a ring only in the process that
    /// started it, and make the rings of a child after the fork. [`std::process::Command`] is not
    /// affected, since it executes another program.
    pub fn shutdown(self) -> Result<Report, RunError> {
        self.close();
        self.join()
    }

    /// Closes the ring, and waits for `timeout` at most until the stages have handled every
    /// accepted event. Then joins their threads and returns the report. `Running` has no stages
    /// after that.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// let mut running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// let report = running.shutdown_timeout(Duration::from_secs(60))?;
    /// assert_eq!(report.stages().next().unwrap().processed(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// To stop within a time limit, halt the ring when the limit has passed. Each stage then ends
    /// after its current batch:
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Disruptor, Report, Running, lifecycle::{RunError, ShutdownError}};
    ///
    /// fn stop(mut running: Running<'_>, limit: Duration) -> Result<Report, RunError> {
    ///     match running.shutdown_timeout(limit) {
    ///         Ok(report) => Ok(report),
    ///         Err(ShutdownError::Failed(failed)) => Err(failed),
    ///         Err(ShutdownError::TimedOut { .. } | ShutdownError::AlreadyReported) => {
    ///             running.halt(); // remaining events are not handled
    ///             running.join()
    ///         }
    ///     }
    /// }
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {});
    /// let (_producer, consumers) = ring.build()?;
    /// assert!(stop(consumers.start()?, Duration::from_secs(60)).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The ring is closed in each case.
    ///
    /// - [`ShutdownError::TimedOut`] with the backlog of each stage that has not ended. Call again
    ///   to wait longer, or [`halt`](Self::halt) the ring. After this error, a
    ///   [drop](Self#dropping) does not wait, unless
    ///   [`set_drop_timeout`](Self::set_drop_timeout) is called again. A handler of this ring gets
    ///   this error at once, since it cannot wait for itself.
    /// - [`ShutdownError::Failed`] with the report, if a stage failed, panicked, or was detached by
    ///   its failure policy, or if the ring was halted before it was drained.
    /// - [`ShutdownError::AlreadyReported`] if an earlier call has returned the report, as `Ok` or
    ///   in a `RunError`.
    ///
    /// # Blocking
    ///
    /// Waits like [`shutdown`](Self::shutdown) for stages, pollers, acknowledgers and claims, but
    /// for `timeout` at most. [`Duration::MAX`] is no limit, [`Duration::ZERO`] does not wait.
    /// After a timeout, a [scope](std::thread::scope) still waits for its stages. A halt ends them
    /// after their current batches.
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

    /// Waits until the stages have ended, joins their threads, and returns the report. Does not
    /// close the ring before that.
    ///
    /// The stages end once all producers are dropped, or once the ring is closed or halted. Each
    /// stage may also [stop](crate::Action::Stop) while the ring is open. When the call returns,
    /// the ring is closed, also for its pollers and for dynamic consumers.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// let running = consumers.start()?;
    /// // This thread owns the producer and drops it at the end.
    /// let feed = std::thread::spawn(move || producer.publish(|event| *event = 7));
    /// let report = running.join()?;
    /// assert_eq!(report.stages().next().unwrap().processed(), 1);
    /// feed.join().unwrap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError`] with the report, for the same reasons as [`shutdown`](Self::shutdown).
    ///
    /// # Blocking
    ///
    /// Waits until the ring is closed or halted, and then like [`shutdown`](Self::shutdown) for
    /// stages, pollers, acknowledgers and claims. Also returns once every stage has stopped.
    /// [`is_finished`](Self::is_finished) does not wait.
    pub fn join(mut self) -> Result<Report, RunError> {
        self.finish()
    }

    /// Waits for the threads and makes the report. After that, nothing is left to report.
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

/// The error of [`Running::shutdown_timeout`].
///
/// ```
/// use std::{sync::mpsc, time::Duration};
/// use lapwing::{Disruptor, lifecycle::ShutdownError};
///
/// let (go, gate) = mpsc::channel::<()>();
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("slow").read(move |_, _, _| _ = gate.recv()) // returns when `go` is dropped
///     .build()?;
/// let mut running = consumers.start()?;
/// producer.publish_batch(3, |_| {})?;
/// let error = running.shutdown_timeout(Duration::from_millis(1)).unwrap_err();
/// assert!(matches!(error, ShutdownError::TimedOut { backlog } if backlog[0].events == 3));
/// drop(go);
/// assert!(running.shutdown_timeout(Duration::MAX).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub enum ShutdownError {
    /// Stages had not ended at the time limit, or a handler of this ring made the call. The ring is
    /// closed, and the stages go on.
    TimedOut {
        /// The number of events that each of these stages had left.
        backlog: Vec<Backlog>,
    },
    /// The stages have ended, but one of them failed, panicked or was detached, or the ring was
    /// halted before it was drained.
    Failed(RunError),
    /// The stages have ended, and an earlier call has returned the report.
    AlreadyReported,
}

impl fmt::Debug for ShutdownError {
    /// Prints the text of `Display`, and for `{:#?}` also the report of a [`RunError`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(failed) => fmt::Debug::fmt(failed, f),
            Self::TimedOut { .. } | Self::AlreadyReported => fmt::Display::fmt(self, f),
        }
    }
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
