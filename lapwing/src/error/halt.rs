//! Why a ring was halted.

use std::fmt;

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
    /// that the program runs itself, its [`Finished`](crate::consumer::Finished) does.
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

    /// A number below 4.
    pub(crate) fn code(self) -> u32 {
        self as u32
    }

    /// The cause with this [`code`](Self::code).
    pub(crate) fn of_code(code: u32) -> Self {
        Self::ALL[code as usize % Self::ALL.len()]
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
    fn each_cause_is_that_of_its_code() {
        for cause in HaltCause::ALL {
            assert_eq!(HaltCause::of_code(cause.code()), cause);
        }
    }
}
