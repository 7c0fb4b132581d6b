//! Why events were not written or not synced.

use std::error::Error;
use std::fmt;

use lapwing::Sequence;

use super::FileError;

/// Error of a [`Writer`](crate::Writer). The batch is not recorded.
#[derive(Clone)]
#[non_exhaustive]
pub enum WriteError {
    /// The system refused a call, for instance because the disk is full. The same batch may be
    /// written again: see [`is_shortage`](Self::is_shortage).
    File(FileError),
    /// A sync has failed, so the journal takes no more events.
    SyncFailed(FileError),
    /// The journal is closed.
    Closed,
    /// The batch begins below the end of the journal, and no replay has published it. Begin the
    /// ring with [`Journal::next_sequence`](crate::Journal::next_sequence).
    AlreadyRecorded {
        /// First event of the batch.
        first: Sequence,
        /// The journal's next event.
        expected: Sequence,
    },
    /// An earlier batch was not written, so this one would leave a hole. The stage's error policy
    /// must not skip a batch.
    Skipped {
        /// First event of this batch.
        first: Sequence,
        /// First event of the batch that was not written.
        missing: Sequence,
    },
    /// One event has more bytes than a frame can hold.
    TooLarge {
        /// The event.
        sequence: Sequence,
        /// The most bytes that fit.
        limit: usize,
    },
}

impl WriteError {
    /// Returns whether the disk is full. The batch can be written once there is space.
    ///
    /// ```
    /// use lapwing_journal::error::WriteError;
    ///
    /// assert!(!WriteError::Closed.is_full());
    /// ```
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::File(error) if error.is_full())
    }

    /// Returns whether the system was short of something that may come back: space on the disk, or
    /// file descriptors. The batch can be written later.
    ///
    /// ```
    /// use lapwing_journal::error::WriteError;
    ///
    /// assert!(!WriteError::Closed.is_shortage());
    /// ```
    #[must_use]
    pub fn is_shortage(&self) -> bool {
        matches!(self, Self::File(error) if error.is_shortage())
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::SyncFailed(error) => write!(f, "the journal has stopped: {error}"),
            Self::Closed => f.write_str("the journal is closed"),
            Self::AlreadyRecorded { first, expected } => write!(
                f,
                "the batch begins below the end of the journal: first={first}, end={expected}"
            ),
            Self::Skipped { first, missing } => {
                write!(f, "an earlier batch was not written: first={first}, missing={missing}")
            }
            Self::TooLarge { sequence, limit } => write!(
                f,
                "an event does not fit into a frame: sequence={sequence}, limit={limit} bytes"
            ),
        }
    }
}

impl Error for WriteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::File(error) | Self::SyncFailed(error) => Some(error),
            _ => None,
        }
    }
}

impl From<FileError> for WriteError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

/// Error of a [`Syncer`](crate::Syncer): a sync has failed.
///
/// After a failed sync, the system may have dropped what it could not write. A second sync could
/// then succeed without the data. So the journal takes no more events and is never synced again.
/// The next [`open`](crate::Journal::open) reads what the system still has and writes it again.
#[derive(Clone)]
pub struct SyncError(pub(crate) FileError);

impl SyncError {
    /// Returns the file, and why it was not synced.
    #[must_use]
    pub fn file(&self) -> &FileError {
        &self.0
    }
}

impl fmt::Display for SyncError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the journal has stopped: {}", self.0)
    }
}

impl Error for SyncError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

impl From<SyncError> for WriteError {
    fn from(error: SyncError) -> Self {
        Self::SyncFailed(error.0)
    }
}
