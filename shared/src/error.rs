//! Why a segment is not made or opened, and why a call has no event.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::limits::{MAX_CAPACITY, MAX_SEATS};

/// What is different about a segment, so that this program cannot use it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// The file does not begin as a segment does, or its header has numbers that no segment has.
    NoSegment,
    /// Another version of this crate made it.
    Version {
        /// The version of this program.
        expected: u32,
        /// That of the segment.
        found: u32,
    },
    /// A machine with another byte order made it.
    ByteOrder,
    /// It was made before the machine last started.
    Boot,
    /// The file has been cut, or has grown.
    Bytes {
        /// Bytes according to its header.
        expected: u64,
        /// Bytes of the file.
        found: u64,
    },
    /// It has another capacity.
    Capacity {
        /// The capacity that the program asks for.
        program: usize,
        /// That of the segment.
        segment: usize,
    },
    /// It has another number of seats for readers.
    Seats {
        /// The number of seats that the program asks for.
        program: usize,
        /// That of the segment.
        segment: usize,
    },
    /// It has another number of seats for writers.
    Writers {
        /// The number of seats that the program asks for.
        program: usize,
        /// That of the segment; 0 if [`create`](crate::Segment::create) made it, so that it has a
        /// single writer.
        segment: usize,
    },
    /// Its events have another [layout](crate::Event::layout).
    Layout {
        /// The layout of the program's events.
        program: String,
        /// That of the segment's.
        segment: String,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSegment => write!(f, "it is no segment"),
            Self::Version { expected, found } => {
                write!(f, "it has another version: expected={expected}, found={found}")
            }
            Self::ByteOrder => write!(f, "it has another byte order"),
            Self::Boot => write!(f, "it was made before the machine last started"),
            Self::Bytes { expected, found } => {
                write!(f, "its file has another size: expected={expected}, found={found}")
            }
            Self::Capacity { program, segment } => {
                write!(f, "it has another capacity: program={program}, segment={segment}")
            }
            Self::Seats { program, segment } => {
                write!(f, "it has another number of seats: program={program}, segment={segment}")
            }
            Self::Writers { segment: 0, .. } => write!(f, "it has a single writer"),
            Self::Writers { program, segment } => {
                write!(f, "it has seats for other writers: program={program}, segment={segment}")
            }
            Self::Layout { program, segment } => {
                write!(f, "its events have another layout: program={program}, segment={segment}")
            }
        }
    }
}

/// Why a segment could not be [created](crate::Segment::create).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CreateError {
    /// The name is not 1 to 64 of the characters `a-z A-Z 0-9 . _ -`, or begins with a dot.
    Name {
        /// The name.
        name: String,
    },
    /// The capacity is no power of two in 1..=2^30, or the events would not fit into memory.
    Capacity {
        /// The capacity that was asked for.
        requested: usize,
    },
    /// The number of seats is not in 1..=1024.
    Seats {
        /// The number that was asked for.
        requested: usize,
    },
    /// An event has no bytes, or needs an alignment of more than a page.
    Event,
    /// The number of writers is not in 1..=1024.
    Writers {
        /// The requested number of writers.
        requested: usize,
    },
    /// A living process, possibly this one, writes to a segment of this name.
    HasWriter {
        /// Its process id, as its own pid namespace has it. If there are several writers, the id of
        /// the one that was the last to join.
        pid: u32,
    },
    /// Living processes write to a segment of this name that this program
    /// [cannot join](crate::Segment::create_or_join).
    Differs(Difference),
    /// All seats of writers are taken.
    NoSeat {
        /// The number of their seats, which [`Segment::writers`](crate::Segment::writers) sets.
        writers: usize,
    },
    /// The folder belongs to another user, or other users may write to it.
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// Another process creates or opens a segment in the folder, and did not finish within five
    /// seconds. It may be stopped.
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// The system refused a file, or the memory for it.
    File {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        kind: io::ErrorKind,
    },
}

impl fmt::Display for CreateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { name } => write_name(f, name),
            Self::Capacity { requested } => write!(
                f,
                "capacity must be a power of two in 1..={MAX_CAPACITY}, and fit into memory: \
                 requested={requested}"
            ),
            Self::Seats { requested } => {
                write!(f, "seats must be in 1..={MAX_SEATS}: requested={requested}")
            }
            Self::Writers { requested } => {
                write!(f, "writers must be in 1..={MAX_SEATS}: requested={requested}")
            }
            Self::Event => write_event(f),
            Self::HasWriter { pid } => {
                write!(f, "a process writes to the segment already: pid={pid}")
            }
            Self::Differs(difference) => {
                write!(f, "the segment cannot be joined: {difference}")
            }
            Self::NoSeat { writers } => {
                write!(f, "all seats of writers are taken: writers={writers}")
            }
            Self::Folder { path } => write_folder(f, path),
            Self::Busy { folder } => write_busy(f, folder),
            Self::File { path, kind } => write_file(f, path, *kind),
        }
    }
}

