//! Damage: bytes that were synced and are not readable.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use lapwing::Sequence;

/// Events that were synced and are not readable.
///
/// A journal with damage is not opened, and nothing in it is changed. Restore the file from a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// A frame is unreadable, and a later one says that its events were synced up to `synced`.
    Synced {
        /// The end of what was synced.
        synced: Sequence,
    },
    /// The header of the oldest segment is unreadable.
    Header,
    /// The segment belongs to another journal.
    OtherJournal,
    /// A frame that was readable is not readable any longer.
    Frame,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.defect {
            Defect::Synced { .. } => "synced events are unreadable",
            Defect::Header => "the header of the oldest segment is unreadable",
            Defect::OtherJournal => "the segment belongs to another journal",
            Defect::Frame => "a frame is unreadable",
        };
        let Self { file, offset, sequence, .. } = self;
        write!(f, "{what}: file={}, offset={offset}, sequence={sequence}", file.display())?;
        if let Defect::Synced { synced } = self.defect {
            write!(f, ", synced={synced}")?;
        }
        Ok(())
    }
}

impl Error for Damage {}
