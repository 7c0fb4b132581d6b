//! What a handler returns for an event: that it is done, or what the stage does instead.

use std::error::Error;
use std::time::Duration;

/// What a stage does after its handler was called for an event.
///
/// A handler returns an action. After an error or a panic, the
/// [failure policy](crate::consumer::FailurePolicy) of the stage returns one.
///
/// For a handler that gets a batch at a time, "the event" below is the whole batch. It is the rest
/// of the batch if the handler has said that a part is [`Done`](crate::consumer::Done). A batch
/// that is handled again may have more events at its end than before.
///
/// A pause ends early if the ring halts or the stage is [stopped](crate::consumer::StopHandle). The
/// stage then ends without handling the event again.
///
/// ```
/// use std::time::Duration;
/// use lapwing::{Action, Disruptor, consumer::Outcome};
///
/// let mut attempts = 0;
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("send").read(move |_, _, _| {
///         attempts += 1;
///         if attempts < 3 { Action::Retry(Duration::ZERO) } else { Action::Stop }
///     })
///     .build()?;
/// producer.publish(|event| *event = 7)?;
/// let finished = consumers.into_iter().next().unwrap().run();
/// assert_eq!(*finished.outcome(), Outcome::Stopped); // at the third attempt
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Action {
    /// The event is done. After a failure, it is also released at once, with the events before it.
    #[default]
    Continue,
    /// The event is done, and the stage releases it at once, with the events before it.
    ///
    /// The rest of the batch becomes a batch of its own.
    ReleaseNow,
    /// The event has failed, and the stage continues with the next one.
    ///
    /// The stage releases the event at once, with the events before it. Downstream stages do not
    /// act on the event unless they ask for it:
    ///
    /// | downstream stage | what it gets |
    /// |---|---|
    /// | a closure, per event or per batch | nothing |
    /// | an [`EventHandler`](crate::EventHandler) | a call of [`on_failed_event`](crate::EventHandler::on_failed_event), which does nothing by default |
    /// | a [`BatchHandler`](crate::consumer::BatchHandler) | a call of [`on_failed_batch`](crate::consumer::BatchHandler::on_failed_batch), which does nothing by default |
    /// | workers | the same as a stage with such a closure or handler |
    /// | a closure or a handler with the setting [`with_failed_events`](crate::Stage::with_failed_events) | the same call as for any other event |
    /// | a [`Poller`](crate::Poller) | the event in its batch; [`Batch::is_failed`](crate::consumer::Batch::is_failed) tells |
    ///
    /// Stages that run beside this one, and consumers in [dynamic
    /// stages](crate::graph::DynamicStages) that do not depend on it, get the event like any other.
    ///
    /// ```
    /// use lapwing::{Action, Disruptor};
    ///
    /// let (mut sent, mut seen) = (0, 0);
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("risk")
    ///     .read(|price, _, _| if *price < 9 { Action::Continue } else { Action::Skip })
    ///     .stage("send").read(|_, _, _| sent += 1)
    ///     .stage("count").with_failed_events().read(|_, _, _| seen += 1)
    ///     .build()?;
    /// for price in [7, 9, 8] {
    ///     producer.publish(|event| *event = price)?;
    /// }
    /// drop(producer); // closes the ring
    /// consumers.into_iter().for_each(|stage| drop(stage.run()));
    /// assert_eq!((sent, seen), (2, 3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    Skip,
    /// The stage handles the event again, after a pause of this duration.
    ///
    /// It releases the events before this one first.
    Retry(Duration),
    /// The stage handles the batch again, after a pause of this duration.
    ///
    /// It begins with the first event of the batch that is not released. A handler with `&mut E`
    /// finds in these events what it wrote before.
    Rewind(Duration),
    /// The stage calls [`on_restart`](crate::EventHandler::on_restart) after a pause of this
    /// duration, and then handles the event again.
    ///
    /// It releases the events before this one first.
    Restart(Duration),
    /// The stage releases the events before this one, leaves the graph, and ends.
    ///
    /// This event and all later ones do not count as handled by it. If it is a worker, the other
    /// workers of its [group](crate::graph::WorkerStage) handle them. Otherwise, downstream stages
    /// then depend on the stages that this one depended on. The ring halts if this was the last
    /// consumer, or the last worker of its group.
    ///
    /// **An event that no worker can handle stops all of them.** The worker that stops leaves it to
    /// the next one, which stops in turn, and the last one halts the ring. If the event itself may
    /// be the cause, return [`SkipAndStop`](Self::SkipAndStop), which loses the event with the
    /// worker, or [`Skip`](Self::Skip), which loses the event only.
    Stop,
    /// The event has failed, and the stage leaves the graph and ends.
    ///
    /// The stage skips the event as [`Skip`](Self::Skip) does, and then leaves as
    /// [`Stop`](Self::Stop) does. So a worker takes this event with it, and the other workers of
    /// its group handle only the later ones. After a panic between two batches, it skips no event.
    ///
    /// ```
    /// use lapwing::{Action, Disruptor};
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("send").on_panic(Action::SkipAndStop).workers(2)
    ///     .read(|_| |price: &u64, _, _| assert_ne!(*price, 9, "no such price"))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// for price in [7, 9, 8] {
    ///     producer.publish(|event| *event = price)?;
    /// }
    /// let report = running.shutdown().unwrap_err().into_report(); // one worker has panicked
    /// let sum = |count: fn(&lapwing::consumer::StageReport) -> u64| report.stages().map(count).sum();
    /// let (handled, skipped): (u64, u64) = (sum(|one| one.handled()), sum(|one| one.skipped()));
    /// assert_eq!((handled, skipped), (3, 1)); // a skipped event counts as handled
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    SkipAndStop,
    /// The stage releases the events before this one, halts the ring, and ends.
    ///
    /// This event and all later ones do not count as handled by it. The other stages stop after
    /// their current batch. The cause of the halt is
    /// [`Requested`](crate::error::HaltCause::Requested), or
    /// [`StageFailed`](crate::error::HaltCause::StageFailed) if a policy returned the action.
    Halt,
}

/// A type that a handler may return: `()`, [`Action`], or a `Result` of either. A closure may also
/// never return (`!`).
///
/// The error of a `Result` becomes a [`Failure`](crate::consumer::Failure), and the stage's
/// [error policy](crate::Stage::on_error) decides about it. The error must convert
/// into `Box<dyn Error + Send + Sync>`.
///
/// Sealed: the library relies on constants and methods that agree with each other.
///
/// ```
/// use std::num::ParseIntError;
/// use lapwing::{Disruptor, EventHandler, Sequence, consumer::{Outcome, Shared}};
///
/// struct Parse(Vec<u64>);
///
/// impl EventHandler<String, Shared, Result<(), ParseIntError>> for Parse {
///     fn on_event(&mut self, line: &String, _: Sequence, _: bool) -> Result<(), ParseIntError> {
///         self.0.push(line.parse()?);
///         Ok(())
///     }
/// }
///
/// let ring = Disruptor::single_producer(8, String::new);
/// let (mut producer, consumers) = ring.stage("parse").read_handler(Parse(vec![])).build()?;
/// producer.publish(|line| line.push_str("12a"))?;
/// let finished = consumers.into_iter().next().unwrap().run(); // the error halts the ring
/// let message = "invalid digit found in string".to_owned();
/// assert_eq!(*finished.outcome(), Outcome::Failed { message, sequence: 0 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a handler returns `()`, `Action`, or a `Result` of these, not `{Self}`",
    note = "the error of a `Result` must convert into `Box<dyn Error + Send + Sync>`"
)]
pub trait IntoAction: sealed::IntoAction + Sized {
    /// Whether every value means [`Action::Continue`]. Then a stage without a [panic
    /// policy](crate::Stage::on_panic) reserves no memory for the marks of skipped events.
    const ALWAYS_CONTINUES: bool = false;