impl Error for CreateError {}

/// Why a segment could not be [opened](crate::Segment::open).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// The name is not 1 to 64 of the characters `a-z A-Z 0-9 . _ -`, or begins with a dot.
    Name {
        /// The name.
        name: String,
    },
    /// There is no segment of this name in the folder.
    NotFound {
        /// Where it would be.
        path: PathBuf,
    },
    /// The segment is closed: no further event comes.
    Closed,
    /// An event has no bytes, or needs an alignment of more than a page.
    Event,
    /// The segment is different from what this program can use.
    Differs(Difference),
    /// Readers have all seats.
    NoSeat {
        /// Number of seats.
        seats: usize,
    },
    /// The folder belongs to another user, or other users may write to it.
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// Another process creates or opens a segment in the folder, and did not finish within five
    /// seconds. It may be stopped.
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// The system refused a file.
    File {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        kind: io::ErrorKind,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { name } => write_name(f, name),
            Self::NotFound { path } => {
                write!(f, "there is no such segment: path={}", path.display())
            }
            Self::Closed => write!(f, "the segment is closed"),
            Self::Event => write_event(f),
            Self::Differs(difference) => write!(f, "the segment cannot be used: {difference}"),
            Self::NoSeat { seats } => write!(f, "all seats of readers are taken: seats={seats}"),
            Self::Folder { path } => write_folder(f, path),
            Self::Busy { folder } => write_busy(f, folder),
            Self::File { path, kind } => write_file(f, path, *kind),
        }
    }
}

impl Error for OpenError {}

fn write_name(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    write!(
        f,
        "a name must have 1 to 64 of the characters a-z A-Z 0-9 . _ - and not begin with a dot: \
         name={name:?}"
    )
}

fn write_event(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "an event must have at least a byte, and an alignment of at most 4096")
}

fn write_folder(f: &mut fmt::Formatter<'_>, path: &Path) -> fmt::Result {
    let path = path.display();
    write!(f, "the folder must belong to this user, and others must not write to it: path={path}")
}

fn write_busy(f: &mut fmt::Formatter<'_>, folder: &Path) -> fmt::Result {
    let folder = folder.display();
    write!(f, "another process has locked the folder for five seconds: folder={folder}")
}

fn write_file(f: &mut fmt::Formatter<'_>, path: &Path, kind: io::ErrorKind) -> fmt::Result {
    write!(f, "the system refused a file of the segment, {kind}: path={}", path.display())
}

/// Why [`Writer::try_publish`](crate::Writer::try_publish) or
/// [`publish_timeout`](crate::Writer::publish_timeout) did not publish: no slot is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no slot is free, because a reader has not finished its event")
    }
}

impl Error for Full {}

/// Why a [`Reader`](crate::Reader) has no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PollError {
    /// No event is available yet.
    Empty,
    /// The segment is closed, and this reader has consumed every event.
    Closed,
    /// The writer's process has ended without closing the segment, and this reader has consumed
    /// every event that it published. Another process may take the segment over, so that events
    /// come again, or replace it, so that it is [`Closed`](Self::Closed).
    WriterGone,
}

impl fmt::Display for PollError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "no event is available",
            Self::Closed => "the segment is closed and drained",
            Self::WriterGone => "the writer has ended without closing the segment",
        })
    }
}

impl Error for PollError {}

/// Why a [`Reader::wait`](crate::Reader::wait) ended without an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitError {
    /// The segment is closed, and this reader has consumed every event.
    Closed,
    /// The writer's process has ended without closing the segment, and this reader has consumed
    /// every event that it published. Another process may take the segment over, so that events
    /// come again, or replace it, so that it is [`Closed`](Self::Closed).
    WriterGone,
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        PollError::from(*self).fmt(f)
    }
}

impl Error for WaitError {}

impl From<WaitError> for PollError {
    fn from(error: WaitError) -> Self {
        match error {
            WaitError::Closed => Self::Closed,
            WaitError::WriterGone => Self::WriterGone,
        }
    }
}
