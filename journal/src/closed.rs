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

/// The bytes of the file. A file that is missing has zeros, like one of a journal that was never
/// closed.
pub(crate) type Bytes = [u8; LENGTH];

/// Makes the file if it does not exist, so that a close needs no space. The file is durable once
/// the folder is synced.
pub(crate) fn make(storage: &dyn Storage) -> Result<(), FileError> {
    open_or_make(storage).map(drop).map_err(file_error(storage, "make a file", name::CLOSED))
}

/// Reads the file.
pub(crate) fn read(storage: &dyn Storage) -> Result<Bytes, OpenError> {
    let mut bytes = [0; LENGTH];
    let read = match storage.open(name::CLOSED) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(bytes),
        opened => opened.and_then(|file| read_fully(&*file, &mut bytes, 0)),
    };
    read.map_err(file_error(storage, "read a file", name::CLOSED))?;
    Ok(bytes)
}

/// Writes where the journal ends. All below the end must be durable.
pub(crate) fn write(storage: &dyn Storage, closed: ClosedEnd) -> Result<(), FileError> {
    write_and_sync(storage, closed).map_err(file_error(storage, "write a file", name::CLOSED))
}

fn write_and_sync(storage: &dyn Storage, closed: ClosedEnd) -> io::Result<()> {
    let file = open_or_make(storage)?;
    file.write_at(&mut [IoSlice::new(&closed.encode())], 0)?;
    file.sync()?;
    storage.sync_folder()
}

fn open_or_make(storage: &dyn Storage) -> io::Result<Arc<dyn StorageFile>> {
    match storage.open(name::CLOSED) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            storage.create_zeros(name::CLOSED, LENGTH as u64, &Pace::urgent())
        }
        opened => opened,
    }
}
