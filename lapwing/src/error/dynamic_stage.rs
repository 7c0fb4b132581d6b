//! Why a consumer could not join a running ring.

use std::error::Error;
use std::fmt;

use lapwing_core::StartAt;
use lapwing_core::error::JoinError;

use super::HaltCause;
use crate::Sequence;

/// Error of [`DynamicStages::join`](crate::graph::DynamicStages::join). No consumer has joined.
///
/// ```
/// use lapwing::{Disruptor, error::DynamicStageError, graph::StartAt};
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).dynamic_stages(1).stage("all").poller().build()?;
/// let _all = consumers.take_poller("all")?;
///
/// producer.publish_batch(5, |_| {})?;
/// let error = consumers.dynamic_stages().join("resume", StartAt::Sequence(7)).unwrap_err();
/// assert_eq!(error, DynamicStageError::OutOfRange { requested: 7, oldest: 0, newest: 5 });
/// let text = "the ring does not contain this sequence: requested=7, oldest=0, newest=5";
/// assert_eq!(error.to_string(), text);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DynamicStageError {
    /// The ring was built without dynamic stages.
    NoneReserved,
    /// Every dynamic stage is taken. A dynamic stage is free again when its consumer leaves.
    NoneFree {
        /// Number of dynamic stages of the ring.
        stages: usize,
    },
    /// No consumer can start at this sequence. Its event may be overwritten, or an earlier event is
    /// not published yet.
    OutOfRange {
        /// The sequence that was asked for.
        requested: Sequence,
        /// The oldest sequence at which a consumer could start.
        oldest: Sequence,
        /// The newest sequence at which a consumer could start: the first that was not published.
        newest: Sequence,
    },
    /// The ring is halted, for this cause.
    Halted(HaltCause),
    /// A stage or a worker of the graph, or a consumer that has joined and not left, has this name.
    DuplicateName {
        /// The name.
        stage: String,
    },
    /// The name is empty or contains a NUL, which a thread's name cannot contain.
    InvalidName {
        /// The name.
        stage: String,
    },
    /// The batches of the stage are limited to zero events.
    ZeroMaxBatch {
        /// The stage.
        stage: String,
    },
    /// The stage is [`acknowledged`](crate::Stage::acknowledged), which a dynamic consumer cannot
    /// be.
    Acknowledged {
        /// The stage.
        stage: String,
    },
}

impl DynamicStageError {
    /// Why a consumer could not join a ring of `dynamic_stages` at `start`.
    pub(crate) fn of(error: JoinError, stages: usize, start: StartAt) -> Self {
        match (error, start) {
            (JoinError::NoneFree, _) => Self::NoneFree { stages },
            (JoinError::OutOfRange { oldest, newest }, StartAt::Sequence(requested)) => {
                Self::OutOfRange { requested, oldest, newest }
            }
            (JoinError::OutOfRange { .. }, _) => unreachable!("only a sequence is out of range"),
            (JoinError::Halted(cause), _) => Self::Halted(HaltCause::of(cause)),
        }
    }
}

impl fmt::Display for DynamicStageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoneReserved => f.write_str("the ring was built without dynamic stages"),
            Self::NoneFree { stages } => {
                write!(f, "every dynamic stage is taken: stages={stages}")
            }
            Self::OutOfRange { requested, oldest, newest } => write!(
                f,
                "the ring does not contain this sequence: \
                 requested={requested}, oldest={oldest}, newest={newest}"
            ),
            Self::Halted(cause) => f.write_str(cause.text()),
            Self::DuplicateName { stage } => {
                write!(f, "another consumer has this name: stage={stage:?}")
            }
            Self::InvalidName { stage } => {
                write!(f, "a stage's name must not be empty or contain a NUL: stage={stage:?}")
            }
            Self::ZeroMaxBatch { stage } => {
                write!(f, "max_batch must be at least 1: stage={stage:?}")
            }
            Self::Acknowledged { stage } => {
                write!(f, "a dynamic stage cannot be acknowledged: stage={stage:?}")
            }
        }
    }
}

impl Error for DynamicStageError {}
