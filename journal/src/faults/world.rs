//! The state of a simulated disk. Not here: its names (`folder`), the contents of a file (`file`),
//! what will go wrong (`plan`), and how programs see it (`view`).

use std::collections::BTreeMap;
use std::io;

use super::crash::{Crash, Loss};
use super::file::Contents;
use super::folder::{FileId, Folder};
use super::plan::Plan;
use super::random::Random;

#[derive(Debug, Default)]
pub(super) struct World {
    /// Number of crashes. What was opened before the last one is of no use.
    crashes: u64,
    folder: Folder,
    files: BTreeMap<FileId, File>,
    next_file: FileId,
    is_locked: bool,
    plan: Plan,
    /// Bytes that all files may have together.
    space: Option<u64>,
    /// How often there was not enough of it.
    times_full: u64,
    random: Random,
}

#[derive(Debug)]
struct File {
    contents: Contents,
    /// How often programs have it open. Without a name, the file exists until they close it.
    handles: usize,
}

impl World {
    pub(super) fn crashes(&self) -> u64 {
        self.crashes
    }

    pub(super) fn folder(&mut self) -> &mut Folder {
        &mut self.folder
    }

    pub(super) fn plan(&mut self) -> &mut Plan {
        &mut self.plan
    }

    pub(super) fn set_space(&mut self, bytes: Option<u64>) {
        self.space = bytes;
    }

    pub(super) fn times_full(&self) -> u64 {
        self.times_full
    }

    /// Locks the folder. Fails if it is locked.
    pub(super) fn lock(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.is_locked, true) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(())
    }

    pub(super) fn unlock(&mut self) {
        self.is_locked = false;
    }

    pub(super) fn crash(&mut self, crash: Crash) {
        self.crashes += 1;
        self.is_locked = false;
        self.plan = Plan::default();
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
        let crash = self.plan.count_call();
        if let Some(crash) = crash {
            self.crash(crash);
        }
        crash.is_some()
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
        let failing = self.plan.write();
        bytes.truncate(failing.unwrap_or(usize::MAX));
        let found = self.fit(file, offset, &mut bytes);
        self.contents(file).write(offset as usize, bytes);
        found?;
        failing.map_or(Ok(()), |_| Err(io::Error::other("a write that fails")))
    }

    pub(super) fn sync(&mut self, file: FileId) -> io::Result<()> {
        let contents = &mut self.files.get_mut(&file).expect("an open file exists").contents;
        self.plan.sync().inspect_err(|_| contents.fail_sync(&mut self.random))?;
        contents.sync();
        Ok(())
    }

    pub(super) fn sync_folder(&mut self) -> io::Result<()> {
        self.plan.sync_folder().inspect_err(|_| self.folder.fail_sync(&mut self.random))?;
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

    pub(super) fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        let file = self.find(from)?;
        self.folder.link(to, file);
        self.folder.unlink(from, file);
        Ok(())
    }

    pub(super) fn unlink(&mut self, name: &str) -> io::Result<()> {
        let file = self.find(name)?;
        self.folder.unlink(name, file);
        self.free();
        Ok(())
    }

    /// Forgets files that are not open and have no name.
    fn free(&mut self) {
        let folder = &self.folder;
        self.files.retain(|&id, file| file.handles > 0 || folder.has(id));
    }
}
