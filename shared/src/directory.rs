//! Where a segment lies: a directory with its file and its pipes, in a folder that the processes
//! agree on.
//!
//! ```text
//! FOLDER/NAME.segment/memory      header, words and slots
//! FOLDER/NAME.segment/writer      the pipe that the writer holds
//! FOLDER/NAME.segment/writer-3    the pipe that one of several writers holds, on its seat
//! FOLDER/NAME.segment/seat-3      the pipe that the reader on a seat holds
//! FOLDER/.NAME.new, .NAME.old     a segment that is being made or removed
//! ```
//!
//! All that makes, opens or removes a segment runs under a lock on the folder, which the kernel
//! releases if the process dies. A segment appears and goes by a rename. Not here: what the file
//! contains (`header`, `memory`).

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{self, Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{
    FallocateFlags, FileType, FlockOperation, Mode, OFlags, fallocate, flock, mknodat, openat,
};
use rustix::io::{Errno, retry_on_intr};

use crate::fork::Kept;
use crate::protocol::seats::Side;
use crate::signals;

/// The file with the memory.
pub(crate) const MEMORY: &str = "memory";

/// The pipe that the writer holds.
pub(crate) const WRITER: &str = "writer";

/// Longest name, in bytes.
const MAX_NAME: usize = 64;

/// Time between two attempts to lock the folder.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(1);

/// Only this user may read and write.
const OWN: Mode = Mode::RUSR.union(Mode::WUSR);

/// Returns the name of the pipe of a seat.
pub(crate) fn pipe(side: Side, index: usize) -> String {
    match side {
        Side::Readers => format!("seat-{index}"),
        Side::Writers => format!("{WRITER}-{index}"),
    }
}

/// Whether a segment may have this name. It cannot lead out of the folder.
pub(crate) fn is_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    (1..=MAX_NAME).contains(&name.len()) && name.chars().all(is_allowed) && !name.starts_with('.')
}

/// Returns the folder of this user's segments: `LAPWING_DIR`, or a folder in `/dev/shm`.
pub(crate) fn usual_folder() -> PathBuf {
    match std::env::var_os("LAPWING_DIR") {
        Some(folder) if !folder.is_empty() => folder.into(),
        _ => format!("/dev/shm/lapwing-{}", rustix::process::geteuid().as_raw()).into(),
    }
}

/// Where the segment of a name lies.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    folder: PathBuf,
    name: String,
}

/// Why the folder is not locked.
#[derive(Debug)]
pub(crate) enum Refused {
    /// Another process has locked it.
    Busy,
    /// Other users may write to it.
    Foreign,
    File(io::Error),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

impl Place {
    /// The place of a segment with a valid name. It stays the same if the working directory changes.
    pub(crate) fn new(folder: &Path, name: &str) -> Self {
        let folder = path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        // Without a slash at the end, which would follow a link.
        Self { folder: folder.components().collect(), name: name.to_owned() }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns where the directory of the segment is, if there is one.
    pub(crate) fn directory(&self) -> PathBuf {
        self.folder.join(format!("{}.segment", self.name))
    }

    /// Returns where a segment is made.
    pub(crate) fn draft(&self) -> PathBuf {
        self.folder.join(format!(".{}.new", self.name))
    }

    fn trash(&self) -> PathBuf {
        self.folder.join(format!(".{}.old", self.name))
    }

    /// Makes the folder, unless it is there.
    pub(crate) fn make_folder(&self) -> io::Result<()> {
        match DirBuilder::new().recursive(true).mode(0o700).create(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        }
    }

    /// Locks the folder. Waits for another process until `limit`.
    pub(crate) fn lock(&self, limit: Duration) -> Result<Locked<'_>, Refused> {
        let start = Instant::now();
        loop {
            let file = self.open_folder()?;
            match flock(file.file(), FlockOperation::NonBlockingLockExclusive) {
                // Another process may have removed the folder and made it again.
                Ok(()) if self.is_folder(file.file())? => {
                    return Ok(Locked { place: self, _file: file });
                }
                Ok(()) | Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) if start.elapsed() < limit => sleep(BETWEEN_ATTEMPTS),
                Err(Errno::WOULDBLOCK) => return Err(Refused::Busy),
                Err(error) => return Err(Refused::File(error.into())),
            }
        }
    }

    fn open_folder(&self) -> Result<Kept, Refused> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = || retry_on_intr(|| rustix::fs::open(&self.folder, flags, Mode::empty()));
        let file = Kept::open(|| Ok(open()?.into()))?;
        let metadata = file.file().metadata()?;
        let is_closed_to_others = metadata.permissions().mode() & 0o022 == 0;
        if is_own(metadata.uid()) && is_closed_to_others { Ok(file) } else { Err(Refused::Foreign) }
    }

    /// Whether `file` is the folder that has the name now.
    fn is_folder(&self, file: &File) -> io::Result<bool> {
        let (open, named) = (file.metadata()?, fs::symlink_metadata(&self.folder)?);
        Ok((open.dev(), open.ino()) == (named.dev(), named.ino()))
    }
}