    /// Whether a value may be an error. If not, the stage has no use for an
    /// [error policy](crate::Stage::on_error). If there is one, `build` returns
    /// [`UnusedSetting`](crate::error::BuildError::UnusedSetting).
    const MAY_BE_ERROR: bool = false;

    /// Returns whether the event is done: [`Action::Continue`] or [`Action::ReleaseNow`].
    ///
    /// The next of [several handlers](crate::EventHandler#several-handlers-in-one-stage) gets only
    /// events that are done.
    ///
    /// ```
    /// use lapwing::{Action, consumer::IntoAction};
    ///
    /// assert!(().is_done() && Ok::<_, String>(Action::ReleaseNow).is_done());
    /// assert!(!Action::Skip.is_done() && !Err::<(), _>("no route").is_done());
    /// ```
    fn is_done(&self) -> bool;

    /// Returns whether this value means [`Action::Continue`].
    ///
    /// ```
    /// use lapwing::{Action, consumer::IntoAction};
    ///
    /// assert!(().continues() && Ok::<_, String>(Action::Continue).continues());
    /// assert!(!Action::ReleaseNow.continues() && !Err::<(), _>("no route").continues());
    /// ```
    fn continues(&self) -> bool;

    /// Converts the value into an action.
    ///
    /// ```
    /// use lapwing::{Action, consumer::IntoAction};
    ///
    /// assert_eq!(().into_action().unwrap(), Action::Continue);
    /// assert_eq!(Ok::<_, String>(Action::Stop).into_action().unwrap(), Action::Stop);
    /// assert_eq!(Err::<(), _>("no route").into_action().unwrap_err().to_string(), "no route");
    /// ```
    ///
    /// # Errors
    ///
    /// The error that the handler returned.
    fn into_action(self) -> Result<Action, BoxError>;
}

