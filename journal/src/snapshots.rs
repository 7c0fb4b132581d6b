//! Snapshots: the state of a stage at a sequence, one file each.

use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use lapwing::Sequence;

use crate::error::FileError;
use crate::format::name;
use crate::format::snapshot::{LENGTH, SnapshotHeader};
use crate::mutex::lock;
use crate::storage::disk::Disk;
use crate::storage::{Storage, StorageFile, file_error, read_fully};

/// Bytes that a check reads at a time.
const PIECE: usize = 1 << 20;

/// A folder of snapshots. It may be that of the journal. One `Snapshots` at a time has it open.
///
/// A snapshot is the state of a stage after all events below its sequence. To recover, restore the
/// latest one and [replay](crate::Journal::replay) from its sequence. Take it in a stage downstream
/// of the [`Syncer`](crate::Syncer): otherwise it may contain events that the journal loses.
///
/// ```
/// use lapwing_journal::Snapshots;
///
/// let folder = tempfile::tempdir()?;
/// let snapshots = Snapshots::open(folder.path())?;
/// snapshots.write(1_000, b"the state after 1,000 events")?;
/// let latest = snapshots.latest()?.snapshot.unwrap();
/// assert_eq!((latest.sequence, latest.state.len()), (1_000, 28));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Snapshots {
    storage: Arc<dyn Storage>,
    keep: usize,
    /// Held while a snapshot is written: all have the same temporary name.
    writing: Mutex<()>,
}

/// The state of a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The first event that is not part of the state. A replay begins here.
    pub sequence: Sequence,
    /// The state, as the program encoded it.
    pub state: Vec<u8>,
}

/// What [`Snapshots::latest`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Latest {
    /// The latest intact snapshot.
    pub snapshot: Option<Snapshot>,
    /// Later snapshots, which are damaged.
    pub damaged: Vec<PathBuf>,
}

