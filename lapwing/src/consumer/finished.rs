//! The result of a stage that has ended: how it ended, its counts, and its handler.

use std::any::Any;
use std::fmt;
use std::mem;

#[cfg(doc)]
use super::action::Action;
use crate::Sequence;
use crate::error::TakeError;
use crate::unshared::Unshared;

/// How a stage ended.
///
/// ```
/// use lapwing::{Disruptor, consumer::Outcome};
///
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("limit").read(|event, _, _| assert!(*event < 9, "too high: {event}"))
///     .build()?;
/// for price in [7, 8, 9] {
///     producer.publish(|event| *event = price)?;
/// }
/// let finished = consumers.into_iter().next().unwrap().run();
/// let message = "too high: 9".to_owned();
/// assert_eq!(*finished.outcome(), Outcome::Panicked { message, sequence: 2 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The ring was closed, and the stage has finished every event. For a worker, its whole group
    /// has.
    Drained,
    /// The ring was halted, possibly by this handler with [`Action::Halt`]. Events may be left.
    /// This is also the outcome of the last worker of a group that stops, because that halts the
    /// ring.
    Halted,
    /// The stage stopped and has left the graph. Its handler returned [`Action::Stop`] or
    /// [`Action::SkipAndStop`], or a [`StopHandle`](crate::consumer::StopHandle) stopped it.
    Stopped,
    /// The handler failed, and its policy returned [`Action::Stop`] or [`Action::SkipAndStop`]. The
    /// stage has left the graph.
    Detached {
        /// Message of the error or of the panic.
        message: String,
        /// The failed event, with the same rules as in [`Panicked`](Self::Panicked).
        sequence: Sequence,
    },
    /// The handler returned an error, which halted the ring: its policy returned [`Action::Halt`],
    /// or there is no policy.
    Failed {
        /// Message of the error.
        message: String,
        /// The failed event, with the same rules as in [`Panicked`](Self::Panicked).
        sequence: Sequence,
    },
    /// The user code of the stage panicked, which halted the ring. This code is for example its
    /// handler, its policy, its wait strategy, or the key function of its group.
    Panicked {
        /// Message of the panic.
        message: String,
        /// The event that was being handled. For a handler that gets a batch at a time, it is the
        /// first event that is not [`Done`](crate::consumer::Done). Between batches, it is the next
        /// event. For a worker without events, that is the next one that no worker of its group
        /// has.
        sequence: Sequence,
    },
}

impl Outcome {
    /// Whether the handler failed.
    pub(super) fn is_failure(&self) -> bool {
        matches!(self, Self::Detached { .. } | Self::Failed { .. } | Self::Panicked { .. })
    }

    /// The outcome after a late `panic`, if there was one. The first failure counts.
    pub(super) fn or_panic(self, panic: Option<String>, sequence: Sequence) -> Self {
        match panic {
            Some(message) if !self.is_failure() => Self::Panicked { message, sequence },
            _ => self,
        }
    }

    /// The outcome after the consumer has left. With `is_last`, that has halted the ring.
    pub(super) fn after_leaving(self, is_last: bool) -> Self {
        if is_last && self == Self::Stopped { Self::Halted } else { self }
    }

    /// The outcome of the same failure if it ends the stage and not the ring.
    pub(super) fn into_detached(self) -> Self {
        match self {
            Self::Failed { message, sequence } | Self::Panicked { message, sequence } => {
                Self::Detached { message, sequence }
            }
            other => other,
        }
    }
}

/// The result of a stage, or of a worker, that has ended: its outcome, its counts and its handler.
///
/// [`Report::stages`](crate::Report::stages) lists the results of a ring. If the program runs a
/// stage itself, [`Consumer::run`](crate::consumer::Consumer::run) returns the result.
///
/// ```
/// use lapwing::{Disruptor, consumer::{StageReport, Outcome}};
///
/// let (mut producer, consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
/// let running = consumers.start()?;
/// producer.publish(|event| *event = 7)?;
/// let report = running.shutdown()?;
/// let finished: &StageReport = report.stages().next().unwrap();
/// assert_eq!((finished.name(), finished.processed()), ("sum", 1));
/// assert_eq!(*finished.outcome(), Outcome::Drained);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "it says whether the stage panicked"]
pub struct StageReport {
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
    pub(crate) processed: u64,
    /// Number of given-up claims among the processed sequences.
    pub(crate) given_up: u64,
    pub(crate) skipped: u64,
    pub(crate) handler: Handler,
}

/// The handler of a stage that has ended.
pub(crate) enum Handler {
    Present(Unshared<Box<dyn Any + Send>>),
    Taken,
    /// The stage has no handler to return, or a panic has ended it.
    Absent,
}

impl From<Option<Box<dyn Any + Send>>> for Handler {
    fn from(handler: Option<Box<dyn Any + Send>>) -> Self {
        handler.map_or(Self::Absent, |handler| Self::Present(Unshared::new(handler)))
    }
}

impl StageReport {
    /// The result of a stage whose thread has delivered none.
    pub(crate) fn lost(name: &str) -> Self {
        let message = "the stage has not ended, or its thread ended outside its handler".to_owned();
        let outcome = Outcome::Panicked { message, sequence: 0 };
        let (processed, given_up, skipped) = (0, 0, 0);
        Self {
            name: name.to_owned(),
            outcome,
            processed,
            given_up,
            skipped,
            handler: Handler::Absent,
        }
    }

