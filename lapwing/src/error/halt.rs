//! Why a ring was halted.

use std::fmt;

use lapwing_core::error::Cause;

/// Why a ring was halted: part of each `Halted` error.
///
/// A ring is halted once. A later halt does not change the cause.
///
/// ```
/// use lapwing::{Disruptor, error::{HaltCause, PublishError}};
///
/// let (mut producer, consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("print").read(|_, _, _| {}).build()?;
///
/// let running = consumers.start()?;
/// running.halt();
/// let error = producer.publish(|event| *event = 7).unwrap_err();
/// assert_eq!(error, PublishError::Halted(HaltCause::Requested));
/// assert_eq!(error.to_string(), "the ring is halted: a halt was requested");
/// assert!(running.join().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HaltCause {
    /// The program asked for it:
    ///
    /// - by [`Running::halt`](crate::Running::halt),
    /// - by an [`Action::Halt`](crate::Action::Halt) of a handler that has not failed,
    /// - by dropping [`Running`](crate::Running) during a panic,
    /// - by [`shutdown`](crate::Running::shutdown) or [`join`](crate::Running::join) in a handler
    ///   of the ring.
    Requested,
    /// A handler returned an error or panicked, and the policy of its stage halted the ring. Or
    /// other user code of a stage panicked, such as a key function or a policy.
    ///
    /// The [`Report`](crate::Report) contains the stage, the sequence and the message. For a stage
    /// that the program runs itself, its [`StageReport`](crate::consumer::StageReport) does.
    StageFailed,
    /// A stage of the graph was dropped before it had run. Or the last clone of an
    /// [`Acknowledger`](crate::consumer::Acknowledger) was dropped before the ring was closed and
    /// every event acknowledged. A stage that is dropped during a panic counts as
    /// [failed](Self::StageFailed).
    StageDropped,
    /// The last consumer has left a ring that was not drained, or the last worker has left its
    /// group.
    NoConsumers,
}

impl HaltCause {
    /// All causes. The index of a cause is its [`code`](Self::code).
    const ALL: [Self; 4] =
        [Self::Requested, Self::StageFailed, Self::StageDropped, Self::NoConsumers];

    /// The cause if a handler, or a policy for a failure, returns
    /// [`Action::Halt`](crate::Action::Halt).
    pub(crate) fn by_action(is_failure: bool) -> Self {
        if is_failure { Self::StageFailed } else { Self::Requested }
    }

    /// Returns the cause as the core knows it.
    pub(crate) fn core(self) -> Cause {
        match self {
            Self::NoConsumers => Cause::NO_CONSUMERS,
            // The code of `NO_CONSUMERS` is 0.
            other => Cause::new(1 + other as u8),
        }
    }

    /// Returns the cause that the core knows as `cause`.
    pub(crate) fn of(cause: Cause) -> Self {
        Self::ALL.into_iter().find(|own| own.core() == cause).unwrap_or(Self::Requested)
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Requested => "the ring is halted: a halt was requested",
            Self::StageFailed => {
                "the ring is halted: a stage failed or panicked (`shutdown` names it)"
            }
            Self::StageDropped => "the ring is halted: a consumer was dropped before it finished",
            Self::NoConsumers => "the ring is halted: no consumer is left",
        }
    }
}

impl fmt::Display for HaltCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::HaltCause;

    #[test]
    fn each_cause_comes_back_from_the_core() {
        for cause in HaltCause::ALL {
            assert_eq!(HaltCause::of(cause.core()), cause);
        }
    }
}
