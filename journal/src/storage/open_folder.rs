//! A folder of the system, by its descriptor. Not here: how a folder is made (`folders`).

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

/// A folder. All calls go through its descriptor. So they reach the folder that was locked, also if
/// another one gets its path, and a sync needs no further descriptor.
#[derive(Debug)]
pub(crate) struct OpenFolder(File);

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

impl OpenFolder {
    /// Opens a folder that exists.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(open_at(rustix::fs::CWD, path, FOLDER)?))
    }

    pub(super) fn names(&self) -> io::Result<Vec<String>> {
        Ok(retry_on_intr(|| list(&self.0))?)
    }

    pub(super) fn open_file(&self, name: &str, flags: OFlags) -> io::Result<File> {
        open_at(&self.0, name.as_ref(), flags)
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(retry_on_intr(|| rustix::fs::renameat(&self.0, from, &self.0, to))?)
    }

    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(retry_on_intr(|| rustix::fs::unlinkat(&self.0, name, AtFlags::empty()))?)
    }

    /// Makes creations, renames and removals durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.0.sync_all()
    }

    /// Moves a file to the archive. It is durable there before it is removed here.
    pub(super) fn move_out(&self, name: &str, archive: &Self) -> io::Result<()> {
        if is_same(&self.0, &archive.0)? {
            return Err(exists("the archive is the folder of the journal"));
        }
        self.link(name, archive)?;
        archive.sync()?;
        self.remove(name)
    }

    /// Gives a file its name in the archive too.
    fn link(&self, name: &str, archive: &Self) -> io::Result<()> {
        let (from, to) = (&self.0, &archive.0);
        match retry_on_intr(|| rustix::fs::linkat(from, name, to, name, AtFlags::empty())) {
            // A crash has ended the last attempt after this step.
            Err(Errno::EXIST) if self.shares(name, archive)? => Ok(()),
            Err(Errno::EXIST) => Err(exists("the archive has another file of this name")),
            linked => Ok(linked?),
        }
    }

    /// Returns whether a name belongs to the same file in both folders.
    fn shares(&self, name: &str, other: &Self) -> io::Result<bool> {
        let open = |folder: &Self| folder.open_file(name, OFlags::RDONLY);
        is_same(&open(self)?, &open(other)?)
    }

    /// Locks the folder and the file `name` in it until both are closed.
    pub(super) fn lock(&self, name: &str) -> io::Result<(File, File)> {
        // A file can be removed while it is locked, and the folder cannot. The file is for network
        // file systems, where other machines do not see the lock of a folder.
        let folder = locked(self.open_file(".", FOLDER)?)?;
        let file = locked(self.open_file(name, OFlags::WRONLY | OFlags::CREATE)?)?;
        Ok((folder, file))
    }
}

fn list(folder: &File) -> rustix::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        // A name that is not Unicode is none of the journal's.
        names.extend(entry?.file_name().to_str().ok().map(String::from));
    }
    Ok(names)
}

/// Opens a file or a folder.
fn open_at(folder: impl AsFd, path: &Path, flags: OFlags) -> io::Result<File> {
    let mode = Mode::from_raw_mode(0o666);
    let open = || rustix::fs::openat(&folder, path, flags | OFlags::CLOEXEC, mode);
    Ok(retry_on_intr(open)?.into())
}

/// Locks a file or a folder until it is closed.
fn locked(file: File) -> io::Result<File> {
    retry_on_intr(|| rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive))?;
    Ok(file)
}

fn exists(what: &'static str) -> io::Error {
    io::Error::new(ErrorKind::AlreadyExists, what)
}

/// Returns whether both are the same file or folder.
fn is_same(one: &File, other: &File) -> io::Result<bool> {
    let (one, other) = (one.metadata()?, other.metadata()?);
    Ok((one.dev(), one.ino()) == (other.dev(), other.ino()))
}
