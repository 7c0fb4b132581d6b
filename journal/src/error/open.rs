//! Why a journal was not opened.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use super::{Damage, FileError};

/// Error of [`Journal::open`](crate::Journal::open), [`Options::open`](crate::Options::open) and
/// [`inspect`](crate::inspect::inspect). No event is lost, and no frame was changed.
#[derive(Clone)]
#[non_exhaustive]
pub enum OpenError {
    /// The system refused a call.
    File(FileError),
    /// Another process, or another part of this one, has the journal open for writing.
    Locked {
        /// The file that is locked.
        file: PathBuf,
    },
    /// Synced events are unreadable or missing, or may be: [`Damage::defect`] says which.
    Damaged(Damage),
    /// The journal has events of another shape.
    OtherShape {
        /// Bytes of an event and schema in the journal; 0 bytes if events differ in length.
        found: (u32, u64),
        /// Bytes of an event and schema that the program asked for.
        expected: (u32, u64),
    },
    /// A later version of this crate has written the journal.
    Version {
        /// The segment.
        file: PathBuf,
        /// Version of its format.
        version: u32,
    },
    /// A segment is too small for one event, or larger than 4 GiB.
    SegmentBytes {
        /// Bytes of a segment that were asked for.
        requested: u64,
        /// The smallest allowed value.
        at_least: u64,
    },
    /// An event has more bytes than a frame can hold.
    EventBytes {
        /// Bytes of an event.
        bytes: usize,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Locked { file } => {
                write!(f, "the journal is already open for writing: file={}", file.display())
            }
            Self::Damaged(damage) => damage.fmt(f),
            Self::OtherShape { found, expected } => write!(
                f,
                "the journal has events of another shape: found={} bytes, schema {}, \
                 expected={} bytes, schema {}",
                found.0, found.1, expected.0, expected.1
            ),
            Self::Version { file, version } => write!(
                f,
                "a later version of this library wrote the journal: file={}, version={version}",
                file.display()
            ),
            Self::SegmentBytes { requested, at_least } => write!(
                f,
                "a segment must have {at_least}..=4294967296 bytes: requested={requested}"
            ),
            Self::EventBytes { bytes } => {
                write!(f, "an event must have at most 16777216 bytes: bytes={bytes}")
            }
        }
    }
}

impl Error for OpenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::File(error) => Some(error),
            Self::Damaged(damage) => Some(damage),
            _ => None,
        }
    }
}

impl From<FileError> for OpenError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl From<Damage> for OpenError {
    fn from(damage: Damage) -> Self {
        Self::Damaged(damage)
    }
}
