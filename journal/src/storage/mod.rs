//! What a journal asks of a disk. Not here: the simulated disk (`faults`).

mod folders; // folders whose names survive a power cut
mod open_folder; // a folder by its descriptor
pub(crate) mod pace; // how fast a file of zeros is written

pub(crate) mod disk; // the disk of the system

use std::any::Any;
use std::fmt::Debug;
use std::io::{self, IoSlice};
use std::path::Path;
use std::sync::Arc;

pub(crate) use open_folder::OpenFolder;

use self::pace::Pace;
use crate::error::FileError;

/// A folder that holds a journal. Names are those of files in it.
pub(crate) trait Storage: Debug + Send + Sync {
    /// The names of all files.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Makes an empty file. The file must not exist.
    fn create(&self, name: &str) -> io::Result<Arc<dyn StorageFile>>;

    /// Makes a file of zeros, with its space reserved. The file must not exist.
    fn create_zeros(&self, name: &str, bytes: u64, pace: &Pace)
    -> io::Result<Arc<dyn StorageFile>>;

    /// Opens a file to read and write it.
    fn open(&self, name: &str) -> io::Result<Arc<dyn StorageFile>>;

    /// Renames a file, in place of another one with that name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Moves a file to a folder outside of the journal. It is durable there before it is removed
    /// here. Another file of that name there is an error of the kind
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists), and so is the folder itself.
    fn move_out(&self, name: &str, archive: &OpenFolder) -> io::Result<()>;

    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes creations, renames and removals durable.
    fn sync_folder(&self) -> io::Result<()>;

    /// Locks the folder until the value is dropped. The error is of the kind
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if another process has it.
    fn lock(&self) -> io::Result<Box<dyn Any + Send + Sync>>;

    /// The folder, for messages.
    fn path(&self) -> &Path;
}

/// An open file.
pub(crate) trait StorageFile: Debug + Send + Sync {
    fn bytes(&self) -> io::Result<u64>;

    /// Reads up to `into.len()` bytes. 0 is the end of the file.
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes all of `parts`, one after the other. After an error, some of the bytes may be
    /// written.
    fn write_at(&self, parts: &mut [IoSlice<'_>], offset: u64) -> io::Result<()>;

    /// Makes what was written durable, and the length with it.
    fn sync(&self) -> io::Result<()>;
}

/// Names the file in the error of a call. An empty name is the folder itself.
pub(crate) fn file_error(
    storage: &dyn Storage,
    action: &'static str,
    name: &str,
) -> impl FnOnce(io::Error) -> FileError {
    let file = if name.is_empty() { storage.path().to_owned() } else { storage.path().join(name) };
    move |error| FileError::new(action, file, error)
}

/// Reads until `into` is full or the file ends. Returns the number of bytes.
pub(crate) fn read_fully(
    file: &dyn StorageFile,
    into: &mut [u8],
    offset: u64,
) -> io::Result<usize> {
    let mut filled = 0;
    while filled < into.len() {
        match file.read_at(&mut into[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