    /// Returns the name of the stage, or of the worker: "send-0" for the first one of "send".
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// drop(producer);
    /// let finished = consumers.into_iter().next().unwrap().run();
    /// assert_eq!(finished.name(), "sum");
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns how the stage ended.
    ///
    /// ```
    /// use lapwing::{Disruptor, consumer::Outcome};
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("left").read(|_, _, _| {}).stage("right").read(|_, _, _| {})
    ///     .build()?;
    /// let mut consumers = consumers.into_iter();
    /// drop(consumers.next()); // a stage that is dropped halts the ring
    /// let finished = consumers.next().unwrap().run();
    /// assert_eq!(*finished.outcome(), Outcome::Halted);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Returns the number of sequences that the stage has finished.
    ///
    /// - In a ring that begins at 0, it is the stage's own sequence.
    /// - For a consumer that took a [dynamic stage](crate::graph::DynamicStages), it counts from
    ///   its first event on.
    /// - For a worker, it counts the worker's share.
    ///
    /// The sequences of a claim that was given up count, although no handler gets them.
    /// [`handled`](Self::handled) counts events only.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, consumers) =
    ///     Disruptor::multi_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// drop(producer.claim()?); // given up
    /// producer.publish(|event| *event = 7)?;
    /// drop(producer);
    /// let finished = consumers.into_iter().next().unwrap().run();
    /// assert_eq!((finished.processed(), finished.handled()), (2, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn processed(&self) -> u64 {
        self.processed
    }

    /// Returns the number of events that the handler was called for and that the stage has
    /// finished.
    ///
    /// - An event counts once, however often [`Action::Retry`], [`Action::Rewind`] or
    ///   [`Action::Restart`] repeats it.
    /// - A skipped event counts. [`skipped`](Self::skipped) says how many events were skipped.
    /// - The event at which the stage stopped, failed or panicked does not count, nor does a later
    ///   one. If a handler gets a batch at a time, its whole batch does not count, except for the
    ///   events that it has reported as [`Done`](crate::consumer::Done).
    /// - A claim that was given up does not count, since no handler gets it.
    ///
    /// A stage that has [drained](Outcome::Drained) the ring has handled every published event. In
    /// a [dynamic stage](crate::graph::DynamicStages), these are the events from its first one on.
    /// For workers, this is true of the group as a whole.
    ///
    /// ```
    /// use lapwing::{Action, Disruptor};
    ///
    /// let (mut producer, consumers) = Disruptor::multi_producer(8, || 0_u64)
    ///     .stage("risk")
    ///     .read(|price, _, _| if *price < 9 { Action::Continue } else { Action::Skip })
    ///     .build()?;
    /// for price in [7, 9, 8] {
    ///     producer.publish(|event| *event = price)?;
    ///     drop(producer.claim()?); // given up
    /// }
    /// drop(producer);
    /// let finished = consumers.into_iter().next().unwrap().run();
    /// assert_eq!((finished.processed(), finished.handled(), finished.skipped()), (6, 3, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn handled(&self) -> u64 {
        self.processed - self.given_up
    }

    /// Returns the number of events that the stage has skipped as failed: [`Action::Skip`] and
    /// [`Action::SkipAndStop`].
    ///
    /// ```
    /// use lapwing::{Action, Disruptor};
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("risk")
    ///     .read(|price, _, _| if *price < 9 { Action::Continue } else { Action::Skip })
    ///     .build()?;
    /// for price in [7, 9, 8] {
    ///     producer.publish(|event| *event = price)?;
    /// }
    /// drop(producer);
    /// let finished = consumers.into_iter().next().unwrap().run();
    /// assert_eq!((finished.processed(), finished.skipped()), (3, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Takes the handler out of the result.
    ///
    /// A closure cannot be taken, nor can a handler that was made on the thread of its stage. After
    /// an error, the handler is returned as the failure left it. After a panic that ended the
    /// stage, there is [none](crate::EventHandler#panics-of-a-handler).
    ///
    /// ```
    /// use lapwing::{Disruptor, EventHandler, Sequence, error::TakeError};
    ///
    /// struct Sum(u64);
    ///
    /// impl EventHandler<u64> for Sum {
    ///     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) { self.0 += event; }
    /// }
    ///
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(8, || 0).stage("sum").read_handler(Sum(0)).build()?;
    /// producer.publish(|event| *event = 7)?;
    /// drop(producer);
    /// let mut finished = consumers.into_iter().next().unwrap().run();
    /// let Sum(total) = finished.take_handler()?;
    /// assert_eq!(total, 7);
    /// let again = finished.take_handler::<Sum>().err();
    /// assert_eq!(again, Some(TakeError::AlreadyTaken { name: "sum".into() }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`TakeError::WrongType`] if the handler is not an `H`, or if the stage returns no handler.
    ///   A handler of another type stays in the result.
    /// - [`TakeError::AlreadyTaken`] if the handler was taken before.
    pub fn take_handler<H: 'static>(&mut self) -> Result<H, TakeError> {
        self.handler = match mem::replace(&mut self.handler, Handler::Taken) {
            Handler::Taken => return Err(TakeError::already_taken(&self.name)),
            Handler::Absent => Handler::Absent,
            Handler::Present(handler) => match handler.into_inner().downcast::<H>() {
                Ok(handler) => return Ok(*handler),
                Err(other) => Handler::Present(Unshared::new(other)),
            },
        };
        Err(TakeError::wrong_type::<H>(&self.name))
    }
}

impl fmt::Debug for StageReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StageReport")
            .field("name", &self.name)
            .field("outcome", &self.outcome)
            .field("processed", &self.processed)
            .field("handled", &self.handled())
            .field("skipped", &self.skipped)
            .finish_non_exhaustive()
    }
}
