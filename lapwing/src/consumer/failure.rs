//! What becomes of an event whose handler returned an error or panicked: the policy of its stage.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use super::action::Action;
use crate::Sequence;
use crate::unshared::Unshared;

/// After so many, one nanosecond is longer than any `Duration`.
const MAX_DOUBLINGS: u32 = 94;

/// A handler that failed, as its stage's [policy](FailurePolicy) sees it.
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
///     .stage(stage).read(|event, _, _| if *event < 9 { Ok(()) } else { Err("over the limit") })
///     .build()?;
/// let running = consumers.start()?;
/// for price in [7, 9, 8] {
///     producer.publish(|event| *event = price)?;
/// }
/// let report = running.shutdown()?; // the stage survived
/// assert_eq!(report.stages().next().unwrap().skipped(), 1);
/// assert!(lines.recv()?.ends_with("stage=\"risk\", sequence=1, attempt=1"));
/// assert_eq!(lines.recv()?, "over the limit: stage=\"risk\", sequence=1, attempt=2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Failure<'a> {
    pub(super) stage: &'a str,
    pub(super) sequence: Sequence,
    pub(super) attempt: u32,
    pub(super) cause: Cause<'a>,
}

/// How a handler failed.
///
/// ```
/// use lapwing::{Action, consumer::{Cause, Failure}};
///
/// /// Broken pipes are worth another try, bugs are not.
/// fn decide(failure: &Failure<'_>) -> Action {
///     match failure.cause() {
///         Cause::Error(error) if error.is::<std::io::Error>() => Action::Retry(Default::default()),
///         Cause::Error(_) => Action::Skip,
///         _ => Action::Halt,
///     }
/// }
/// let _stage = lapwing::Stage::new("send").on_error(decide).on_panic(decide);
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Cause<'a> {
    /// It returned this error.
    Error(&'a (dyn Error + Send + Sync + 'static)),
    /// It panicked with this text.
    Panic(&'a str),
}

impl<'a> Failure<'a> {
    /// Name of the stage.
    #[must_use]
    pub fn stage(&self) -> &'a str {
        self.stage
    }

    /// The event that failed; for a handler that gets batches, the first one of the batch; for a call
    /// between batches, the next event.
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        self.sequence
    }

    /// How many times in a row the same event, or with [`Action::Rewind`] the same batch, has failed:
    /// 1 for the first.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The error, or the text of the panic.
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
        }
    }
}

impl fmt::Display for Failure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stage, sequence, attempt, cause } = self;
        write!(f, "{cause}: stage={stage:?}, sequence={sequence}, attempt={attempt}")
    }
}

/// Decides what a stage does about a failure: an [`Action`] that is always the same, a closure, or
/// [`Retries`].
///
/// Runs on the stage's thread. A panic of the policy itself halts the ring, and so does one of the
/// error's own code, to show or to drop it.
///
/// The workers of a [group](crate::graph::Workers) do not share a policy: `build` clones it once for each of
/// them. The library holds no lock while a policy runs, so one that logs or sleeps delays its own
/// worker only. What a policy counts in its own fields is counted for each worker; a limit for the
/// whole group is kept behind an `Arc`.
///
/// ```
/// use std::time::Duration;
/// use lapwing::{Action, Stage, consumer::{Failure, Retries}};
///
/// let _always = Stage::new("a").on_error(Action::Skip);
/// let _asked = Stage::new("b").on_error(|failure: &Failure<'_>| {
///     if failure.attempt() < 3 { Action::Retry(Duration::from_millis(1)) } else { Action::Halt }
/// });
/// let _named = Stage::new("c").on_error(Retries::of_event().attempts(3));
/// ```
///
/// A limit that all workers of a group share:
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use lapwing::{Action, Disruptor, Stage, consumer::Failure};
///
/// let failures = Arc::new(AtomicU64::new(0)); // each worker's clone has the same counter
/// let seen = Arc::clone(&failures);
/// let stage = Stage::new("send").on_error(move |_: &Failure<'_>| {
///     if failures.fetch_add(1, Ordering::Relaxed) < 100 { Action::Skip } else { Action::Halt }
/// });
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage(stage)
///     .workers(2)
///     .read(|_| |event, _, _| if *event < 9 { Ok(()) } else { Err("no route") })
///     .build()?;
/// let running = consumers.start()?;
/// for number in 0..12 {
///     producer.publish(|event| *event = number)?;
/// }
/// running.shutdown()?;
/// assert_eq!(seen.load(Ordering::Relaxed), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait FailurePolicy: Clone + Send + 'static {
    /// What to do.
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

