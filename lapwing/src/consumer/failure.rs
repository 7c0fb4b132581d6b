//! The policy of a stage for an event whose handler returned an error or panicked. Not here: how a
//! stage applies it (`recovery`), and the policy that repeats (`retries`).

use std::error::Error;
use std::fmt;

use super::action::Action;
use crate::Sequence;
use crate::unshared::Unshared;

/// A failed call of a handler, which the library passes to the stage's [policy](FailurePolicy).
///
/// If the event is skipped, downstream stages get the same failure in
/// [`on_failed_event`](crate::EventHandler::on_failed_event).
///
/// ```
/// use std::sync::mpsc;
/// use lapwing::{Action, Disruptor, Stage, consumer::Failure};
///
/// let (log, lines) = mpsc::channel();
/// let stage = Stage::new("risk").on_error(move |failure: &Failure<'_>| {
///     log.send(failure.to_string()).unwrap();
///     if failure.attempt() < 2 { Action::Retry(Default::default()) } else { Action::Skip }
/// });
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage(stage).read(|_, _, _| Err::<(), _>("no route"))
///     .build()?;
/// producer.publish(|event| *event = 7)?;
/// let report = consumers.start()?.shutdown()?;
/// assert_eq!(report.stages().next().unwrap().skipped(), 1);
/// assert_eq!(lines.recv()?, "no route: stage=\"risk\", sequence=0, attempt=1");
/// assert_eq!(lines.recv()?, "no route: stage=\"risk\", sequence=0, attempt=2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Failure<'a> {
    pub(super) stage: &'a str,
    pub(super) sequence: Sequence,
    pub(super) attempt: u32,
    pub(super) cause: Cause<'a>,
}

/// The error or the panic of a failed handler.
///
/// ```
/// use std::{io, time::Duration};
/// use lapwing::{Action, Disruptor, Stage, consumer::{Cause, Failure}};
///
/// /// Retries I/O errors, skips events with other errors, and halts after a panic.
/// fn decide(failure: &Failure<'_>) -> Action {
///     match failure.cause() {
///         Cause::Error(error) if error.is::<io::Error>() => Action::Retry(Duration::ZERO),
///         Cause::Error(_) => Action::Skip,
///         _ => Action::Halt,
///     }
/// }
///
/// let stage = Stage::new("send").on_error(decide).on_panic(decide);
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage(stage).read(|_, _, _| Err::<(), _>("no route")).build()?;
/// producer.publish(|event| *event = 7)?;
/// assert_eq!(consumers.start()?.shutdown()?.stages().next().unwrap().skipped(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Cause<'a> {
    /// The handler returned this error.
    Error(&'a (dyn Error + Send + Sync + 'static)),
    /// The handler, or the stage's wait strategy, panicked with this message. If the payload of the
    /// panic is not a string, the message is "a panic without a message".
    Panic(&'a str),
    /// The handler returned [`Action::Skip`] or [`Action::SkipAndStop`] itself, so there is no error.
    /// A policy never gets this cause; [downstream stages](crate::EventHandler::on_failed_event) do.
    Action,
}

impl<'a> Failure<'a> {
    /// The same failure, for the event `sequence`.
    pub(super) fn at(&self, sequence: Sequence) -> Self {
        Self { sequence, ..*self }
    }

