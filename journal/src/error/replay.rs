//! Why a replay ended early.

use std::error::Error;
use std::fmt;

use lapwing::Sequence;
use lapwing::error::BatchError;

use super::ReadError;

/// Error of [`Replay::publish_into`](crate::Replay::publish_into). The events before it are
/// published.
#[derive(Clone)]
#[non_exhaustive]
pub enum ReplayError {
    /// The journal could not be read.
    Read(ReadError),
    /// The ring takes no more events.
    Ring(BatchError),
    /// The ring's next event has another sequence than the journal's. The ring must begin with the
    /// first event of the replay, and no other producer may publish during it.
    OtherSequence {
        /// The sequence of the recorded event.
        recorded: Sequence,
        /// The sequence that the ring gave.
        claimed: Sequence,
    },
    /// The journal has a claim that was given up, and a ring with one producer cannot have one.
    Gap {
        /// The claim's sequence.
        sequence: Sequence,
    },
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::Ring(error) => error.fmt(f),
            Self::OtherSequence { recorded, claimed } => write!(
                f,
                "the ring is not where the journal is: recorded={recorded}, claimed={claimed}"
            ),
            Self::Gap { sequence } => write!(
                f,
                "the journal has a gap, which needs a ring with several producers: \
                 sequence={sequence}"
            ),
        }
    }
}

impl Error for ReplayError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Read(error) => Some(error),
            Self::Ring(error) => Some(error),
            Self::OtherSequence { .. } | Self::Gap { .. } => None,
        }
    }
}

impl From<ReadError> for ReplayError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<BatchError> for ReplayError {
    fn from(error: BatchError) -> Self {
        Self::Ring(error)
    }
}
