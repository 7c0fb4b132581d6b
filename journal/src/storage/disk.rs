//! A folder of the system's file system.

use std::any::Any;
use std::fs::File;
use std::io::{self, ErrorKind, IoSlice};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::pace::Pace;
use super::{Storage, StorageFile, folders};
use crate::format::name;

/// A folder. All calls go through its descriptor. So they reach the folder that was locked, also if
/// another one gets its path, and a sync needs no further descriptor.
#[derive(Debug)]
pub(crate) struct Disk {
    path: PathBuf,
    folder: File,
}

impl Disk {
    /// Opens the folder and creates it if it does not exist.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        folders::make(path)?;
        Self::existing(path)
    }

    /// Opens a folder that exists.
    pub(crate) fn existing(path: &Path) -> io::Result<Self> {
        let folder = open_at(rustix::fs::CWD, path, FOLDER)?;
        Ok(Self { path: path.to_owned(), folder })
    }

    fn open_file(&self, name: &str, flags: OFlags) -> io::Result<File> {
        open_at(&self.folder, name.as_ref(), flags)
    }

    /// Opens a folder that exists, as one to which files are moved.
    pub(crate) fn archive(path: &Path) -> io::Result<Self> {
        folders::sync_name(path)?;
        Self::existing(path)
    }

    fn create_file(&self, name: &str) -> io::Result<OpenFile> {
        self.open_file(name, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL).map(OpenFile)
    }

    /// Gives a file its name in the archive too.
    fn link(&self, name: &str, archive: &Self) -> io::Result<()> {
        let (from, to) = (&self.folder, &archive.folder);
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
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

impl Storage for Disk {
    fn names(&self) -> io::Result<Vec<String>> {
        Ok(retry_on_intr(|| list(&self.folder))?)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        Ok(Arc::new(self.create_file(name)?))
    }

    fn create_zeros(
        &self,
        name: &str,
        bytes: u64,
        pace: &Pace,
    ) -> io::Result<Arc<dyn StorageFile>> {
        let file = self.create_file(name)?;
        if let Err(error) = allocate(&file, bytes, pace) {
            let _ = self.remove(name);
            return Err(error);
        }
        Ok(Arc::new(file))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        // A copy for inspection may be read-only.
        let file = self.open_file(name, OFlags::RDWR);
        Ok(Arc::new(OpenFile(file.or_else(|_| self.open_file(name, OFlags::RDONLY))?)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let rename = || rustix::fs::renameat(&self.folder, from, &self.folder, to);
        Ok(retry_on_intr(rename)?)
    }

    fn move_out(&self, name: &str, archive: &Self) -> io::Result<()> {
        if is_same(&self.folder, &archive.folder)? {
            return Err(exists("the archive is the folder of the journal"));
        }
        self.link(name, archive)?;
        archive.sync_folder()?;
        self.remove(name)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let remove = || rustix::fs::unlinkat(&self.folder, name, AtFlags::empty());
        Ok(retry_on_intr(remove)?)
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.folder.sync_all()
    }

    fn lock(&self) -> io::Result<Box<dyn Any + Send + Sync>> {
        // A file can be removed while it is locked, and the folder cannot. The file is for network
        // file systems, where other machines do not see the lock of a folder.
        let folder = locked(self.open_file(".", FOLDER)?)?;
        let file = locked(self.open_file(name::LOCK, OFlags::WRONLY | OFlags::CREATE)?)?;
        Ok(Box::new((folder, file)))
    }

    fn path(&self) -> &Path {
        &self.path
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

#[derive(Debug)]
struct OpenFile(File);

impl StorageFile for OpenFile {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(into, offset)
    }

    #[cfg(target_os = "linux")]
    fn write_at(&self, mut parts: &mut [IoSlice<'_>], mut offset: u64) -> io::Result<()> {
        IoSlice::advance_slices(&mut parts, 0); // drops empty parts
        while !parts.is_empty() {
            match rustix::io::pwritev(&self.0, parts, offset) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => {
                    offset += written as u64;
                    IoSlice::advance_slices(&mut parts, written);
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn write_at(&self, parts: &mut [IoSlice<'_>], mut offset: u64) -> io::Result<()> {
        for part in parts {
            self.0.write_all_at(part, offset)?;
            offset += part.len() as u64;
        }
        Ok(())
    }

    /// On macOS, the standard library asks for the full sync, which also empties the disk's cache.
    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

/// Reserves `bytes` and fills them with zeros. A write into reserved but unwritten space changes
/// the file system's tables, and each sync would write them too.
///
/// Each piece is synced, so that a sync of the journal meanwhile does not wait for the whole file.
fn allocate(file: &OpenFile, bytes: u64, pace: &Pace) -> io::Result<()> {
    reserve(&file.0, bytes)?;
    let (mut zeros, mut offset) = (Vec::new(), 0);
    while offset < bytes {
        let begun = Instant::now();
        zeros.resize(pace.piece().min(bytes - offset) as usize, 0);
        file.0.write_all_at(&zeros, offset)?;
        file.sync()?;
        offset += zeros.len() as u64;
        pace.pause(begun.elapsed());
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};

    match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Err(error) if is_lack_of_space(error) => Err(error.into()),
        // Where the file system cannot, or a signal has interrupted it, zeros reserve the space. A
        // second attempt could be interrupted too: by the timer of a profiler, without end.
        _ => Ok(()),
    }
}

#[cfg(target_os = "linux")]
fn is_lack_of_space(error: Errno) -> bool {
    matches!(error, Errno::NOSPC | Errno::DQUOT | Errno::FBIG)
}

#[cfg(not(target_os = "linux"))]
fn reserve(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// A signal during the call, or a file system that refused it in its own way, ended the ring.
    #[test]
    fn only_a_lack_of_space_ends_the_making_of_a_segment() {
        for error in [Errno::INTR, Errno::OPNOTSUPP, Errno::NOSYS, Errno::INVAL] {
            assert!(!is_lack_of_space(error), "{error}");
        }
        for error in [Errno::NOSPC, Errno::DQUOT, Errno::FBIG] {
            assert!(is_lack_of_space(error), "{error}");
        }
    }
}