/// An error that can be sent to another thread.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

impl IntoAction for () {
    const ALWAYS_CONTINUES: bool = true;

    #[inline]
    fn is_done(&self) -> bool {
        true
    }

    #[inline]
    fn continues(&self) -> bool {
        true
    }

    #[inline]
    fn into_action(self) -> Result<Action, BoxError> {
        Ok(Action::Continue)
    }
}

impl IntoAction for Action {
    #[inline]
    fn is_done(&self) -> bool {
        matches!(self, Self::Continue | Self::ReleaseNow)
    }

    #[inline]
    fn continues(&self) -> bool {
        *self == Self::Continue
    }

    #[inline]
    fn into_action(self) -> Result<Action, BoxError> {
        Ok(self)
    }
}

impl<T: IntoAction, X: Into<BoxError>> IntoAction for Result<T, X> {
    const MAY_BE_ERROR: bool = true;

    #[inline]
    fn is_done(&self) -> bool {
        self.as_ref().is_ok_and(T::is_done)
    }

    #[inline]
    fn continues(&self) -> bool {
        self.as_ref().is_ok_and(T::continues)
    }

    #[inline]
    fn into_action(self) -> Result<Action, BoxError> {
        match self {
            Ok(value) => value.into_action(),
            Err(error) => Err(error.into()),
        }
    }
}

/// Names the type `!`, whose own name is not stable.
pub trait Returns {
    /// The return type of the function.
    type Output;
}

impl<T> Returns for fn() -> T {
    type Output = T;
}

/// A closure may never return, for instance if it only panics.
impl IntoAction for <fn() -> ! as Returns>::Output {
    const ALWAYS_CONTINUES: bool = true;

    fn is_done(&self) -> bool {
        *self
    }

    fn continues(&self) -> bool {
        *self
    }

    fn into_action(self) -> Result<Action, BoxError> {
        self
    }
}

mod sealed {
    use super::{Action, Returns};

    pub trait IntoAction {
        /// The value of a handler that has not looked at the event: it is done.
        #[doc(hidden)]
        fn done() -> Self;
    }

    impl IntoAction for () {
        fn done() -> Self {}
    }

    impl IntoAction for Action {
        fn done() -> Self {
            Self::Continue
        }
    }

    impl<T: IntoAction, X> IntoAction for Result<T, X> {
        fn done() -> Self {
            Ok(T::done())
        }
    }

    impl IntoAction for <fn() -> ! as Returns>::Output {
        fn done() -> Self {
            unreachable!("only a closure has this type, and only handlers have default methods")
        }
    }
}
