//! Why recorded events were not read.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use lapwing::Sequence;

use super::{BoxError, Damage, FileError};

/// Error of a [`Reader`](crate::Reader).
#[derive(Clone)]
#[non_exhaustive]
pub enum ReadError {
    /// The system refused a call.
    File(FileError),
    /// A frame is unreadable.
    Damaged(Damage),
    /// The journal does not have the event.
    NotRecorded {
        /// The event that was asked for.
        requested: Sequence,
        /// The oldest event that is kept.
        oldest: Sequence,
        /// The sequence after the last event.
        end: Sequence,
    },
    /// The events have another length than those that the program reads.
    EventBytes {
        /// Bytes of an event in the journal, or 0 if events differ in length.
        found: u32,
        /// Bytes of an event that the program reads.
        expected: usize,
    },
    /// A later version of this crate has written the journal.
    Version {
        /// The segment.
        file: PathBuf,
        /// Version of its format.
        version: u32,
    },
    /// The [encoding](crate::Encoding) refused the bytes of an event.
    Decode {
        /// The event.
        sequence: Sequence,
        /// What the encoding returned.
        error: Arc<BoxError>,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Damaged(damage) => damage.fmt(f),
            Self::NotRecorded { requested, oldest, end } => write!(
                f,
                "the journal does not have the event: requested={requested}, kept={oldest}..{end}"
            ),
            Self::EventBytes { found, expected } => write!(
                f,
                "the journal has events of another length: found={found}, expected={expected}"
            ),
            Self::Version { file, version } => write!(
                f,
                "a later version of this library wrote the journal: file={}, version={version}",
                file.display()
            ),
            Self::Decode { sequence, error } => {
                write!(f, "cannot decode an event: {error}: sequence={sequence}")
            }
        }
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::File(error) => Some(error),
            Self::Damaged(damage) => Some(damage),
            Self::Decode { error, .. } => Some(&***error),
            Self::NotRecorded { .. } | Self::EventBytes { .. } | Self::Version { .. } => None,
        }
    }
}

impl From<FileError> for ReadError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl From<Damage> for ReadError {
    fn from(damage: Damage) -> Self {
        Self::Damaged(damage)
    }
}
