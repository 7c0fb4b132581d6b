//! A simulated disk: it loses, tears and reorders unsynced writes when the power is cut, crashes at
//! any call, fails syncs and writes, and runs out of space. A [`Recording`] of a real program shows
//! which syncs are missing. For tests of programs that use a journal.
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
mod recording; // the calls of a real program
#[cfg(test)]
mod tests;
mod view; // the disk as a program sees it
mod world; // its state

use std::sync::{Arc, Mutex};

pub use self::recording::{Recording, RecordingError};

use self::view::View;
use self::world::World;
use crate::mutex::lock;
use crate::storage::Storage;

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
    /// The first changes of names are kept, as by a file system with a journal such as ext4. Each
    /// sector of each write is kept or lost.
    Ordered,
    /// None is lost.
    None,
}

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
        lock(&self.world).faults.crash = Some((calls, crash));
    }

    /// Makes the next `count` syncs of files fail. As with a real disk, what a failed sync has not
    /// written stays readable and is never written again.
    pub fn fail_syncs(&self, count: u32) {
        lock(&self.world).faults.syncs = count;
    }

    /// Makes the next `count` syncs of the folder fail. Some of the new names are then durable. The
    /// others are not, until a later sync succeeds.
    pub fn fail_folder_syncs(&self, count: u32) {
        lock(&self.world).faults.folder_syncs = count;
    }

    /// Makes the next write fail after `kept` bytes of it.
    pub fn fail_write(&self, kept: usize) {
        lock(&self.world).faults.write = Some(kept);
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
        let mut world = lock(&self.world);
        let file = world.folder.find(name)?;
        Some(world.contents(file).read().to_vec())
    }

    /// Changes a byte of a file, also on the disk.
    ///
    /// # Panics
    ///
    /// Panics if there is no such file or byte.
    pub fn damage(&self, name: &str, offset: usize) {
        let mut world = lock(&self.world);
        let file = world.folder.find(name).expect("the file exists");
        world.contents(file).damage(offset);
    }

    /// Removes a file, also on the disk.
    ///
    /// # Panics
    ///
    /// Panics if there is no such file.
    pub fn remove(&self, name: &str) {
        let mut world = lock(&self.world);
        let file = world.folder.find(name).expect("the file exists");
        world.folder.unlink(name, file);
        world.folder.sync();
    }

    pub(crate) fn storage(&self) -> Arc<dyn Storage> {
        Arc::new(View::new(&self.world))
    }
}