    /// Returns the name of the stage.
    ///
    /// ```
    /// use lapwing::{Action, Disruptor, consumer::Failure};
    ///
    /// let policy = |failure: &Failure<'_>| {
    ///     if failure.stage() == "send" { Action::Skip } else { Action::Halt }
    /// };
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("send").on_error(policy).read(|_, _, _| Err::<(), _>("no route"))
    ///     .build()?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(consumers.start()?.shutdown()?.stages().next().unwrap().skipped(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn stage(&self) -> &'a str {
        self.stage
    }

    /// Returns the sequence of the failed event.
    ///
    /// If the handler gets a batch at a time, this is the sequence of the first event of the batch
    /// that is not [`Done`](crate::consumer::Done).
    /// If a method such as [`on_timeout`](crate::EventHandler::on_timeout) fails between two
    /// batches, it is the sequence of the next event. For a worker without events, that is the next
    /// one that no worker of its group has.
    ///
    /// For a downstream stage it is the event that the stage gets, or the first one of its batch.
    ///
    /// ```
    /// use lapwing::{Action, Disruptor, consumer::Failure};
    ///
    /// // Skips the first events, for example while a connection is being made.
    /// let policy = |failure: &Failure<'_>| {
    ///     if failure.sequence() < 3 { Action::Skip } else { Action::Halt }
    /// };
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("send").on_error(policy).read(|_, _, _| Err::<(), _>("no route"))
    ///     .build()?;
    /// producer.publish_batch(5, |_| {})?;
    /// let finished = consumers.into_iter().next().unwrap().run(); // event 3 halts the ring
    /// assert_eq!(finished.skipped(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        self.sequence
    }

    /// Returns how many times in a row the same event has failed: 1 for the first failure.
    ///
    /// After an [`Action::Rewind`] it counts how many times the same batch has failed. Errors and
    /// panics count alike. An action that the handler itself returned is not a failure, so a
    /// downstream stage gets 0 if the cause is [`Cause::Action`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Action, Disruptor, consumer::Failure};
    ///
    /// let policy = |failure: &Failure<'_>| {
    ///     if failure.attempt() < 3 { Action::Retry(Duration::ZERO) } else { Action::Skip }
    /// };
    /// let mut calls = 0;
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("send").on_error(policy).read(|_, _, _| { calls += 1; Err::<(), _>("no route") })
    ///     .build()?;
    /// producer.publish(|event| *event = 7)?;
    /// drop(producer);
    /// assert_eq!(consumers.into_iter().next().unwrap().run().skipped(), 1);
    /// assert_eq!(calls, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Returns the error, or the message of the panic.
    ///
    /// ```
    /// use lapwing::{Action, Disruptor, consumer::{Cause, Failure}};
    ///
    /// let policy = |failure: &Failure<'_>| match failure.cause() {
    ///     Cause::Panic(message) if message.starts_with("too high") => Action::Skip,
    ///     _ => Action::Halt,
    /// };
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("limit").on_panic(policy).read(|price, _, _| assert!(*price < 9, "too high"))
    ///     .build()?;
    /// producer.publish(|event| *event = 9)?;
    /// assert_eq!(consumers.start()?.shutdown()?.stages().next().unwrap().skipped(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn cause(&self) -> Cause<'a> {
        self.cause
    }
}

impl fmt::Display for Cause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => error.fmt(f),
            Self::Panic(message) => write!(f, "panic: {message}"),
            Self::Action => f.write_str("skipped by its handler"),
        }
    }
}

impl fmt::Display for Failure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stage, sequence, attempt, cause } = self;
        write!(f, "{cause}: stage={stage:?}, sequence={sequence}, attempt={attempt}")
    }
}

