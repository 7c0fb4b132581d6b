//! Why the service does not start, or has ended.

use std::error::Error;
use std::fmt;
use std::io;

use lapwing::Sequence;
use lapwing::error::{BuildError, PublishError, StartError};
use lapwing::lifecycle::RunError;
use lapwing_journal::error::{FileError, OpenError, ReadError, WriteError};

use crate::state::{SnapshotError, StateError};
use crate::types::{Command, OutOfMemory, UnpackError};

/// Why a command in the ring or in the journal is not carried out. The exchange ends, since its state
/// would not follow from its commands any longer.
#[derive(Debug)]
#[non_exhaustive]
pub enum NotApplied {
    /// Its bytes have no meaning for this program.
    Unknown(UnpackError),
    /// The system has no memory for it.
    OutOfMemory(Command, OutOfMemory),
    /// The output ring takes no more reports.
    Closed(PublishError),
}

impl NotApplied {
    /// Returns what the operator can do.
    fn advice(&self) -> &'static str {
        match self {
            Self::Unknown(_) => {
                "start the version of the program that has written it, or a later one"
            }
            _ => "nothing is lost: give the process more memory, and start it again",
        }
    }
}

impl fmt::Display for NotApplied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(error) => write!(f, "the bytes are no command: {error}"),
            Self::OutOfMemory(command, error) => write!(f, "`{command}`: {error}"),
            Self::Closed(error) => error.fmt(f),
        }
    }
}

impl Error for NotApplied {}

crate::errors::from! {
    NotApplied:
    UnpackError => Unknown,
    PublishError => Closed,
}

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
    /// A command of the journal cannot be carried out again.
    Replay {
        /// Its sequence.
        sequence: Sequence,
        /// Why it cannot.
        why: NotApplied,
    },
    /// The system does not give the memory that the exchange may use.
    Memory {
        /// What the exchange may still use, in MiB.
        needed: u64,
    },
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
            Self::Replay { sequence, why } => write!(
                f,
                "the exchange cannot recover: command {sequence} of the journal: {why}; {}",
                why.advice()
            ),
            Self::Memory { needed } => write!(
                f,
                "the exchange may use {needed} MiB more, and the system does not give them: raise \
                 the limits of the process (such as ulimit -v), or lower --memory"
            ),
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
