//! What the stages of a ring leave: how each one ended, and its handler.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;

use crate::consumer::{Outcome, StageReport};
use crate::error::TakeError;

pub(super) const ALREADY_REPORTED: &str = "the report of this ring was returned by an earlier call";

/// How the stages of a ring ended, and their handlers.
///
/// The report owns the handlers, and with them what they own. If a handler holds a producer of
/// another ring or a sender of a channel, that stays open until the report is dropped or the handler
/// is [taken](Self::take).
///
/// ```
/// use lapwing::{Disruptor, consumer::Outcome};
///
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("decode").read(|_, _, _| {})
///     .stage("sum").read(|_, _, _| {})
///     .build()?;
/// let running = consumers.start()?;
/// producer.publish(|event| *event = 7)?;
/// let report = running.shutdown()?;
/// for (stage, name) in report.stages().zip(["decode", "sum"]) {
///     assert_eq!((stage.name(), stage.processed()), (name, 1));
///     assert_eq!(*stage.outcome(), Outcome::Drained);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Report {
    /// Upstream stages first.
    stages: Vec<StageReport>,
}

impl Report {
    /// `names` gives the order. A stage without a result ended outside of every `catch_unwind`.
    pub(super) fn new(names: &[&str], stages: Vec<StageReport>) -> Self {
        let mut by_name: HashMap<String, StageReport> =
            stages.into_iter().map(|stage| (stage.name.clone(), stage)).collect();
        let take = |&name: &&str| by_name.remove(name).unwrap_or_else(|| StageReport::lost(name));
        Self { stages: names.iter().map(take).collect() }
    }

    pub(super) fn into_result(self) -> Result<Self, RunError> {
        // A program that stops a stage expects events to be left.
        let is_well =
            |stage: &StageReport| matches!(stage.outcome(), Outcome::Drained | Outcome::Stopped);
        if self.stages.iter().all(is_well) {
            Ok(self)
        } else {
            Err(RunError { report: self, is_already_reported: false })
        }
    }

    /// Returns the results of the stages that had a thread, upstream ones first. Each worker of a
    /// group has a result of its own, also one that was never active.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (_producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("sum").read(|_, _, _| {})
    ///     .stage("ticks").poller() // has no thread
    ///     .build()?;
    /// let _ticks = consumers.take_poller("ticks")?;
    /// let report = consumers.start()?.shutdown()?;
    /// assert_eq!(report.stages().map(|stage| stage.name()).collect::<Vec<_>>(), ["sum"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stages(&self) -> impl Iterator<Item = &StageReport> {
        self.stages.iter()
    }

    /// Takes the handler of the stage `name`, as given to
    /// [`read_handler`](crate::Stage::read_handler) or a similar verb. A worker has its own name,
    /// such as "price-0".
    ///
    /// ```
    /// use lapwing::{Disruptor, EventHandler, Sequence};
    ///
    /// struct Sum(u64);
    ///
    /// impl EventHandler<u64> for Sum {
    ///     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
    ///         self.0 += event;
    ///     }
    /// }
    ///
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(8, || 0).stage("sum").read_handler(Sum(0)).build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// let mut report = running.shutdown()?;
    /// let Sum(total) = report.take("sum")?;
    /// assert_eq!(total, 7);
    /// assert!(report.take::<Sum>("sum").is_err()); // already taken
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`TakeError::UnknownName`] if no stage of the report has this name. A poller is not part
    ///   of the report, and a worker group is listed by the names of its workers.
    /// - [`TakeError::WrongType`] if the handler is not an `H`, which then stays in the report.
    ///   Also if the stage returns no handler: it has a closure or a handler made on its thread, a
    ///   panic ended it and [dropped its handler](crate::EventHandler#panics-of-a-handler), or it
    ///   left no result.
    /// - [`TakeError::AlreadyTaken`] if an earlier call took it.
    pub fn take<H: 'static>(&mut self, name: &str) -> Result<H, TakeError> {
        match self.stages.iter().position(|stage| stage.name() == name) {
            Some(place) => self.stages[place].take_handler(),
            None => Err(TakeError::unknown_name(name, self.stages().map(StageReport::name))),
        }
    }
}

/// The error of a ring in which a stage failed, panicked, was detached by its failure policy, or
/// ended by a halt before it had drained the ring. Also the error of a second request for the
/// report.
///
/// ```
/// use lapwing::Disruptor;
///
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("limit").read(|event, _, _| assert!(*event < 9, "too high: {event}"))
///     .build()?;
/// producer.publish(|event| *event = 9)?;
/// let failed = consumers.start()?.shutdown().unwrap_err();
/// let text = "a stage panicked: stage=\"limit\", sequence=0, message=\"too high: 9\"";
/// assert_eq!(failed.to_string(), text);
/// assert_eq!(format!("{failed:?}"), text); // so a `main` that returns this error prints the text
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RunError {
    report: Report,
    /// Whether an earlier call has returned the report. This one is then empty.
    is_already_reported: bool,
}

