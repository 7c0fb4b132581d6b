//! The state of a simulated disk. Not here: its names (`folder`), the contents of a file (`file`),
//! and how programs see it (`view`).

use std::collections::BTreeMap;
use std::io;

use super::file::Contents;
use super::folder::Folder;
use super::random::Random;
use super::{Crash, Loss};

pub(super) type FileId = u64;

#[derive(Debug, Default)]
pub(super) struct World {
    /// Number of crashes. What was opened before the last one is of no use.
    pub(super) crashes: u64,
    pub(super) folder: Folder,
    files: BTreeMap<FileId, File>,
    next_file: FileId,
    pub(super) is_locked: bool,
    pub(super) faults: Faults,
    /// Bytes that all files may have together.
    pub(super) space: Option<u64>,
    /// How often there was not enough of it.
    pub(super) times_full: u64,
    pub(super) random: Random,
}

/// What will go wrong.
#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) syncs: u32,
    pub(super) folder_syncs: u32,
    /// Bytes that the next write keeps before it fails.
    pub(super) write: Option<usize>,
    /// The crash that comes after so many more calls.
    pub(super) crash: Option<(usize, Crash)>,
}

#[derive(Debug)]
struct File {
    contents: Contents,
    /// How often programs have it open. Without a name, the file exists until they close it.
    handles: usize,
}

impl World {
    pub(super) fn crash(&mut self, crash: Crash) {
        self.crashes += 1;
        self.is_locked = false;
        self.faults = Faults::default();
        for file in self.files.values_mut() {
            file.handles = 0;
        }
        if let Crash::Power { seed, loss } = crash {
            self.random = Random::new(seed);
            self.cut_power(loss);
        }
        self.free();
    }

    fn cut_power(&mut self, loss: Loss) {
        self.folder.cut_power(loss, &mut self.random);
        self.free();
        for file in self.files.values_mut() {
            file.contents.cut_power(loss, &mut self.random);
        }
    }

    /// Counts a call that changes the disk. Returns whether the crash comes in its place.
    pub(super) fn crashes_now(&mut self) -> bool {
        match &mut self.faults.crash {
            Some((0, crash)) => {
                let crash = *crash;
                self.crash(crash);
                true
            }
            Some((calls, _)) => {
                *calls -= 1;
                false
            }
            None => false,
        }
    }

    pub(super) fn create(&mut self, name: &str, bytes: u64) -> io::Result<FileId> {
        if self.folder.find(name).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.take_space(bytes)?;
        let file = self.make();
        self.contents(file).extend(bytes as usize);
        self.folder.link(name, file);
        Ok(file)
    }

    /// Makes an empty file without a name.
    pub(super) fn make(&mut self) -> FileId {
        let file = self.next_file;
        self.next_file += 1;
        self.files.insert(file, File { contents: Contents::default(), handles: 0 });
        file
    }

    /// Opens a file. [`close`](Self::close) ends that.
    pub(super) fn open(&mut self, file: FileId) {
        self.files.get_mut(&file).expect("a name has a file").handles += 1;
    }

    pub(super) fn close(&mut self, file: FileId) {
        self.files.get_mut(&file).expect("an open file exists").handles -= 1;
        self.free();
    }

    pub(super) fn contents(&mut self, file: FileId) -> &mut Contents {
        &mut self.files.get_mut(&file).expect("an open file exists").contents
    }

    /// Writes to a file, unless a fault or the lack of space cuts the write.
    pub(super) fn write(
        &mut self,
        file: FileId,
        offset: u64,
        mut bytes: Vec<u8>,
    ) -> io::Result<()> {
        let failing = self.faults.write.take();
        bytes.truncate(failing.unwrap_or(usize::MAX));
        let found = self.fit(file, offset, &mut bytes);
        self.contents(file).write(offset as usize, bytes);
        found?;
        failing.map_or(Ok(()), |_| Err(io::Error::other("a write that fails")))
    }

    pub(super) fn sync(&mut self, file: FileId) -> io::Result<()> {
        let contents = &mut self.files.get_mut(&file).expect("an open file exists").contents;
        if take_one(&mut self.faults.syncs) {
            contents.fail_sync(&mut self.random);
            return Err(io::Error::other("a sync that fails"));
        }
        contents.sync();
        Ok(())
    }

    pub(super) fn sync_folder(&mut self) -> io::Result<()> {
        if take_one(&mut self.faults.folder_syncs) {
            self.folder.fail_sync(&mut self.random);
            return Err(io::Error::other("a sync of the folder that fails"));
        }
        self.folder.sync();
        self.free();
        Ok(())
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
        let length = self.contents(file).read().len() as u64;
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

    /// Bytes that all files together may have more. A file without a name takes none once it is
    /// closed.
    fn free_space(&self) -> u64 {
        let Some(space) = self.space else { return u64::MAX };
        let exists = |(id, file): &(&FileId, &File)| file.handles > 0 || self.folder.shows(**id);
        let files = self.files.iter().filter(exists);
        space.saturating_sub(files.map(|(_, file)| file.contents.read().len() as u64).sum())
    }

    pub(super) fn find(&self, name: &str) -> io::Result<FileId> {
        self.folder.find(name).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Forgets files that are not open and have no name.
    pub(super) fn free(&mut self) {
        let folder = &self.folder;
        self.files.retain(|&id, file| file.handles > 0 || folder.has(id));
    }
}

/// Takes one of the faults that are left. Returns whether there was one.
fn take_one(left: &mut u32) -> bool {
    let is_due = *left > 0;
    *left = left.saturating_sub(1);
    is_due
}