/// A policy that a stage keeps until it begins.
pub(crate) type KeptPolicy = Unshared<Box<dyn AnyPolicy>>;

/// A [`FailurePolicy`] of any type, called through a pointer.
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

/// Tries again, with pauses that may grow up to [a limit](Self::longest_pause), and gives up after a number of attempts.
///
/// ```
/// use std::time::Duration;
/// use lapwing::{Action, Disruptor, consumer::Retries};
///
/// let policy = Retries::of_event()
///     .pause(Duration::from_micros(10)) // doubled with each attempt
///     .longest_pause(Duration::from_millis(1))
///     .attempts(3)
///     .or(Action::Skip);
/// let mut tries = 0;
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("send").on_error(policy).read(|_, _, _| {
///         tries += 1;
///         Err::<(), _>("no route")
///     })
///     .build()?;
/// producer.publish(|event| *event = 7)?;
/// drop(producer);
/// let finished = consumers.into_iter().next().unwrap().run();
/// assert_eq!(finished.skipped(), 1);
/// # drop(finished);
/// assert_eq!(tries, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[must_use = "a policy is given to `Stage::on_error` or `Stage::on_panic`"]
pub struct Retries {
    again: fn(Duration) -> Action,
    attempts: Option<u32>,
    pause: Duration,
    /// None for the default.
    longest_pause: Option<Duration>,
    give_up: Action,
}

impl Retries {
    /// Longest pause, unless [`longest_pause`](Self::longest_pause) says otherwise or the first one is longer: 1 s.
    ///
    /// The stage handles nothing in a pause, so a long one holds up the ring after its cause is gone. An attempt a second
    /// costs next to nothing.
    pub const LONGEST_PAUSE: Duration = Duration::from_secs(1);

    fn new(again: fn(Duration) -> Action) -> Self {
        let pause = Duration::ZERO;
        Self { again, attempts: None, pause, longest_pause: None, give_up: Action::Halt }
    }

    /// The failed event again: [`Action::Retry`]. Without a limit and without pauses.
    pub fn of_event() -> Self {
        Self::new(Action::Retry)
    }

    /// The batch again: [`Action::Rewind`]. Without a limit and without pauses.
    pub fn of_batch() -> Self {
        Self::new(Action::Rewind)
    }

    /// The failed event again with the handler put in order before: [`Action::Restart`]. Without a
    /// limit and without pauses.
    pub fn with_restart() -> Self {
        Self::new(Action::Restart)
    }

    /// Gives up after this many attempts, the first one included; 0 is as 1.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = Some(attempts);
        self
    }

    /// Pause before the second attempt. Each later one is twice as long, up to
    /// [`longest_pause`](Self::longest_pause), which is 1 s by default.
    pub fn pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// Longest pause. Equal to [`pause`](Self::pause), every pause is the same; [`Duration::MAX`] is no limit. By
    /// default it is [`LONGEST_PAUSE`](Self::LONGEST_PAUSE), or the first pause if that is longer.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::{Action, Disruptor, consumer::Retries};
    ///
    /// let policy = Retries::of_event()
    ///     .pause(Duration::from_micros(1))
    ///     .longest_pause(Duration::from_micros(4)) // pauses of 1, 2, 4, 4, 4, ... µs
    ///     .attempts(100)
    ///     .or(Action::Skip);
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("send").on_error(policy).read(|_, _, _| Err::<(), _>("no route"))
    ///     .build()?;
    /// producer.publish(|event| *event = 7)?;
    /// drop(producer);
    /// let finished = consumers.into_iter().next().unwrap().run();
    /// assert_eq!(finished.skipped(), 1); // doubled 98 times, a pause would have no end
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn longest_pause(mut self, longest: Duration) -> Self {
        self.longest_pause = Some(longest);
        self
    }

    /// What to do when it gives up; [`Action::Halt`] if not said.
    pub fn or(mut self, action: Action) -> Self {
        self.give_up = action;
        self
    }
}

impl FailurePolicy for Retries {
    fn decide(&mut self, failure: &Failure<'_>) -> Action {
        if self.attempts.is_some_and(|attempts| failure.attempt >= attempts) {
            return self.give_up;
        }
        let doublings = (failure.attempt - 1).min(MAX_DOUBLINGS);
        let pause = (0..doublings).fold(self.pause, |pause, _| pause.saturating_add(pause));
        let longest = self.longest_pause.unwrap_or(Self::LONGEST_PAUSE.max(self.pause));
        (self.again)(pause.min(longest))
    }
}
