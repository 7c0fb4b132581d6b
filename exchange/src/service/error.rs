//! Why the service does not start, or has ended.

use std::error::Error;
use std::fmt;
use std::io;

use lapwing::error::{BuildError, StartError};
use lapwing::lifecycle::RunError;
use lapwing_journal::error::{FileError, OpenError, ReadError, WriteError};

use crate::state::{SnapshotError, StateError};

/// Why the service does not start, or has ended before its shutdown.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServiceError {
    /// The journal cannot be opened.
    Open(OpenError),
    /// The journal cannot be read.
    Read(ReadError),
    /// The end of the journal cannot be written.
    Close(WriteError),
    /// A snapshot, or an old segment of the journal, cannot be read, written or removed.
    File(FileError),
    /// A snapshot is intact and holds no state.
    Snapshot(SnapshotError),
    /// The state of a snapshot is impossible.
    State(StateError),
    /// A ring cannot be built.
    Build(BuildError),
    /// A thread cannot be started.
    Start(StartError),
    /// The same, for a thread that is in no ring.
    Thread(io::Error),
    /// A stage has failed. The text names the stage and the cause.
    Stage(String),
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => error.fmt(f),
            Self::Read(error) => error.fmt(f),
            Self::Close(error) => error.fmt(f),
            Self::File(error) => error.fmt(f),
            Self::Snapshot(error) => write!(f, "a snapshot is unusable: {error}"),
            Self::State(error) => write!(f, "a snapshot is unusable: {error}"),
            Self::Build(error) => error.fmt(f),
            Self::Start(error) => error.fmt(f),
            Self::Thread(error) => write!(f, "cannot start a thread: {error}"),
            Self::Stage(text) => f.write_str(text),
        }
    }
}

impl Error for ServiceError {}

crate::errors::from! {
    ServiceError:
    OpenError => Open,
    ReadError => Read,
    WriteError => Close,
    FileError => File,
    SnapshotError => Snapshot,
    StateError => State,
    BuildError => Build,
    StartError => Start,
    io::Error => Thread,
}

impl From<RunError> for ServiceError {
    /// Keeps the text only. The report has the handlers, whose drop ends the connections of clients.
    fn from(error: RunError) -> Self {
        Self::Stage(error.to_string())
    }
}