impl RunError {
    pub(super) fn already_reported() -> Self {
        let report = Report { stages: Vec::new() };
        Self { report, is_already_reported: true }
    }

    /// Returns whether an earlier call of [`shutdown_timeout`](crate::Running::shutdown_timeout)
    /// has returned the report, as `Ok` or in an error. The report of this error then has no
    /// stages.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::Disruptor;
    ///
    /// let (_producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// let mut running = consumers.start()?;
    /// let report = running.shutdown_timeout(Duration::from_secs(60))?;
    /// assert_eq!(report.stages().count(), 1);
    /// let failed = running.join().unwrap_err(); // the report is returned only once
    /// assert!(failed.is_already_reported());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_already_reported(&self) -> bool {
        self.is_already_reported
    }

    /// Returns the report, which has the outcomes and the handlers of all stages that had a thread.
    ///
    /// The report has no stages if an earlier call has [returned it](Self::is_already_reported).
    ///
    /// ```
    /// use lapwing::{Disruptor, EventHandler, Sequence};
    ///
    /// struct Sum(u64);
    ///
    /// impl EventHandler<u64> for Sum {
    ///     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
    ///         self.0 += event;
    ///     }
    /// }
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0)
    ///     .stage("sum").read_handler(Sum(0))
    ///     .stage("panic").read(|_, _, _| panic!())
    ///     .build()?;
    /// producer.publish(|event| *event = 7)?;
    /// let failed = consumers.start()?.shutdown().unwrap_err(); // "panic" panicked, after "sum"
    /// let Sum(total) = failed.into_report().take("sum")?;
    /// assert_eq!(total, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn into_report(self) -> Report {
        self.report
    }

    /// Returns a reference to the report, which has the outcomes of all stages that had a thread.
    ///
    /// The report has no stages if an earlier call has [returned it](Self::is_already_reported).
    ///
    /// ```
    /// use lapwing::{Disruptor, consumer::Outcome};
    ///
    /// let (_producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// let running = consumers.start()?;
    /// running.halt();
    /// let failed = running.join().unwrap_err();
    /// assert_eq!(*failed.report().stages().next().unwrap().outcome(), Outcome::Halted);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }
}

impl fmt::Debug for RunError {
    /// Prints the text of `Display`, and for `{:#?}` also the report.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        if f.alternate() { write!(f, "\n{:#?}", self.report) } else { Ok(()) }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_already_reported {
            return f.write_str(ALREADY_REPORTED);
        }
        let mut failures = self.report.stages().filter_map(|stage| match stage.outcome() {
            Outcome::Panicked { message, sequence } => Some(("panicked", stage, message, sequence)),
            Outcome::Failed { message, sequence } | Outcome::Detached { message, sequence } => {
                Some(("failed", stage, message, sequence))
            }
            Outcome::Drained | Outcome::Halted | Outcome::Stopped => None,
        });
        match failures.next() {
            None => f.write_str("the ring was halted before every event was handled"),
            Some((how, stage, message, sequence)) => {
                let name = stage.name();
                write!(
                    f,
                    "a stage {how}: stage={name:?}, sequence={sequence}, message={message:?}"
                )?;
                match failures.count() {
                    0 => Ok(()),
                    more => write!(f, ", and {more} more"),
                }
            }
        }
    }
}

impl Error for RunError {}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::time::Duration;

    use crate::Disruptor;
    use crate::consumer::Action;
    use crate::lifecycle::ShutdownError;

    #[test]
    fn debug_prints_the_text_and_the_alternate_form_also_the_report() {
        let text = "a stage failed: stage=\"disk\", sequence=0, message=\"full\"";
        let run = || {
            let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
                .stage("disk")
                .read(|_, _, _| Err::<Action, _>("full"))
                .build()
                .unwrap();
            producer.publish(|_| {}).unwrap();
            consumers.start().unwrap()
        };
        let failed = run().shutdown().unwrap_err();
        assert_eq!(format!("{failed:?}"), text);
        let long = format!("{failed:#?}");
        assert!(long.starts_with(&format!("{text}\nReport {{")), "{long}");
        assert!(long.contains("outcome: Failed {"), "{long}");

        let mut running = run();
        let failed = running.shutdown_timeout(Duration::MAX).unwrap_err();
        assert_eq!(format!("{failed:?}"), text);
        assert_eq!(format!("{failed:#?}"), long);
        let again = ShutdownError::AlreadyReported;
        assert_eq!(format!("{again:?}"), again.to_string());
    }
}
