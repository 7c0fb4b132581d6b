//! The failure policy that handles an event or a batch again, with growing pauses.

use std::time::Duration;

use super::action::Action;
use super::failure::{Failure, FailurePolicy};

/// After so many doublings, one nanosecond exceeds every `Duration`.
const MAX_DOUBLINGS: u32 = 94;

/// A policy that repeats a number of times, with growing pauses.
///
/// By default it repeats without a limit and without pauses:
///
/// - [`attempts`](Self::attempts) limits how often the event or the batch is handled.
/// - [`or`](Self::or) says what happens after the last attempt.
/// - [`pause`](Self::pause) sets the pause before the second attempt. Each later pause is twice as
///   long as the one before it, up to [`longest_pause`](Self::longest_pause).
///
/// ```
/// use std::time::Duration;
/// use lapwing::{Action, Disruptor, consumer::{Outcome, Retries}};
///
/// let policy = Retries::of_event()
///     .pause(Duration::from_micros(10)) // then 20 µs, 40 µs, ...
///     .longest_pause(Duration::from_millis(1))
///     .attempts(3)
///     .or(Action::Skip);
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("send").on_error(policy).read(|_, _, _| Err::<(), _>("no route"))
///     .build()?;
/// producer.publish(|event| *event = 7)?;
/// drop(producer);
/// let finished = consumers.into_iter().next().unwrap().run();
/// assert_eq!((finished.skipped(), finished.outcome()), (1, &Outcome::Drained));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[must_use = "a policy is given to `Stage::on_error` or `Stage::on_panic`"]
pub struct Retries {
    again: fn(Duration) -> Action,
    attempts: Option<u32>,
    pause: Duration,
    /// `None` for the default.
    longest_pause: Option<Duration>,
    give_up: Action,
}

impl Retries {
    /// Default of the [longest pause](Self::longest_pause): 1 s. A first pause that is longer
    /// replaces it.
    ///
    /// The stage handles nothing during a pause, so a long pause delays the ring even after the
    /// cause of the failure is gone. One attempt per second costs almost nothing.
    pub const LONGEST_PAUSE: Duration = Duration::from_secs(1);

    fn new(again: fn(Duration) -> Action) -> Self {
        let pause = Duration::ZERO;
        Self { again, attempts: None, pause, longest_pause: None, give_up: Action::Halt }
    }

