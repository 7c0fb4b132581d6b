//! Makes the file of a ring, completes it once the ring is made, and removes it with the ring.
//!
//! The process holds a lock on the file as long as it has the ring. The kernel releases the lock when the
//! process ends, however it ends, so a file without a lock is a remnant. Unlike the number of a process,
//! the lock is never that of another one. A child that was forked and has not called `exec` shares it.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{io, path, process};

use lapwing_core::{Mapping, Words};
use rustix::fs::{FallocateFlags, FlockOperation, OFlags, fallocate, flock};
use rustix::io::{Errno, retry_on_intr};

use super::folder::{file_name, file_names, folder, parts_of};
use super::format::{Description, Header, MAX_DESCRIPTION, VERSION};
use super::layout::WORDS;
use crate::error::BuildError;
use crate::observable_name::is_name;

/// How often a name that another process has taken meanwhile is replaced by the next one.
const ATTEMPTS: u32 = 100;

/// The number of the next file of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The file of a ring that has been made. Dropping it removes the file.
#[derive(Debug)]
pub(crate) struct OwnFile {
    /// Holds the lock.
    file: File,
    path: PathBuf,
}

/// The file of a ring that is being made: it has room for the words, and no header. Dropping it removes
/// the file.
pub(crate) struct Draft {
    file: OwnFile,
    end_of_words: usize,
}

impl Draft {
    /// Makes a file for a ring whose words end at `end_of_words`, and removes the files that dead
    /// processes left under this name. Returns the place of the words too.
    ///
    /// # Errors
    ///
    /// [`BuildError::ObservableName`] or [`BuildError::ObservableFile`].
    pub(crate) fn new(name: &str, end_of_words: usize) -> Result<(Self, Words), BuildError> {
        if !is_name(name) {
            return Err(BuildError::ObservableName { name: name.to_owned() });
        }
        let folder = absolute(&folder());
        let file = make_folder(&folder).and_then(|()| {
            remove_remnants(&folder, name)?;
            OwnFile::create(&folder, name)
        });
        let file = file.map_err(|error| BuildError::of_file(&folder, &error))?;
        let mapping = file.reserve(end_of_words).and_then(|()| {
            // SAFETY: I19: the file is new, has as many bytes, and is mapped here only. What is written
            // to it later lies beside the words.
            unsafe { Mapping::shared(&file.file, end_of_words) }
        });
        let mapping = mapping.map_err(|error| BuildError::of_file(&file.path, &error))?;
        Ok((Self { file, end_of_words }, Words::mapped(mapping, WORDS)))
    }

    /// Completes the file of a ring that has been made.
    ///
    /// # Errors
    ///
    /// [`BuildError::ObservableFile`].
    pub(crate) fn publish(self, description: &Description) -> Result<OwnFile, BuildError> {
        let bytes = description.encode();
        let header = Header {
            version: VERSION,
            pid: process::id(),
            began: began(process::id()).unwrap_or(0),
            made_at: now(),
            description: self.end_of_words as u64,
            description_bytes: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            is_closed: false,
        };
        match self.file.write(&header.encode(), &bytes, self.end_of_words as u64) {
            Err(error) => Err(BuildError::of_file(&self.file.path, &error)),
            Ok(()) => Ok(self.file),
        }
    }
}

impl OwnFile {
    /// Creates and locks a file that no other process has.
    fn create(folder: &Path, name: &str) -> io::Result<Self> {
        let mut refused = io::Error::from(io::ErrorKind::AlreadyExists);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        for _ in 0..ATTEMPTS {
            let number = NEXT.fetch_add(1, Ordering::Relaxed); // O13, Relaxed: only unique
            let path = folder.join(file_name(name, process::id(), number));
            match options.open(&path) {
                Ok(file) => {
                    let file = Self { file, path };
                    lock(&file.file)?;
                    // Another process may have removed it as a remnant before it was locked.
                    if file.file.metadata()?.nlink() > 0 {
                        return Ok(file);
                    }
                }
                // A process of another namespace has the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => refused = error,
                Err(error) => return Err(error),
            }
        }
        Err(refused)
    }

