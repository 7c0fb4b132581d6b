//! A simulated disk: it loses, tears and reorders unsynced writes when the power is cut, fails
//! syncs and writes, and runs out of space. For tests of programs that use a journal.
//!
//! It keeps two contents of each file: what a program reads, and what the disk has. A write changes
//! the first. A sync brings the writes to the disk. A power cut brings any of the sectors of
//! unsynced writes there and drops the rest. The same holds for the names of files and a sync of
//! the folder.
//!
//! ```
//! use lapwing_journal::faults::{Crash, Loss, SimulatedDisk};
//! use lapwing_journal::{Options, Plain};
//!
//! let (disk, options) = (SimulatedDisk::new(), Options::new().segment_bytes(4096));
//! let journal = options.clone().open_simulated::<u64, Plain>(&disk)?;
//! let mut writer = journal.writer();
//! writer.write(&[7], 0)?;
//! journal.sync()?;
//! writer.write(&[8], 1)?; // not synced
//! disk.crash(Crash::Power { seed: 1, loss: Loss::All });
//!
//! let journal = options.clone().open_simulated::<u64, Plain>(&disk)?;
//! assert_eq!(journal.next_sequence(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod file; // the contents of one file
mod folder; // the names
mod random; // which writes survive

use std::any::Any;
use std::collections::BTreeMap;
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use self::file::Contents;
use self::folder::{Change, Folder};
use self::random::Random;
use crate::storage::pace::Pace;
use crate::storage::{Storage, StorageFile};
use crate::syncing::lock;

/// What ends a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// The program is killed. Its writes stay.
    Process,
    /// The power is cut. Unsynced writes are lost as `loss` says, chosen by `seed`.
    Power {
        /// Seed of the choice.
        seed: u64,
        /// What is lost.
        loss: Loss,
    },
}

/// What a power cut does to unsynced writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// All are lost.
    All,
    /// The first ones are kept, and the one after them is torn.
    Torn,
    /// Each sector of each write is kept or lost.
    Sectors,
    /// None is lost.
    None,
}

/// A disk in memory. Clones share it. A crash ends each journal that is open on it.
#[derive(Debug, Clone, Default)]
pub struct SimulatedDisk {
    world: Arc<Mutex<World>>,
}

#[derive(Debug, Default)]
struct World {
    /// Number of crashes. What was opened before the last one is of no use.
    crashes: u64,
    folder: Folder,
    files: BTreeMap<FileId, Contents>,
    next_file: FileId,
    is_locked: bool,
    failing_syncs: u32,
    failing_folder_syncs: u32,
    /// Bytes that the next write keeps before it fails.
    failing_write: Option<usize>,
    /// Bytes that all files may have together.
    space: Option<u64>,
    /// How often there was not enough of it.
    times_full: u64,
    random: Random,
}

type FileId = u64;

impl SimulatedDisk {
    /// Returns an empty disk.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends what is open on the disk. Its further calls fail.
    pub fn crash(&self, crash: Crash) {
        let mut world = lock(&self.world);
        world.crashes += 1;
        world.is_locked = false;
        (world.failing_syncs, world.failing_write) = (0, None);
        world.failing_folder_syncs = 0;
        if let Crash::Power { seed, loss } = crash {
            world.random = Random::new(seed);
            world.cut_power(loss);
        }
    }

    /// Makes the next `count` syncs of files fail. As with a real disk, what a failed sync has not
    /// written stays readable and is never written again.
    pub fn fail_syncs(&self, count: u32) {
        lock(&self.world).failing_syncs = count;
    }

    /// Makes the next `count` syncs of the folder fail. Names that were not durable stay so.
    pub fn fail_folder_syncs(&self, count: u32) {
        lock(&self.world).failing_folder_syncs = count;
    }

    /// Makes the next write fail after `kept` bytes of it.
    pub fn fail_write(&self, kept: usize) {
        lock(&self.world).failing_write = Some(kept);
    }

    /// Sets how many bytes all files may have together. `None` is no limit. A write that finds too
    /// little space keeps what fits, as with a real disk.
    pub fn set_space(&self, bytes: Option<u64>) {
        lock(&self.world).space = bytes;
    }

    /// Returns how often a call has found too little space.
    #[must_use]
    pub fn times_full(&self) -> u64 {
        lock(&self.world).times_full
    }

    /// Returns the names of all files, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        lock(&self.world).folder.names()
    }

    /// Returns what a program reads from a file.
    #[must_use]
    pub fn contents(&self, name: &str) -> Option<Vec<u8>> {
        let world = lock(&self.world);
        let file = world.folder.find(name)?;
        Some(world.files[&file].read().to_vec())
    }

    /// Changes a byte of a file, also on the disk.
    ///
    /// # Panics
    ///
    /// Panics if there is no such file or byte.
    pub fn damage(&self, name: &str, offset: usize) {
        let mut world = lock(&self.world);
        let file = world.folder.find(name).expect("the file exists");
        world.files.get_mut(&file).expect("a name has a file").damage(offset);
    }

    /// Removes a file, also on the disk.
    ///
    /// # Panics
    ///
    /// Panics if there is no such file.
    pub fn remove(&self, name: &str) {
        let mut world = lock(&self.world);
        world.find(name).expect("the file exists");
        world.folder.change(Change::Remove(name.into()));
        world.folder.sync();
    }

    pub(crate) fn storage(&self) -> Arc<dyn Storage> {
        let crashes = lock(&self.world).crashes;
        Arc::new(View { world: Arc::clone(&self.world), crashes, path: "/simulated".into() })
    }
}

impl World {
    fn cut_power(&mut self, loss: Loss) {
        self.folder.cut_power(loss, &mut self.random);
        let folder = &self.folder;
        self.files.retain(|&file, _| folder.has(file));
        for file in self.files.values_mut() {
            file.cut_power(loss, &mut self.random);
        }
    }

