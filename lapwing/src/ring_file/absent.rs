//! Where rings have no files: on systems other than Linux.

use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::path::Path;

use lapwing_core::Words;

use super::folder::folder;
use super::format::Description;
use crate::error::BuildError;
use crate::observable_name::is_name;

/// The file of a ring, which cannot exist here.
#[derive(Debug)]
pub(crate) struct OwnFile(Infallible);

/// The file of a ring that is being made, which cannot exist here.
pub(crate) struct Draft(Infallible);

impl Draft {
    /// Refuses.
    pub(crate) fn new(name: &str, _: usize) -> Result<(Self, Words), BuildError> {
        if !is_name(name) {
            return Err(BuildError::ObservableName { name: name.to_owned() });
        }
        Err(BuildError::of_file(&folder(), &io::ErrorKind::Unsupported.into()))
    }

    pub(crate) fn publish(self, _: &Description) -> Result<OwnFile, BuildError> {
        match self.0 {}
    }
}

/// Refuses.
pub(crate) fn holds_lock(_: &File) -> io::Result<bool> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns nothing about a process.
pub(crate) fn stat_of(_: u32) -> Option<(char, Option<u64>)> {
    None
}

/// Refuses.
pub(crate) fn open(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Refuses.
pub(crate) fn is_closed(_: &File) -> io::Result<bool> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Refuses nothing.
pub(crate) fn check_owner(_: &Path) -> io::Result<()> {
    Ok(())
}
