//! How a stage ended, and what it leaves.

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
    /// The ring was closed and the stage has finished every event.
    Drained,
    /// The ring was halted; events may be left.
    Halted,
    /// The stage stopped, by [its handler's wish](Action::Stop) or [somebody
    /// else's](crate::consumer::StopHandle), and has left the graph.
    Stopped,
    /// The handler failed, and by the stage's policy the stage has left the graph.
    Detached {
        /// Text of the error or of the panic.
        message: String,
        /// The event that it was at, as for [`Panicked`](Self::Panicked).
        sequence: Sequence,
    },
    /// The handler returned an error, which halted the ring.
    Failed {
        /// Text of the error.
        message: String,
        /// The event that it was at, as for [`Panicked`](Self::Panicked).
        sequence: Sequence,
    },
    /// The stage's code panicked, which halted the ring.
    Panicked {
        /// Text of the panic.
        message: String,
        /// The event that it was at; for a handler that gets batches, the first one of the batch;
        /// between batches, the next one.
        sequence: Sequence,
    },
}

impl Outcome {
    /// Whether the handler failed.
    pub(super) fn is_failure(&self) -> bool {
        matches!(self, Self::Detached { .. } | Self::Failed { .. } | Self::Panicked { .. })
    }

    /// The same for a consumer that has left, and with that has halted the ring if `is_last`.
    pub(super) fn after_leaving(self, is_last: bool) -> Self {
        if is_last && self == Self::Stopped { Self::Halted } else { self }
    }

    /// The same failure where it ends the stage and not the ring.
    pub(super) fn into_detached(self) -> Self {
        match self {
            Self::Failed { message, sequence } | Self::Panicked { message, sequence } => {
                Self::Detached { message, sequence }
            }
            other => other,
        }
    }
}

/// A stage that has ended.
///
/// ```
/// use lapwing::{Disruptor, consumer::Outcome};
///
/// let (producer, consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
/// drop(producer);
/// let finished = consumers.into_iter().next().unwrap().run();
/// assert_eq!((finished.name(), finished.processed()), ("sum", 0));
/// assert_eq!(*finished.outcome(), Outcome::Drained);
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
#[must_use = "it says whether the stage panicked"]
pub struct Finished {
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
    pub(crate) processed: u64,
    /// Of those, claims that were given up.
    pub(crate) given_up: u64,
    pub(crate) skipped: u64,
    pub(crate) handler: Handler,
}

/// The handler that was given to a stage.
pub(crate) enum Handler {
    Present(Unshared<Box<dyn Any + Send>>),
    Taken,
    /// None was given, or it was lost in a panic.
    Absent,
}

impl From<Option<Box<dyn Any + Send>>> for Handler {
    fn from(handler: Option<Box<dyn Any + Send>>) -> Self {
        handler.map_or(Self::Absent, |handler| Self::Present(Unshared::new(handler)))
    }
}

