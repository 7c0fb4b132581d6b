//! What a handler may say about an event: that it is done, or what to do instead.

use std::error::Error;
use std::time::Duration;

/// What a stage does about an event, said by its handler or by its
/// [failure policy](crate::consumer::FailurePolicy).
///
/// A handler returns `()`, an action, or a `Result` of either:
///
/// ```
/// use std::time::Duration;
/// use lapwing::{Action, Disruptor};
///
/// let mut tries = 0;
/// let (producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("send").read(|_, _, _| {
///         tries += 1;
///         if tries < 3 { Action::Retry(Duration::ZERO) } else { Action::Continue }
///     })
///     .build()?;
/// # let mut producer = producer;
/// # producer.publish(|event| *event = 7)?;
/// # drop(producer);
/// # for consumer in consumers { drop(consumer.run()) }
/// assert_eq!(tries, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Action {
    /// The event is done.
    #[default]
    Continue,
    /// The event is done, and so are those before it: the stage lets go of them now, before the rest
    /// of its batch, which becomes a batch of its own.
    ReleaseNow,
    /// The event has failed and is left behind. Stages after this one get it with
    /// [`on_failed_event`](crate::EventHandler::on_failed_event), a closure like any other event.
    Skip,
    /// This event again, after a pause. The events before it are let go of.
    Retry(Duration),
    /// The batch again from its first event that is not yet let go of, after a pause. A handler with
    /// `&mut E` meets what it wrote before.
    Rewind(Duration),
    /// This event again, after a pause, and before it
    /// [`on_restart`](crate::EventHandler::on_restart), which puts the handler in order.
    Restart(Duration),
    /// The stage ends here and leaves the graph; this event and all later ones are not for it.
    /// Stages after it go on with what it waited for. The ring halts if it was the last consumer.
    Stop,
    /// The ring halts.
    Halt,
}

/// What a handler may return: `()` and [`Action`], or a `Result` of either whose error becomes a
/// [`Failure`](crate::consumer::Failure).
///
/// ```
/// use lapwing::{Disruptor, EventHandler, Sequence, consumer::{Outcome, Shared}};
///
/// struct Parse(Vec<u64>);
///
/// impl EventHandler<String, Shared, Result<(), std::num::ParseIntError>> for Parse {
///     fn on_event(
///         &mut self,
///         line: &String,
///         _: Sequence,
///         _: bool,
///     ) -> Result<(), std::num::ParseIntError> {
///         self.0.push(line.parse()?);
///         Ok(())
///     }
/// }
///
/// let (mut producer, consumers) = Disruptor::single_producer(8, String::new)
///     .stage("parse").read_handler(Parse(Vec::new()))
///     .build()?;
/// producer.publish(|line| line.push_str("12a"))?;
/// let finished = consumers.into_iter().next().unwrap().run(); // an error halts the ring
/// let message = "invalid digit found in string".to_owned();
/// assert_eq!(*finished.outcome(), Outcome::Failed { message, sequence: 0 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Implemented for these alone, and cannot be for other types.
#[diagnostic::on_unimplemented(
    message = "a handler returns `()`, `Action`, or a `Result` of these, not `{Self}`",
    note = "the error of a `Result` must convert into `Box<dyn Error + Send + Sync>`"
)]
pub trait IntoAction: Sized {
    /// Whether every value means [`Action::Continue`]. Then a stage needs no room for failures.
    const ALWAYS_CONTINUES: bool = false;

    /// Whether a value may be an error, which the stage's [policy](crate::Stage::on_error) then hears of.
    const MAY_BE_ERROR: bool = false;

    /// Whether the event is done: [`Action::Continue`] or [`Action::ReleaseNow`]. Then the next of
    /// [several handlers](crate::EventHandler#several-handlers-in-one-stage) gets it.
    ///
    /// ```
    /// use lapwing::{Action, consumer::IntoAction};
    ///
    /// assert!(().is_done() && Ok::<_, String>(Action::ReleaseNow).is_done());
    /// assert!(!Action::Skip.is_done() && !Err::<(), _>("no route").is_done());
    /// ```
    fn is_done(&self) -> bool;

    /// Whether this value means [`Action::Continue`], so that nothing is to be done about it.
    ///
    /// ```
    /// use lapwing::{Action, consumer::IntoAction};
    ///
    /// assert!(().continues() && Ok::<_, String>(Action::Continue).continues());
    /// assert!(!Action::ReleaseNow.continues() && !Err::<(), _>("no route").continues());
    /// ```
    fn continues(&self) -> bool;

    /// The action, or the error.
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
    /// The handler's own.
    fn into_action(self) -> Result<Action, BoxError>;
}

/// Any error that may cross threads.
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

/// Names the type `!`, whose own name is not stable yet.
pub trait Returns {
    /// What the function returns.
    type Output;
}

impl<T> Returns for fn() -> T {
    type Output = T;
}

/// For a closure that never returns, such as one that only panics.
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
