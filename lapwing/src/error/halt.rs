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
    /// The program asked for it, by [`Running::halt`](crate::Running::halt), by
    /// [`Action::Halt`](crate::Action::Halt), or by dropping [`Running`](crate::Running) during a
    /// panic.
    Requested,
    /// A stage panicked or returned an error, and its policy did not continue. The
    /// [`Report`](crate::Report) contains the stage, the sequence and the message.
    StageFailed,
    /// A consumer or an [`Acknowledger`](crate::consumer::Acknowledger) that the ring needs was
    /// dropped before it had finished its work.
    StageDropped,
    /// The last consumer has left the ring, or the last worker has left its group.
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
            Self::StageFailed => "the ring is halted: a stage failed or panicked",
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
