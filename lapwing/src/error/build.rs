//! Why a ring was not made: its capacity, its memory, or its graph.

use std::error::Error;
use std::fmt;

use super::PlacementError;
use crate::{MAX_CAPACITY, MAX_FIRST_SEQUENCE, MAX_RECEIVERS, MAX_SEATS, Sequence};

/// Error of [`Builder::build`](crate::Builder::build) and of [`tap`](crate::tap::tap). No thread has
/// been started.
///
/// ```
/// use lapwing::{Disruptor, error::BuildError};
///
/// let two = Disruptor::single_producer(8, || 0_u64).stage("log").poller().stage("log").poller();
/// let error = two.build().unwrap_err();
/// assert_eq!(error, BuildError::DuplicateName { stage: "log".into() });
/// assert_eq!(error.to_string(), "two stages have one name: stage=\"log\"");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The capacity is not a power of two in `1..=2^30`; of a channel, which rounds up, not in that
    /// range.
    Capacity {
        /// Slots asked for.
        requested: usize,
    },
    /// More seats than [`MAX_SEATS`].
    Seats {
        /// Seats asked for.
        requested: usize,
    },
    /// The allocator refused the memory of the ring.
    OutOfMemory {
        /// Slots asked for.
        capacity: usize,
        /// Bytes asked for each of them: for an event, or for what keeps track of it.
        bytes_per_slot: usize,
    },
    /// The first sequence leaves too few for the ring's life.
    FirstSequence {
        /// First sequence asked for.
        requested: Sequence,
    },
    /// The graph has no stage, so nobody would ever free a slot.
    NoConsumers,
    /// Two stages have the same name.
    DuplicateName {
        /// The name.
        stage: String,
    },
    /// A name, of a stage or of a thread, is empty or has a NUL in it, which a thread's name cannot have.
    InvalidName {
        /// The name.
        stage: String,
    },
    /// A stage comes after a stage of another graph.
    UnknownStage {
        /// The stage whose dependency is unknown.
        stage: String,
    },
    /// A stage with exclusive access could run at the same time as another stage.
    Overlap {
        /// The stage that writes.
        exclusive: String,
        /// The stage that is neither before nor after it.
        other: String,
    },
    /// The stages cannot run on threads as they, or the ring's [`Placement`](crate::graph::Placement), say.
    Placement(PlacementError),
    /// A stage was given batches of at most no events.
    ZeroMaxBatch {
        /// The stage.
        stage: String,
    },
    /// A stage has a setting that would have no effect:
    ///
    /// - a [`timeout`](crate::Stage::timeout) for a closure or a poller, which have no `on_timeout`;
    /// - [`on_error`](crate::Stage::on_error) for a handler that returns no `Result`, or for a poller;
    /// - [`on_panic`](crate::Stage::on_panic), [`pin`](crate::Stage::pin), [`on_thread`](crate::Stage::on_thread) or
    ///   [`blocking`](crate::Stage::blocking) for a poller, which has neither a handler nor a thread.
    UnusedSetting {
        /// The stage.
        stage: String,
        /// The method of [`Stage`](crate::Stage) that set it.
        setting: &'static str,
        /// What a stage has to have for that.
        needs: &'static str,
    },
    /// A worker group was given no worker, or more than it may have.
    Workers {
        /// The group.
        stage: String,
        /// Workers asked for.
        requested: usize,
        /// Most workers that it may have.
        max: usize,
    },
    /// More receivers of a broadcast than [`MAX_RECEIVERS`]: a sender
    /// looks at each of them.
    Receivers {
        /// Receivers asked for.
        requested: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capacity { requested } => fmt_capacity(*requested, f),
            Self::Seats { requested } => {
                write!(f, "seats must be in 0..={MAX_SEATS}: requested={requested}")
            }
            Self::OutOfMemory { capacity, bytes_per_slot } => {
                write!(
                    f,
                    "no memory for the ring: capacity={capacity}, bytes_per_slot={bytes_per_slot}"
                )
            }
            Self::FirstSequence { requested } => {
                let most = MAX_FIRST_SEQUENCE;
                write!(f, "the first sequence must be in 0..={most}: requested={requested}")
            }
            Self::NoConsumers => {
                f.write_str("nobody consumes: a graph needs a stage, a broadcast a receiver")
            }
            Self::DuplicateName { stage } => write!(f, "two stages have one name: stage={stage:?}"),
            Self::InvalidName { stage } => {
                write!(
                    f,
                    "the name of a stage or a thread must not be empty or hold a NUL: name={stage:?}"
                )
            }
            Self::UnknownStage { stage } => {
                write!(f, "a stage comes after a stage of another graph: stage={stage:?}")
            }
            Self::Overlap { exclusive, other } => write!(
                f,
                "an exclusive stage must be ordered against every other: \
                 exclusive={exclusive:?} and other={other:?} could run at the same time"
            ),
            Self::Placement(error) => error.fmt(f),
            Self::ZeroMaxBatch { stage } => {
                write!(f, "the longest batch must have at least one event: stage={stage:?}")
            }
            Self::UnusedSetting { stage, setting, needs } => write!(
                f,
                "a setting has no effect, since it needs {needs}: stage={stage:?}, setting={setting}"
            ),
            Self::Workers { stage, requested, max } => write!(
                f,
                "a group must have 1..={max} workers: stage={stage:?}, requested={requested}"
            ),
            Self::Receivers { requested } => {
                write!(f, "receivers must be in 1..={MAX_RECEIVERS}: requested={requested}")
            }
        }
    }
}

/// What a channel would have rounded up is not out of range.
fn fmt_capacity(requested: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let is_in_range = (1..=MAX_CAPACITY).contains(&requested);
    let kind = if is_in_range { "a power of two " } else { "" };
    write!(f, "capacity must be {kind}in 1..={MAX_CAPACITY}: requested={requested}")
}

impl Error for BuildError {}

impl From<PlacementError> for BuildError {
    fn from(error: PlacementError) -> Self {
        Self::Placement(error)
    }
}