/// A policy that decides what a stage does after its handler has failed.
///
/// A policy is one of these:
///
/// - an [`Action`], if the decision is always the same;
/// - [`Retries`](crate::consumer::Retries), which repeats a number of times, with pauses;
/// - a closure that gets the [`Failure`] and returns an [`Action`]. It must be `Clone`, `Send` and
///   `'static`;
/// - a type of yours that implements [`decide`](Self::decide).
///
/// [`Stage::on_error`](crate::Stage::on_error) sets the policy for errors that a handler returns,
/// [`Stage::on_panic`](crate::Stage::on_panic) the policy for panics. Without a policy, the ring
/// halts.
///
/// A policy runs on the stage's thread. The ring halts if the policy panics, or if the `Display` or
/// the `Drop` of an error does. The error of a skipped event is [kept](crate::EventHandler::on_failed_event)
/// if there are stages downstream. A panic of its `Drop` is then ignored.
///
/// # Workers
///
/// The workers of a [group](crate::graph::WorkerStage) do not share a policy: `build` clones it for
/// each worker. The library holds no lock while a policy runs, so a policy that logs or sleeps
/// delays its own worker only. A counter in a policy therefore counts the failures of one worker.
/// To count those of the whole group, put the counter behind an `Arc`, as the second example does.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use lapwing::{Action, Disruptor, Stage, consumer::{Failure, Outcome, Retries}};
///
/// let _constant = Stage::new("a").on_error(Action::Skip);
/// let _retries = Stage::new("b").on_error(Retries::of_event().attempts(3));
/// let closure = Stage::new("c").on_error(|failure: &Failure<'_>| {
///     if failure.attempt() < 3 { Action::Retry(Duration::from_millis(1)) } else { Action::Stop }
/// });
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage(closure).read(|_, _, _| Err::<(), _>("no route"))
///     .build()?;
/// producer.publish(|event| *event = 7)?;
/// let finished = consumers.into_iter().next().unwrap().run();
/// let message = "no route".to_owned();
/// assert_eq!(*finished.outcome(), Outcome::Detached { message, sequence: 0 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A limit for all workers of a group:
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use lapwing::{Action, Disruptor, Stage, consumer::Failure};
///
/// let failures = Arc::new(AtomicU64::new(0)); // shared by the clones of the policy
/// let counter = Arc::clone(&failures);
/// let stage = Stage::new("send").on_error(move |_: &Failure<'_>| {
///     if counter.fetch_add(1, Ordering::Relaxed) < 100 { Action::Skip } else { Action::Halt }
/// });
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage(stage).workers(2).read(|_| |_, _, _| Err::<(), _>("no route"))
///     .build()?;
/// let running = consumers.start()?;
/// for price in [7, 8, 9] {
///     producer.publish(|event| *event = price)?;
/// }
/// running.shutdown()?;
/// assert_eq!(failures.load(Ordering::Relaxed), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait FailurePolicy: Clone + Send + 'static {
    /// Returns what the stage does after `failure`.
    ///
    /// ```
    /// use lapwing::{Action, Disruptor, consumer::{Failure, FailurePolicy}};
    ///
    /// /// Skips a number of events, then halts the ring.
    /// #[derive(Clone)]
    /// struct Budget(u64);
    ///
    /// impl FailurePolicy for Budget {
    ///     fn decide(&mut self, _: &Failure<'_>) -> Action {
    ///         if self.0 == 0 {
    ///             return Action::Halt;
    ///         }
    ///         self.0 -= 1;
    ///         Action::Skip
    ///     }
    /// }
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("send").on_error(Budget(2)).read(|_, _, _| Err::<(), _>("no route"))
    ///     .build()?;
    /// producer.publish_batch(3, |_| {})?;
    /// let finished = consumers.into_iter().next().unwrap().run(); // the third failure halts it
    /// assert_eq!(finished.skipped(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn decide(&mut self, failure: &Failure<'_>) -> Action;
}

impl FailurePolicy for Action {
    fn decide(&mut self, _: &Failure<'_>) -> Action {
        *self
    }
}

impl<F: FnMut(&Failure<'_>) -> Action + Clone + Send + 'static> FailurePolicy for F {
    fn decide(&mut self, failure: &Failure<'_>) -> Action {
        self(failure)
    }
}

/// A policy that a stage keeps until it starts.
pub(crate) type KeptPolicy = Unshared<Box<dyn AnyPolicy>>;

/// A [`FailurePolicy`] of any type, as a trait object.
pub(crate) trait AnyPolicy: Send {
    fn decide(&mut self, failure: &Failure<'_>) -> Action;
    fn boxed_clone(&self) -> Box<dyn AnyPolicy>;
}

impl<P: FailurePolicy> AnyPolicy for P {
    fn decide(&mut self, failure: &Failure<'_>) -> Action {
        FailurePolicy::decide(self, failure)
    }

    fn boxed_clone(&self) -> Box<dyn AnyPolicy> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn AnyPolicy> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}