    fn create(&mut self, name: &str, bytes: u64) -> io::Result<FileId> {
        if self.folder.find(name).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.take_space(bytes)?;
        let file = self.next_file;
        self.next_file += 1;
        self.files.insert(file, Contents::zeros(bytes as usize));
        self.folder.change(Change::Create(name.into(), file));
        Ok(file)
    }

    /// Fails if all files together cannot have `more` bytes.
    fn take_space(&mut self, more: u64) -> io::Result<()> {
        if more > self.free_space() {
            self.times_full += 1;
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    /// Cuts what will be written to a file to what fits, and fails if that is not all.
    fn fit(&mut self, file: FileId, offset: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
        let length = self.files.get(&file).map_or(0, |file| file.read().len() as u64);
        let more = (offset + bytes.len() as u64).saturating_sub(length);
        if more == 0 {
            return Ok(());
        }
        let found = self.take_space(more);
        if found.is_err() {
            let end = length + self.free_space();
            bytes.truncate(end.saturating_sub(offset) as usize);
        }
        found
    }

    /// Bytes that all files together may have more. A file that was removed takes none.
    fn free_space(&self) -> u64 {
        let files = self.folder.files().map(|file| self.files[&file].read().len() as u64);
        self.space.map_or(u64::MAX, |space| space.saturating_sub(files.sum::<u64>()))
    }

    fn find(&self, name: &str) -> io::Result<FileId> {
        self.folder.find(name).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Frees the space of files without a name.
    fn free(&mut self) {
        let folder = &self.folder;
        self.files.retain(|&file, _| folder.has(file));
    }
}

/// The disk as a program sees it, until the next crash.
#[derive(Debug, Clone)]
struct View {
    world: Arc<Mutex<World>>,
    crashes: u64,
    path: PathBuf,
}

impl View {
    fn act<T>(&self, act: impl FnOnce(&mut World) -> io::Result<T>) -> io::Result<T> {
        let mut world = lock(&self.world);
        if world.crashes != self.crashes {
            return Err(io::Error::other("the program was ended by a crash"));
        }
        act(&mut world)
    }
}

impl Storage for View {
    fn names(&self) -> io::Result<Vec<String>> {
        self.act(|world| Ok(world.folder.names()))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        self.create_zeros(name, 0, &Pace::urgent())
    }

    fn create_zeros(&self, name: &str, bytes: u64, _: &Pace) -> io::Result<Arc<dyn StorageFile>> {
        let file = self.act(|world| world.create(name, bytes))?;
        Ok(Arc::new(OpenFile { view: self.clone(), file }))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        let file = self.act(|world| world.find(name))?;
        Ok(Arc::new(OpenFile { view: self.clone(), file }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.act(|world| {
            world.find(from)?;
            world.folder.change(Change::Rename(from.into(), to.into()));
            Ok(())
        })
    }

    fn move_out(&self, name: &str, _: &Path) -> io::Result<()> {
        self.remove(name)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.act(|world| {
            world.find(name)?;
            world.folder.change(Change::Remove(name.into()));
            world.free();
            Ok(())
        })
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.act(|world| {
            if world.failing_folder_syncs > 0 {
                world.failing_folder_syncs -= 1;
                return Err(io::Error::other("a sync of the folder that fails"));
            }
            world.folder.sync();
            world.free();
            Ok(())
        })
    }

    fn lock(&self) -> io::Result<Box<dyn Any + Send + Sync>> {
        self.act(|world| {
            if std::mem::replace(&mut world.is_locked, true) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            Ok(())
        })?;
        Ok(Box::new(Lock(self.clone())))
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

/// The lock of the folder. A crash has released it.
struct Lock(View);

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.0.act(|world| {
            world.is_locked = false;
            Ok(())
        });
    }
}

#[derive(Debug)]
struct OpenFile {
    view: View,
    file: FileId,
}

impl OpenFile {
    fn act<T>(
        &self,
        act: impl FnOnce(&mut Contents, &mut Random) -> io::Result<T>,
    ) -> io::Result<T> {
        self.view.act(|world| {
            let file = world.files.get_mut(&self.file).ok_or(io::ErrorKind::NotFound)?;
            act(file, &mut world.random)
        })
    }
}

impl StorageFile for OpenFile {
    fn bytes(&self) -> io::Result<u64> {
        self.act(|file, _| Ok(file.read().len() as u64))
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.act(|file, _| {
            let left = file.read().get(offset as usize..).unwrap_or_default();
            let length = left.len().min(into.len());
            into[..length].copy_from_slice(&left[..length]);
            Ok(length)
        })
    }

    fn write_at(&self, parts: &mut [IoSlice<'_>], offset: u64) -> io::Result<()> {
        let mut bytes: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        self.view.act(|world| {
            let failing = world.failing_write.take();
            bytes.truncate(failing.unwrap_or(usize::MAX));
            let found = world.fit(self.file, offset, &mut bytes);
            let file = world.files.get_mut(&self.file).ok_or(io::ErrorKind::NotFound)?;
            file.write(offset as usize, bytes);
            found?;
            failing.map_or(Ok(()), |_| Err(io::Error::other("a write that fails")))
        })
    }

    fn sync(&self) -> io::Result<()> {
        let fails = self.view.act(|world| {
            let fails = world.failing_syncs > 0;
            world.failing_syncs = world.failing_syncs.saturating_sub(1);
            Ok(fails)
        })?;
        self.act(|file, random| {
            if fails {
                file.fail_sync(random);
                return Err(io::Error::other("a sync that fails"));
            }
            file.sync();
            Ok(())
        })
    }
}