impl Finished {
    /// A stage whose thread ended without a word.
    pub(crate) fn lost(name: &str) -> Self {
        let message = "it has not ended, or its thread ended outside of its handler".to_owned();
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

    /// Name of the stage.
    ///
    /// ```
    /// # let (producer, consumers) = lapwing::Disruptor::single_producer(8, || 0_u64)
    /// #     .side_by_side(|side| side.stage("left").read(|_, _, _| {}).stage("right").read(|_, _, _| {}))
    /// #     .build()?;
    /// # drop(producer);
    /// let finished = consumers.into_iter().map(|consumer| consumer.run());
    /// let names: Vec<String> = finished.map(|stage| stage.name().to_owned()).collect();
    /// assert_eq!(names, ["left", "right"]);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it ended.
    ///
    /// ```
    /// # use lapwing::{Disruptor, consumer::Outcome};
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    /// #     .stage("left").read(|_, _, _| {}).stage("right").read(|_, _, _| {})
    /// #     .build()?;
    /// let mut consumers = consumers.into_iter();
    /// drop(consumers.next()); // its events would never be done, so the ring halts
    /// let finished = consumers.next().unwrap().run();
    /// assert_eq!(*finished.outcome(), Outcome::Halted);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Number of sequences that it has finished: its own sequence, in a ring that begins at 0. For a consumer that
    /// took a [seat](crate::graph::Seats), those from its first event on; for a worker, its share.
    ///
    /// Claims that were given up count as well, though no handler gets them. [`handled`](Self::handled) counts events
    /// only.
    ///
    /// ```
    /// # let (mut producer, consumers) =
    /// #     lapwing::Disruptor::multi_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// drop(producer.claim()?); // given up: counts as well
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

    /// Number of events that its handler was called for and that it has finished.
    ///
    /// - An event counts once, however often it was given again by [`Action::Retry`], [`Action::Rewind`] or
    ///   [`Action::Restart`].
    /// - An event that it left behind as failed counts, and [`skipped`](Self::skipped) says how many these are.
    /// - The event with which the stage stopped, failed or panicked does not count, nor does an event after it. A
    ///   handler that gets batches fails with its whole batch.
    /// - A claim that was given up does not count, since no handler gets it. A stage that has
    ///   [drained](Outcome::Drained) the ring has handled each event that was published to it.
    ///
    /// ```
    /// # use lapwing::{Action, Disruptor};
    /// let (mut producer, consumers) = Disruptor::multi_producer(8, || 0_u64)
    ///     .stage("risk")
    ///     .read(|price, _, _| if *price < 9 { Action::Continue } else { Action::Skip })
    ///     .build()?;
    /// for price in [7, 9, 8] {
    ///     producer.publish(|event| *event = price)?;
    ///     drop(producer.claim()?); // given up
    /// }
    /// # drop(producer);
    /// let finished = consumers.into_iter().next().unwrap().run();
    /// assert_eq!((finished.processed(), finished.handled(), finished.skipped()), (6, 3, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn handled(&self) -> u64 {
        self.processed - self.given_up
    }

    /// Number of events that it left behind as failed: [`Action::Skip`].
    ///
    /// ```
    /// # use lapwing::{Action, Disruptor};
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("risk")
    ///     .read(|price, _, _| if *price < 9 { Action::Continue } else { Action::Skip })
    ///     .build()?;
    /// for price in [7, 9, 8] {
    ///     producer.publish(|event| *event = price)?;
    /// }
    /// # drop(producer);
    /// let finished = consumers.into_iter().next().unwrap().run();
    /// assert_eq!((finished.processed(), finished.skipped()), (3, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Takes the handler that was given to the stage.
    ///
    /// ```
    /// use lapwing::error::TakeError;
    /// # use lapwing::{Disruptor, EventHandler, Sequence};
    /// # #[derive(Default)]
    /// # struct Sum(u64);
    /// # impl EventHandler<u64> for Sum {
    /// #     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
    /// #         self.0 += event;
    /// #     }
    /// # }
    /// # let (mut producer, consumers) =
    /// #     Disruptor::single_producer(8, || 0).stage("sum").read_handler(Sum::default()).build()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # drop(producer);
    ///
    /// let mut finished = consumers.into_iter().next().unwrap().run();
    /// let error = finished.take_handler::<String>().unwrap_err();
    /// let text = "a stage has nothing of this type: name=\"sum\", requested=alloc::string::String";
    /// assert_eq!(error.to_string(), text);
    /// let Sum(total) = finished.take_handler()?; // still there
    /// assert_eq!(total, 7);
    /// let again = finished.take_handler::<Sum>().err();
    /// assert_eq!(again, Some(TakeError::AlreadyTaken { name: "sum".into() }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`TakeError::WrongType`] if it is no `H`, or if the stage hands none back: a closure, or a handler made on
    ///   its thread.
    /// - [`TakeError::AlreadyTaken`] if it was taken before.
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

impl fmt::Debug for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finished")
            .field("name", &self.name)
            .field("outcome", &self.outcome)
            .field("processed", &self.processed)
            .field("handled", &self.handled())
            .field("skipped", &self.skipped)
            .finish_non_exhaustive()
    }
}