    /// Creates a policy that handles the failed event again: [`Action::Retry`].
    ///
    /// The events before it in the batch are not handled again.
    ///
    /// ```
    /// use lapwing::{Action, Disruptor, consumer::Retries};
    ///
    /// let mut handled = Vec::new();
    /// let policy = Retries::of_event().attempts(3).or(Action::Skip);
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("send").on_error(policy)
    ///     .read(|_, sequence, _| {
    ///         handled.push(sequence);
    ///         if sequence == 1 { Err("no route") } else { Ok(()) }
    ///     })
    ///     .build()?;
    /// producer.publish_batch(3, |_| {})?;
    /// drop(producer); // closes the ring
    /// let finished = consumers.into_iter().next().unwrap().run();
    /// assert_eq!(finished.skipped(), 1); // event 1, at the third attempt
    /// assert_eq!(handled, [0, 1, 1, 1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_event() -> Self {
        Self::new(Action::Retry)
    }

    /// Creates a policy that handles the batch of the failed event again: [`Action::Rewind`].
    ///
    /// The stage begins again with the first event of the batch that is not released. Use it if a
    /// batch takes effect as a whole, for example as one transaction of a database.
    ///
    /// ```
    /// use lapwing::{Action, Disruptor, consumer::Retries};
    ///
    /// let mut handled = Vec::new();
    /// let policy = Retries::of_batch().attempts(2).or(Action::Skip);
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("send").on_error(policy)
    ///     .read(|_, sequence, _| {
    ///         handled.push(sequence);
    ///         if sequence == 1 { Err("no route") } else { Ok(()) }
    ///     })
    ///     .build()?;
    /// producer.publish_batch(2, |_| {})?;
    /// drop(producer); // closes the ring
    /// let finished = consumers.into_iter().next().unwrap().run();
    /// assert_eq!(finished.skipped(), 1); // event 1, at the second attempt
    /// assert_eq!(handled, [0, 1, 0, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_batch() -> Self {
        Self::new(Action::Rewind)
    }

    /// Creates a policy that calls [`on_restart`](crate::EventHandler::on_restart) and then handles
    /// the failed event again: [`Action::Restart`].
    ///
    /// ```
    /// use lapwing::{Disruptor, EventHandler, Sequence, consumer::{Retries, Shared}};
    ///
    /// struct Link { is_up: bool }
    ///
    /// impl EventHandler<u64, Shared, Result<(), &'static str>> for Link {
    ///     fn on_event(&mut self, _: &u64, _: Sequence, _: bool) -> Result<(), &'static str> {
    ///         if self.is_up { Ok(()) } else { Err("no route") }
    ///     }
    ///     fn on_restart(&mut self) { self.is_up = true; } // connects again
    /// }
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("send").on_error(Retries::with_restart()).read_handler(Link { is_up: false })
    ///     .build()?;
    /// producer.publish(|event| *event = 7)?;
    /// let report = consumers.start()?.shutdown()?;
    /// assert_eq!(report.stages().next().unwrap().handled(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_restart() -> Self {
        Self::new(Action::Restart)
    }

    /// Sets the number of attempts, including the first one. 0 counts as 1. By default there is no
    /// limit.
    ///
    /// ```
    /// use lapwing::{Action, Disruptor, consumer::Retries};
    ///
    /// let mut calls = 0;
    /// let policy = Retries::of_event().attempts(3).or(Action::Skip);
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("send").on_error(policy)
    ///     .read(|_, _, _| { calls += 1; Err::<(), _>("no route") })
    ///     .build()?;
    /// producer.publish(|event| *event = 7)?;
    /// drop(producer); // closes the ring
    /// let finished = consumers.into_iter().next().unwrap().run();
    /// assert_eq!((calls, finished.skipped()), (3, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = Some(attempts);
        self
    }

    /// Sets the pause before the second attempt. By default it is zero.
    ///
    /// Each later pause is twice as long as the one before it, up to
    /// [`longest_pause`](Self::longest_pause).
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use lapwing::{Action, Disruptor, consumer::Retries};
    ///
    /// let start = Instant::now();
    /// let pause = Duration::from_millis(1);
    /// let policy = Retries::of_event().pause(pause).attempts(3).or(Action::Skip);
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("send").on_error(policy)
    ///     .read(|_, _, _| Err::<(), _>("no route"))
    ///     .build()?;
    /// producer.publish(|event| *event = 7)?;
    /// drop(producer); // closes the ring
    /// let finished = consumers.into_iter().next().unwrap().run();
    /// assert_eq!(finished.skipped(), 1);
    /// assert!(start.elapsed() >= Duration::from_millis(3)); // pauses of 1 ms and 2 ms
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// Sets the longest pause. [`Duration::MAX`] is no limit.
    ///
    /// If it is at most [`pause`](Self::pause), all pauses have this length. By default it is 1 s
    /// ([`LONGEST_PAUSE`](Self::LONGEST_PAUSE)), or the first pause if that is longer.
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
    /// assert_eq!(finished.skipped(), 1); // without any limit, the last pause would be 2^98 µs
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn longest_pause(mut self, longest: Duration) -> Self {
        self.longest_pause = Some(longest);
        self
    }

    /// Sets what the stage does after the last attempt has failed. By default it halts the ring
    /// ([`Action::Halt`]).
    ///
    /// ```
    /// use lapwing::{Action, Disruptor, consumer::Retries};
    ///
    /// let policy = Retries::of_event().attempts(3).or(Action::Skip);
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("send").on_error(policy)
    ///     .read(|_, _, _| Err::<(), _>("no route"))
    ///     .build()?;
    /// producer.publish(|event| *event = 7)?;
    /// drop(producer); // closes the ring
    /// let finished = consumers.into_iter().next().unwrap().run();
    /// assert_eq!(finished.skipped(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
