//! A folder of the system's file system.

use std::any::Any;
use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSlice};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use rustix::fs::{FlockOperation, flock};

use super::pace::Pace;
use super::{Storage, StorageFile};
use crate::format::name;

/// A folder.
#[derive(Debug)]
pub(crate) struct Disk {
    path: PathBuf,
}

impl Disk {
    /// Opens the folder and creates it if it does not exist.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        if !path.is_dir() {
            fs::create_dir_all(path)?;
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            sync_folder(parent.unwrap_or(Path::new(".")))?;
        }
        Ok(Self { path: path.to_owned() })
    }

    /// Opens a folder that exists.
    pub(crate) fn existing(path: &Path) -> io::Result<Self> {
        fs::read_dir(path)?;
        Ok(Self { path: path.to_owned() })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Storage for Disk {
    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            // A name that is not Unicode is none of the journal's.
            names.extend(entry?.file_name().into_string().ok());
        }
        Ok(names)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        Ok(Arc::new(OpenFile::create(&self.at(name))?))
    }

    fn create_zeros(
        &self,
        name: &str,
        bytes: u64,
        pace: &Pace,
    ) -> io::Result<Arc<dyn StorageFile>> {
        let file = OpenFile::create(&self.at(name))?;
        if let Err(error) = allocate(&file, bytes, pace) {
            let _ = self.remove(name);
            return Err(error);
        }
        Ok(Arc::new(file))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        let path = self.at(name);
        // A copy for inspection may be read-only.
        let file = OpenOptions::new().read(true).write(true).open(&path);
        Ok(Arc::new(OpenFile(file.or_else(|_| File::open(&path))?)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.at(from), self.at(to))
    }

    fn move_out(&self, name: &str, folder: &Path) -> io::Result<()> {
        fs::rename(self.at(name), folder.join(name))?;
        sync_folder(folder)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.at(name))
    }

    fn sync_folder(&self) -> io::Result<()> {
        sync_folder(&self.path)
    }

    fn lock(&self) -> io::Result<Box<dyn Any + Send + Sync>> {
        let path = self.at(name::LOCK);
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Box::new(file))
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

#[derive(Debug)]
struct OpenFile(File);

impl OpenFile {
    fn create(path: &Path) -> io::Result<Self> {
        OpenOptions::new().read(true).write(true).create_new(true).open(path).map(Self)
    }
}

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
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    offset += written as u64;
                    IoSlice::advance_slices(&mut parts, written);
                }
                Err(rustix::io::Errno::INTR) => {}
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
    use rustix::io::Errno;

    match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        // Zeros reserve the space where the file system cannot.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn reserve(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