fn is_own(uid: u32) -> bool {
    uid == rustix::process::geteuid().as_raw()
}

/// The right to make, open and remove segments in the folder.
#[derive(Debug)]
pub(crate) struct Locked<'a> {
    place: &'a Place,
    _file: Kept,
}

impl Locked<'_> {
    /// Removes what a process left that died while it made or removed this segment.
    pub(crate) fn remove_leftovers(&self) -> io::Result<()> {
        remove(&self.place.draft())?;
        remove(&self.place.trash())
    }

    /// Makes an empty directory in which a segment is made.
    pub(crate) fn make_draft(&self) -> io::Result<Directory> {
        DirBuilder::new().mode(0o700).create(self.place.draft())?;
        Directory::open_at(&self.place.draft())
    }

    /// Gives a segment that was made its name. There is no other segment of this name.
    pub(crate) fn publish_draft(&self) -> io::Result<()> {
        fs::rename(self.place.draft(), self.place.directory())
    }

    /// Opens the directory of the segment; `None` if there is none.
    pub(crate) fn open(&self) -> io::Result<Option<Directory>> {
        match Directory::open_at(&self.place.directory()) {
            Ok(directory) => Ok(Some(directory)),
            // Something else has the name, which `remove` removes.
            Err(error) if is_none(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes the segment, or a file that has its name. Processes that have it mapped keep its memory.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::DirectoryNotEmpty`] if the directory has files that no segment has.
    pub(crate) fn remove(&self) -> io::Result<()> {
        if has_other_files(&self.place.directory()) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        remove(&self.place.trash())?;
        match fs::rename(self.place.directory(), self.place.trash()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
            Ok(()) => remove(&self.place.trash()),
        }
    }
}

/// Whether a directory has files that no segment has.
fn has_other_files(directory: &Path) -> bool {
    let is_own = |name: &str| {
        [MEMORY, WRITER].contains(&name)
            || ["seat-", "writer-"].iter().any(|pipe| name.starts_with(pipe))
    };
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).any(|name| !name.to_str().is_some_and(is_own))
}

/// Whether a path leads to no directory.
fn is_none(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        || error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

/// Removes a directory, or whatever else has its name.
fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => fs::remove_file(path),
        removed => removed,
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// The open directory of a segment, which stays the same when it is renamed.
#[derive(Debug)]
pub(crate) struct Directory(OwnedFd);

impl Directory {
    fn open_at(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))?;
        Ok(Self(directory))
    }

    /// Whether both are the directory of the same segment, and not of a later one of its name.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let of = |directory: &Self| {
            rustix::fs::fstat(&directory.0).map(|stat| (stat.st_dev, stat.st_ino))
        };
        matches!((of(self), of(other)), (Ok(one), Ok(other)) if one == other)
    }

    /// Opens a file or a pipe.
    pub(crate) fn open(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(retry_on_intr(|| openat(&self.0, name, flags, Mode::empty()))?.into())
    }

    /// Makes a file with as many bytes, which are zeros. Its memory is reserved: without that, a
    /// store to a file system that is full would end the process. One call for all of it: the
    /// system refuses what does not fit before it takes any.
    pub(crate) fn make_file(&self, name: &str, bytes: usize) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file: File = retry_on_intr(|| openat(&self.0, name, flags, OWN))?.into();
        // A signal may undo what it interrupts, on older kernels.
        let reserve = || fallocate(&file, FallocateFlags::empty(), 0, bytes as u64);
        signals::blocked(|| retry_on_intr(reserve))?;
        Ok(file)
    }

    /// Makes a pipe that no process holds.
    pub(crate) fn make_pipe(&self, name: &str) -> io::Result<()> {
        Ok(mknodat(&self.0, name, FileType::Fifo, OWN, 0)?)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_folder() {
        for name in ["ticks", "market-data_2", "v1.2", &"x".repeat(MAX_NAME)] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", ".", "..", ".x", "a/b", "/a", "a\0", "a b", "ä", &"x".repeat(MAX_NAME + 1)]
        {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn a_second_process_waits_for_the_lock_and_gives_up() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let place = Place::new(folder.path(), "a");
        let first = place.lock(Duration::ZERO).unwrap();
        assert!(matches!(place.lock(Duration::from_millis(5)), Err(Refused::Busy)));
        drop(first);
        assert!(place.lock(Duration::ZERO).is_ok());
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(place.lock(Duration::ZERO), Err(Refused::Foreign)));
    }
}
