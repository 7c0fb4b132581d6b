//! A simulated disk as a test sees it: it breaks the disk, and reads what is there. Not here: how a
//! program sees it (`view`).

use std::sync::{Arc, Mutex};

use super::crash::Crash;
use super::view::View;
use super::world::World;
use crate::mutex::lock;
use crate::storage::Storage;

/// A disk in memory. Clones share it. A crash ends each journal that is open on it.
#[derive(Debug, Clone, Default)]
pub struct SimulatedDisk {
    world: Arc<Mutex<World>>,
}

impl SimulatedDisk {
    /// Returns an empty disk.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends what is open on the disk. Its further calls fail.
    pub fn crash(&self, crash: Crash) {
        lock(&self.world).crash(crash);
    }

    /// Ends what is open on the disk after `calls` further calls that change it: writes, syncs, and
    /// changes of names. The crash comes in place of the next such call, so the disk can crash
    /// between a rename and the sync of the folder.
    ///
    /// ```
    /// use lapwing_journal::Snapshots;
    /// use lapwing_journal::faults::{Crash, Loss, SimulatedDisk};
    ///
    /// let disk = SimulatedDisk::new();
    /// let snapshots = Snapshots::open_simulated(&disk)?;
    /// // A file is made, written, synced and renamed, and the sync of the folder is missing.
    /// disk.crash_after(4, Crash::Power { seed: 1, loss: Loss::All });
    /// assert!(snapshots.write(7, b"state").is_err());
    /// assert_eq!(Snapshots::open_simulated(&disk)?.latest()?.snapshot, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn crash_after(&self, calls: usize, crash: Crash) {
        lock(&self.world).plan().crash_after(calls, crash);
    }

    /// Makes the next `count` syncs of files fail. As with a real disk, what a failed sync has not
    /// written stays readable and is never written again.
    pub fn fail_syncs(&self, count: u32) {
        lock(&self.world).plan().fail_syncs(count);
    }

    /// Makes the next `count` syncs of the folder fail. Some of the new names are then durable. The
    /// others are not, until a later sync succeeds.
    pub fn fail_folder_syncs(&self, count: u32) {
        lock(&self.world).plan().fail_folder_syncs(count);
    }

    /// Makes the next write fail after `kept` bytes of it.
    pub fn fail_write(&self, kept: usize) {
        lock(&self.world).plan().fail_write(kept);
    }

    /// Sets how many bytes all files may have together. `None` is no limit. A write that finds too
    /// little space keeps what fits, as with a real disk.
    pub fn set_space(&self, bytes: Option<u64>) {
        lock(&self.world).set_space(bytes);
    }

    /// Returns how often a call has found too little space.
    #[must_use]
    pub fn times_full(&self) -> u64 {
        lock(&self.world).times_full()
    }

    /// Returns the names of all files, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        lock(&self.world).folder().names()
    }

    /// Returns what a program reads from a file.
    #[must_use]
    pub fn contents(&self, name: &str) -> Option<Vec<u8>> {
        let mut world = lock(&self.world);
        let file = world.folder().find(name)?;
        Some(world.contents(file).read().to_vec())
    }

    /// Changes a byte of a file, also on the disk.
    ///
    /// # Panics
    ///
    /// Panics if there is no such file or byte.
    pub fn damage(&self, name: &str, offset: usize) {
        let mut world = lock(&self.world);
        let file = world.folder().find(name).expect("the file exists");
        world.contents(file).damage(offset);
    }

    /// Removes a file, also on the disk.
    ///
    /// # Panics
    ///
    /// Panics if there is no such file.
    pub fn remove(&self, name: &str) {
        let mut world = lock(&self.world);
        let folder = world.folder();
        let file = folder.find(name).expect("the file exists");
        folder.unlink(name, file);
        folder.sync();
    }

    /// Returns the disk that a recording has led to.
    pub(super) fn of(world: World) -> Self {
        Self { world: Arc::new(Mutex::new(world)) }
    }

    pub(crate) fn storage(&self) -> Arc<dyn Storage> {
        Arc::new(View::new(&self.world))
    }
}
