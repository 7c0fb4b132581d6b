//! Snapshots: the state of a stage at a sequence, one file each.

use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lapwing::Sequence;

use crate::error::FileError;
use crate::format::bytes::{put, u64_at};
use crate::format::name;
use crate::storage::disk::Disk;
use crate::storage::{Storage, file_error, read_fully};

/// The file: magic, version, zero, sequence, length, checksum of the state, checksum of the header.
const HEADER: usize = 40;
const MAGIC: u64 = u64::from_le_bytes(*b"lapwsnap");
const VERSION: u32 = 1;
const CHECKSUM: usize = HEADER - 4;

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
    /// Opens the folder, or creates it. The latest two snapshots are kept. The file of a write that a
    /// crash has ended is removed.
    ///
    /// # Errors
    ///
    /// [`FileError`] if the system refused a call.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, FileError> {
        let folder = folder.as_ref();
        let disk = Disk::create(folder)
            .map_err(|error| FileError::new("open the folder", folder.to_owned(), error))?;
        Ok(Self::on_storage(Arc::new(disk)))
    }

    /// Opens the snapshots on a simulated disk.
    #[cfg(feature = "faults")]
    #[must_use]
    pub fn open_simulated(disk: &crate::faults::SimulatedDisk) -> Self {
        Self::on_storage(disk.storage())
    }

    fn on_storage(storage: Arc<dyn Storage>) -> Self {
        let _ = storage.remove(name::NEW_SNAPSHOT);
        Self { storage, keep: 2 }
    }

    /// Sets how many snapshots are kept, at least 1.
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

    /// Writes a snapshot of the state after all events below `sequence`, and removes old ones. The
    /// snapshot is durable when the call returns.
    ///
    /// # Errors
    ///
    /// [`FileError`] if the system refused a call. If the snapshot was not written, those before it
    /// are still there, and its file takes no space.
    ///
    /// # Blocking
    ///
    /// Waits for the disk.
    pub fn write(&self, sequence: Sequence, state: &[u8]) -> Result<(), FileError> {
        self.write_new(sequence, state).inspect_err(|_| {
            // A journal on the same disk may wait for the space.
            let _ = self.storage.remove(name::NEW_SNAPSHOT);
        })?;
        self.remove_old()
    }

    fn write_new(&self, sequence: Sequence, state: &[u8]) -> Result<(), FileError> {
        let storage = &*self.storage;
        let error = |action| file_error(storage, action, name::NEW_SNAPSHOT);
        let header = header(sequence, state);
        // One that could not be removed.
        let _ = storage.remove(name::NEW_SNAPSHOT);
        let file = storage.create(name::NEW_SNAPSHOT).map_err(error("make a snapshot"))?;
        file.write_at(&mut [IoSlice::new(&header), IoSlice::new(state)], 0)
            .and_then(|()| file.sync())
            .map_err(error("write a snapshot"))?;
        storage
            .rename(name::NEW_SNAPSHOT, &name::snapshot(sequence))
            .and_then(|()| storage.sync_folder())
            .map_err(error("rename a snapshot"))
    }

    /// Returns the latest intact snapshot, and the names of later ones that are damaged.
    ///
    /// # Errors
    ///
    /// [`FileError`] if the system refused a call.
    pub fn latest(&self) -> Result<Latest, FileError> {
        let mut latest = Latest { snapshot: None, damaged: Vec::new() };
        for sequence in self.sequences()? {
            let name = name::snapshot(sequence);
            let read = self.read(&name, sequence);
            latest.snapshot = read.map_err(file_error(&*self.storage, "read a snapshot", &name))?;
            if latest.snapshot.is_some() {
                break;
            }
            latest.damaged.push(self.storage.path().join(name));
        }
        Ok(latest)
    }

    /// Returns the sequence of the oldest snapshot that is kept. Segments of the journal before it
    /// may be [removed](crate::Journal::remove_before).
    ///
    /// # Errors
    ///
    /// [`FileError`] if the system refused a call.
    pub fn oldest(&self) -> Result<Option<Sequence>, FileError> {
        Ok(self.sequences()?.pop())
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
        let file = self.storage.open(name)?;
        let length = file.bytes()?.saturating_sub(HEADER as u64);
        let mut head = [0; HEADER];
        read_fully(&*file, &mut head, 0)?;
        // Checked before memory is reserved.
        if u64_at(&head, 16) != sequence || u64_at(&head, 24) != length {
            return Ok(None);
        }
        let mut state = vec![0; length as usize];
        read_fully(&*file, &mut state, HEADER as u64)?;
        let is_intact = head == header(sequence, &state);
        Ok(is_intact.then_some(Snapshot { sequence, state }))
    }

    fn remove_old(&self) -> Result<(), FileError> {
        for sequence in self.sequences()?.into_iter().skip(self.keep) {
            let name = name::snapshot(sequence);
            let removed = self.storage.remove(&name);
            removed.map_err(file_error(&*self.storage, "remove a snapshot", &name))?;
        }
        Ok(())
    }
}

fn header(sequence: Sequence, state: &[u8]) -> [u8; HEADER] {
    let mut bytes = [0; HEADER];
    put(&mut bytes, 0, MAGIC.to_le_bytes());
    put(&mut bytes, 8, VERSION.to_le_bytes());
    put(&mut bytes, 16, sequence.to_le_bytes());
    put(&mut bytes, 24, (state.len() as u64).to_le_bytes());
    put(&mut bytes, 32, crc32c::crc32c(state).to_le_bytes());
    let checksum = crc32c::crc32c(&bytes[..CHECKSUM]);
    put(&mut bytes, CHECKSUM, checksum.to_le_bytes());
    bytes
}
