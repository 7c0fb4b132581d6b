//! A folder of the system's file system, and its files.

use std::any::Any;
use std::fs::File;
use std::io::{self, ErrorKind, IoSlice};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::open_folder::OpenFolder;
use super::pace::Pace;
use super::{Storage, StorageFile, folders};
use crate::error::FileError;
use crate::format::name;

/// A folder and its path.
#[derive(Debug)]
pub(crate) struct Disk {
    path: PathBuf,
    folder: OpenFolder,
}

impl Disk {
    /// Opens the folder and creates it if it does not exist.
    pub(crate) fn create(path: &Path) -> Result<Self, FileError> {
        Self::prepared(path, "open the folder", folders::make)
    }

    /// Opens a folder that exists.
    pub(crate) fn existing(path: &Path) -> Result<Self, FileError> {
        Self::prepared(path, "open the folder", |_| Ok(()))
    }

    /// Opens a folder that exists, as one to which files are moved.
    pub(crate) fn archive(path: &Path) -> Result<Self, FileError> {
        Self::prepared(path, "open the archive", folders::sync_name)
    }

    /// Prepares a folder, and opens it.
    fn prepared(
        path: &Path,
        action: &'static str,
        prepare: impl Fn(&Path) -> io::Result<()>,
    ) -> Result<Self, FileError> {
        let opened = prepare(path).and_then(|()| OpenFolder::open(path));
        let folder = opened.map_err(|error| FileError::new(action, path.to_owned(), error))?;
        Ok(Self { path: path.to_owned(), folder })
    }

    pub(crate) fn folder(&self) -> &OpenFolder {
        &self.folder
    }

    fn create_file(&self, name: &str) -> io::Result<OpenFile> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        self.folder.open_file(name, flags).map(OpenFile)
    }
}

impl Storage for Disk {
    fn names(&self) -> io::Result<Vec<String>> {
        self.folder.names()
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
        let open = |flags| self.folder.open_file(name, flags);
        // A copy for inspection may be read-only.
        Ok(Arc::new(OpenFile(open(OFlags::RDWR).or_else(|_| open(OFlags::RDONLY))?)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.folder.rename(from, to)
    }

    fn move_out(&self, name: &str, archive: &OpenFolder) -> io::Result<()> {
        self.folder.move_out(name, archive)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.folder.remove(name)
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.folder.sync()
    }

    fn lock(&self) -> io::Result<Box<dyn Any + Send + Sync>> {
        Ok(Box::new(self.folder.lock(name::LOCK)?))
    }

    fn path(&self) -> &Path {
        &self.path
    }
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