    /// Reserves memory for `bytes`. Without it, a store to a file system that is full would end the
    /// process.
    fn reserve(&self, bytes: usize) -> io::Result<()> {
        let none = FallocateFlags::empty();
        Ok(retry_on_intr(|| fallocate(&self.file, none, 0, bytes as u64))?)
    }

    /// Writes the description, then the header, and its magic last.
    fn write(&self, header: &[u8], description: &[u8], at: u64) -> io::Result<()> {
        if description.len() > MAX_DESCRIPTION {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.file.write_all_at(description, at)?;
        let (magic, rest) = header.split_at(Header::MAGIC_BYTES);
        self.file.write_all_at(rest, magic.len() as u64)?;
        self.file.write_all_at(magic, 0)
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        // Observers that have the file see that the ring was dropped, and not that its process died. An
        // error leaves a remnant, which the next ring of this name removes.
        let _ = self.file.write_all_at(&[1], Header::CLOSED_AT);
        let _ = fs::remove_file(&self.path);
    }
}

/// Makes the folder unless it is there. Refuses one in which another user may create or replace files.
fn make_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().recursive(true).mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let metadata = fs::symlink_metadata(folder)?;
    let is_closed_to_others = metadata.permissions().mode() & 0o022 == 0;
    if metadata.is_dir() && is_own(&metadata) && is_closed_to_others {
        Ok(())
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

fn is_own(metadata: &Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw()
}

/// Returns the folder as the program finds it later too, from any working directory.
fn absolute(folder: &Path) -> PathBuf {
    let folder = path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    folder.components().collect() // without a slash at the end, which would follow a link
}

/// Removes the files of this name whose processes have ended.
fn remove_remnants(folder: &Path, name: &str) -> io::Result<()> {
    for file in file_names(folder)? {
        let is_of_name = parts_of(&file).is_some_and(|(of, ..)| of == name);
        let path = folder.join(&file);
        // A file that another process has just removed is no error.
        if is_of_name
            && let Ok(opened) = open(&path)
            && flock(&opened, FlockOperation::NonBlockingLockExclusive).is_ok()
            && opened.metadata()?.nlink() > 0
        {
            let _ = fs::remove_file(&path);
        }
    }
    Ok(())
}

/// Opens a file for reading. Does not wait for the other end of a pipe.
///
/// # Errors
///
/// What the system says. [`io::ErrorKind::InvalidInput`] if it is no regular file.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Whether the process has let go of the ring.
///
/// # Errors
///
/// What the system says.
pub(crate) fn is_closed(file: &File) -> io::Result<bool> {
    let mut closed = [0];
    file.read_exact_at(&mut closed, Header::CLOSED_AT)?;
    Ok(closed != [0])
}

/// Refuses a folder of another user.
///
/// # Errors
///
/// What the system says, and [`io::ErrorKind::PermissionDenied`].
pub(crate) fn check_owner(folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(metadata) if !is_own(&metadata) => Err(io::ErrorKind::PermissionDenied.into()),
        _ => Ok(()),
    }
}

/// Locks a new file. Another process may hold the lock for a moment, to find out whether it is free.
fn lock(file: &File) -> io::Result<()> {
    Ok(retry_on_intr(|| flock(file, FlockOperation::LockExclusive))?)
}

/// Whether a process holds the lock of the ring's file.
///
/// # Errors
///
/// What the system says.
pub(crate) fn holds_lock(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => {
            flock(file, FlockOperation::Unlock)?;
            Ok(false)
        }
        Err(Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// The time in nanoseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// When a process began, in clock ticks since the machine started.
pub(crate) fn began(pid: u32) -> Option<u64> {
    stat_of(pid)?.1
}

/// Returns the state of a process, such as `T` for one that is stopped, and when it began.
pub(crate) fn stat_of(pid: u32) -> Option<(char, Option<u64>)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in parentheses, may contain anything.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(18).and_then(|field| field.parse().ok())))
}