impl Snapshots {
    /// Opens the folder, or creates it. The latest two intact snapshots are kept. The file of a
    /// write that a crash has ended is removed.
    ///
    /// # Errors
    ///
    /// [`FileError`] if the system refused a call.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, FileError> {
        let disk = Disk::create(folder.as_ref())?;
        Self::on_storage(Arc::new(disk))
    }

    /// Opens the snapshots on a simulated disk.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    #[cfg(feature = "faults")]
    pub fn open_simulated(disk: &crate::faults::SimulatedDisk) -> Result<Self, FileError> {
        Self::on_storage(disk.storage())
    }

    fn on_storage(storage: Arc<dyn Storage>) -> Result<Self, FileError> {
        let _ = storage.remove(name::NEW_SNAPSHOT);
        // A process that was killed may have left a snapshot whose name is not durable. The caller
        // may remove what it contains from the journal.
        storage.sync_folder().map_err(file_error(&*storage, "sync the folder", ""))?;
        Ok(Self { storage, keep: 2, writing: Mutex::default() })
    }

    /// Sets how many intact snapshots are kept, at least 1.
    ///
    /// ```
    /// use lapwing_journal::Snapshots;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let snapshots = Snapshots::open(folder.path())?.keep(1);
    /// snapshots.write(10, b"ten")?;
    /// snapshots.write(20, b"twenty")?;
    /// assert_eq!(snapshots.oldest()?, Some(20));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn keep(mut self, count: usize) -> Self {
        self.keep = count.max(1);
        self
    }

    /// Writes a snapshot of the state after all events below `sequence`. The snapshot is durable
    /// when the call returns.
    ///
    /// Then removes what is older than the snapshots that are [kept](Self::keep). Damaged ones do
    /// not count: otherwise one damage could leave a single intact snapshot, and the journal before
    /// it may be removed. So the call reads as many older snapshots as are kept beside the new one:
    /// one by default, none with `keep(1)`.
    ///
    /// # Errors
    ///
    /// [`FileError`] if the system refused a call. If the snapshot was not written, those before it
    /// are still there, and its file takes no space.
    ///
    /// # Blocking
    ///
    /// Waits for the disk, and for another thread that writes a snapshot.
    pub fn write(&self, sequence: Sequence, state: &[u8]) -> Result<(), FileError> {
        let _writing = lock(&self.writing);
        self.write_new(sequence, state).inspect_err(|_| {
            // A journal on the same disk may wait for the space.
            let _ = self.storage.remove(name::NEW_SNAPSHOT);
        })?;
        self.remove_old(sequence)
    }

    fn write_new(&self, sequence: Sequence, state: &[u8]) -> Result<(), FileError> {
        let storage = &*self.storage;
        let error = |action| file_error(storage, action, name::NEW_SNAPSHOT);
        let (length, state_sum) = (state.len() as u64, crc32c::crc32c(state));
        let header = SnapshotHeader { sequence, length, state_sum };
        // One that could not be removed.
        let _ = storage.remove(name::NEW_SNAPSHOT);
        let file = storage.create(name::NEW_SNAPSHOT).map_err(error("make a snapshot"))?;
        file.write_at(&mut [IoSlice::new(&header.encode()), IoSlice::new(state)], 0)
            .and_then(|()| file.sync())
            .map_err(error("write a snapshot"))?;
        let name = name::snapshot(sequence);
        storage.rename(name::NEW_SNAPSHOT, &name).map_err(error("rename a snapshot"))?;
        storage.sync_folder().map_err(|cause| {
            // Otherwise it could be found, and the next power cut could take it.
            let _ = storage.remove(&name);
            file_error(storage, "sync the folder", "")(cause)
        })
    }

    /// Returns the latest intact snapshot, and the names of later ones that are damaged. One that
    /// the disk cannot read counts as damaged.
    ///
    /// # Errors
    ///
    /// [`FileError`] if the system does not list the folder or open a file.
    ///
    /// # Blocking
    ///
    /// Waits for the disk, and for another thread that writes a snapshot.
    pub fn latest(&self) -> Result<Latest, FileError> {
        let _writing = lock(&self.writing);
        let mut latest = Latest { snapshot: None, damaged: Vec::new() };
        for sequence in self.sequences()? {
            let name = name::snapshot(sequence);
            let read = self.read(&name, sequence);
            latest.snapshot = read.map_err(file_error(&*self.storage, "open a snapshot", &name))?;
            if latest.snapshot.is_some() {
                break;
            }
            latest.damaged.push(self.storage.path().join(name));
        }
        Ok(latest)
    }

    /// Returns the sequence of the oldest intact snapshot. Segments of the journal before it may be
    /// [removed](crate::Journal::remove_before).
    ///
    /// Reads snapshots, the oldest first, until one is intact.
    ///
    /// # Errors
    ///
    /// [`FileError`] if the system does not list the folder or open a file.
    ///
    /// # Blocking
    ///
    /// Waits for the disk, and for another thread that writes a snapshot.
    pub fn oldest(&self) -> Result<Option<Sequence>, FileError> {
        let _writing = lock(&self.writing);
        for sequence in self.sequences()?.into_iter().rev() {
            let name = name::snapshot(sequence);
            let checked = self.is_intact(&name, sequence);
            if checked.map_err(file_error(&*self.storage, "open a snapshot", &name))? {
                return Ok(Some(sequence));
            }
        }
        Ok(None)
    }

    /// The sequences of all snapshots, the latest first.
    fn sequences(&self) -> Result<Vec<Sequence>, FileError> {
        let names =
            self.storage.names().map_err(file_error(&*self.storage, "list the folder", ""))?;
        let mut found: Vec<_> =
            names.iter().filter_map(|name| name::parse_snapshot(name)).collect();
        found.sort_unstable_by(|one, other| other.cmp(one));
        Ok(found)
    }

    /// Reads a snapshot. `None` if it is damaged.
    fn read(&self, name: &str, sequence: Sequence) -> io::Result<Option<Snapshot>> {
        let Some(file) = self.open_state(name, sequence)? else { return Ok(None) };
        let mut state = vec![0; file.header.length as usize];
        let is_intact =
            file.read_piece(&mut state, 0) && file.header.state_sum == crc32c::crc32c(&state);
        Ok(is_intact.then_some(Snapshot { sequence, state }))
    }

    /// Reads a snapshot in pieces. Returns whether it is intact.
    fn is_intact(&self, name: &str, sequence: Sequence) -> io::Result<bool> {
        let Some(file) = self.open_state(name, sequence)? else { return Ok(false) };
        let (mut piece, mut sum, mut offset) = (Vec::new(), 0, 0);
        while offset < file.header.length {
            piece.resize((file.header.length - offset).min(PIECE as u64) as usize, 0);
            if !file.read_piece(&mut piece, offset) {
                return Ok(false);
            }
            sum = crc32c::crc32c_append(sum, &piece);
            offset += piece.len() as u64;
        }
        Ok(file.header.state_sum == sum)
    }

    /// Opens a snapshot. `None` if its header shows damage, before memory is reserved.
    fn open_state(&self, name: &str, sequence: Sequence) -> io::Result<Option<OpenState>> {
        let file = self.storage.open(name)?;
        let length = file.bytes()?.saturating_sub(LENGTH as u64);
        let mut bytes = [0; LENGTH];
        let read = read_fully(&*file, &mut bytes, 0);
        let header = read.ok().and_then(|read| SnapshotHeader::decode(&bytes[..read]));
        let header = header.filter(|found| (found.sequence, found.length) == (sequence, length));
        Ok(header.map(|header| OpenState { file, header }))
    }

    /// Removes what is older than the snapshots that are kept, but not the one that was `written`:
    /// later ones may be of a history that the program has left.
    fn remove_old(&self, written: Sequence) -> Result<(), FileError> {
        let sequences = self.sequences()?;
        if sequences.len() <= self.keep {
            return Ok(());
        }
        let mut intact = 0;
        for sequence in sequences {
            let name = name::snapshot(sequence);
            if sequence == written {
                intact += 1;
            } else if intact < self.keep {
                // The new snapshot is durable, so one that cannot be opened is no error.
                intact += usize::from(self.is_intact(&name, sequence).unwrap_or(false));
            } else {
                let removed = self.storage.remove(&name);
                removed.map_err(file_error(&*self.storage, "remove a snapshot", &name))?;
            }
        }
        Ok(())
    }
}

/// A snapshot that is being read.
struct OpenState {
    file: Arc<dyn StorageFile>,
    header: SnapshotHeader,
}

impl OpenState {
    /// Reads a part of the state. Returns whether the disk could read it.
    fn read_piece(&self, into: &mut [u8], offset: u64) -> bool {
        let read = read_fully(&*self.file, into, LENGTH as u64 + offset);
        read.is_ok_and(|bytes| bytes == into.len())
    }
}
