//! Damage: bytes that were synced and are not readable.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use lapwing::Sequence;

/// Events that were synced and are not readable, or are missing.
///
/// A journal with damage is not opened, and nothing in it is changed. Restore the file from a copy.
#[derive(Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// Where in the file the first unreadable byte may be.
    pub offset: u64,
    /// The first event that is not readable.
    pub sequence: Sequence,
    /// What is wrong.
    pub defect: Defect,
}

/// What is wrong with a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Defect {
    /// A frame is unreadable or missing, although events up to `synced` were synced, as a later frame
    /// or [`Options::synced_to`](crate::Options::synced_to) says.
    Synced {
        /// The end of what was synced.
        synced: Sequence,
    },
    /// The journal was closed with more events, as the file `closed` in its folder says. To go on
    /// without them, for instance with an older copy of the segments, remove that file.
    Closed {
        /// The end of the journal when it was closed.
        end: Sequence,
    },
    /// The file `closed` is unreadable, so events may be missing at the end. To go on with those
    /// that are there, remove that file.
    ClosedFile,
    /// The last segment is shorter than it was made, so events may be missing at its end.
    Shortened {
        /// Bytes that it was made with.
        bytes: u64,
    },
    /// The header of the oldest segment is unreadable.
    Header,
    /// The file belongs to another journal.
    OtherJournal,
    /// A frame that was readable is not readable any longer.
    Frame,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.defect {
            Defect::Synced { .. } => "synced events are unreadable",
            Defect::Closed { .. } => "events are missing that the journal had when it was closed",
            Defect::ClosedFile => "the file that says where the journal was closed is unreadable",
            Defect::Shortened { .. } => "the last segment is shorter than it was made",
            Defect::Header => "the header of the oldest segment is unreadable",
            Defect::OtherJournal => "the file belongs to another journal",
            Defect::Frame => "a frame is unreadable",
        };
        let Self { file, offset, sequence, .. } = self;
        write!(f, "{what}: file={}, offset={offset}, sequence={sequence}", file.display())?;
        match self.defect {
            Defect::Synced { synced } => write!(f, ", synced={synced}"),
            Defect::Closed { end } => write!(f, ", closed={end}"),
            Defect::Shortened { bytes } => write!(f, ", bytes={bytes}"),
            _ => Ok(()),
        }
    }
}

impl Error for Damage {}
