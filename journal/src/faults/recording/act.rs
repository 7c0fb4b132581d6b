//! What a call does to files and folders, and when.

use std::path::PathBuf;

/// A number for each file that was made.
pub(super) type RecordedFile = u64;

#[derive(Debug)]
pub(super) struct Event {
    pub(super) act: Act,
    /// The lines of its begin and of its end.
    pub(super) begun: usize,
    pub(super) ended: usize,
    /// False if the program was ended during the call.
    pub(super) is_over: bool,
}

#[derive(Debug)]
pub(super) enum Act {
    Link { path: PathBuf, file: RecordedFile },
    Unlink { path: PathBuf, file: RecordedFile },
    Write { file: RecordedFile, offset: u64, bytes: Vec<u8> },
    Extend { file: RecordedFile, length: u64 },
    Sync { file: RecordedFile },
    SyncFolder { path: PathBuf },
    MakeFolder { path: PathBuf },
    Send { number: i64, bytes: Vec<u8> },
}

impl Event {
    /// When the call has its effect, if it has one before `moment`. A sync that has returned covers
    /// what had ended when it began. Another call may have its effect once it has begun.
    pub(super) fn position(&self, moment: usize) -> Option<usize> {
        match self.act {
            Act::Sync { .. } | Act::SyncFolder { .. } => {
                (self.is_over && self.ended <= moment).then_some(self.begun)
            }
            _ => (self.begun <= moment).then_some(self.ended.min(moment)),
        }
    }
}
