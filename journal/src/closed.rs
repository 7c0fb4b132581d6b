//! The file that says where the journal ended when it was last closed. It is a second place for
//! what the mark of a clean close says: a segment that is shortened, removed or replaced takes its
//! mark with it. Not here: the comparison with the segments (`recovery/survey`).
//!
//! The end that it has stays true while more is written, because it is a lower bound. So nothing
//! changes the file until the next close.

use std::io::{self, ErrorKind, IoSlice};
use std::sync::Arc;

use crate::error::{FileError, OpenError};
use crate::format::closed::{ClosedEnd, LENGTH};
use crate::format::name;
use crate::storage::pace::Pace;
use crate::storage::{Storage, StorageFile, file_error, read_fully};

/// Opens the file, or makes it. Its name is durable once the folder is synced. It stays open, so
/// that a close needs neither space nor a descriptor.
pub(crate) fn open(storage: &dyn Storage) -> Result<Arc<dyn StorageFile>, FileError> {
    let opened = match storage.open(name::CLOSED) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            storage.create_zeros(name::CLOSED, LENGTH as u64, &Pace::urgent())
        }
        opened => opened,
    };
    opened.map_err(file_error(storage, "open a file", name::CLOSED))
}

/// Returns what there is of the file: nothing if it is missing.
pub(crate) fn read(storage: &dyn Storage) -> Result<Vec<u8>, OpenError> {
    let mut bytes = vec![0; LENGTH];
    let read = match storage.open(name::CLOSED) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
        opened => opened.and_then(|file| read_fully(&*file, &mut bytes, 0)),
    };
    bytes.truncate(read.map_err(file_error(storage, "read a file", name::CLOSED))?);
    Ok(bytes)
}

/// Writes where the journal ends. All below the end must be durable.
pub(crate) fn write(file: &dyn StorageFile, closed: ClosedEnd) -> io::Result<()> {
    file.write_at(&mut [IoSlice::new(&closed.encode())], 0)?;
    file.sync()
}
