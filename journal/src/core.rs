//! An open journal: how it is opened, what its ends share, and that it is closed once. Not here: the
//! ends that programs hold (`journal`, `writer`, `syncer`), and how frames are written (`writing`).

use std::any::Any;
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use lapwing::Sequence;

use crate::closed;
use crate::error::{FileError, OpenError, WriteError};
use crate::format::name;
use crate::format::segment::Shape;
use crate::mutex::lock;
use crate::options::Options;
use crate::recovery::{Recovered, check_synced_to, repair, survey};
use crate::segments::making::begin;
use crate::segments::spares::{Spares, remove_spares};
use crate::storage::{Storage, file_error};
use crate::syncing::Syncing;
use crate::writing::Writing;

/// An open journal.
#[derive(Debug)]
pub(crate) struct Core {
    storage: Arc<dyn Storage>,
    syncing: Arc<Syncing>,
    recovered: Recovered,
    /// The most bytes of events in a frame.
    body_limit: u64,
    /// The end of what a replay has published or is publishing. The writer skips events below it
    /// that are recorded.
    replayed: AtomicU64,
    writing: Mutex<Writing>,
    /// The lock of the folder, until the journal is closed.
    folder: Mutex<Option<FolderLock>>,
}

type FolderLock = Box<dyn Any + Send + Sync>;

impl Core {
    /// Locks, recovers and opens the journal in `storage`.
    pub(crate) fn open(
        storage: Arc<dyn Storage>,
        shape: Shape,
        options: &Options,
    ) -> Result<Self, OpenError> {
        let folder = acquire(&*storage)?;
        remove_spares(&*storage).map_err(file_error(&*storage, "remove a spare", ""))?;
        let mut spares = Spares::new(Arc::clone(&storage), options.segment_bytes);
        let survey = survey(&*storage, &mut |_, _, _| {})?;
        check_synced_to(&*storage, options.synced_to, survey.as_ref())?;
        let (recovered, tail) = match survey {
            Some(survey) => {
                check_shape(survey.last.shape, shape)?;
                repair(&*storage, &survey)?
            }
            None => (Recovered::nothing(), begin(&*storage, &mut spares, shape)?),
        };
        let closed = closed::open(&*storage)?;
        // Also names that are not of this process: one that was killed may have left them unsynced.
        storage.sync_folder().map_err(file_error(&*storage, "sync the folder", ""))?;
        let next = recovered.next_sequence;
        let syncing = Arc::new(Syncing::new(Arc::clone(&storage), next));
        if options.prepares_ahead {
            let started = spares.start(Arc::clone(&syncing));
            started.map_err(file_error(&*storage, "start a thread", ""))?;
        }
        let (shared, counted) = (Arc::clone(&storage), Arc::clone(&syncing));
        Ok(Self {
            storage,
            syncing,
            recovered,
            body_limit: options.body_limit(),
            replayed: AtomicU64::new(0),
            writing: Mutex::new(Writing::new(shared, closed, counted, tail, spares, next)),
            folder: Mutex::new(Some(folder)),
        })
    }

    pub(crate) fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    pub(crate) fn syncing(&self) -> &Syncing {
        &self.syncing
    }

    pub(crate) fn recovered(&self) -> &Recovered {
        &self.recovered
    }

    pub(crate) fn body_limit(&self) -> u64 {
        self.body_limit
    }

    /// Where frames are written. Fails if nothing may be written.
    pub(crate) fn writing(&self) -> Result<MutexGuard<'_, Writing>, WriteError> {
        let writing = lock(&self.writing);
        writing.check()?;
        Ok(writing)
    }

    /// Notes that a replay publishes the events below `end`.
    pub(crate) fn set_replayed(&self, end: Sequence) {
        // Relaxed: the ring carries the events to the writer, and this number with them.
        self.replayed.fetch_max(end, Ordering::Relaxed);
    }

    pub(crate) fn replayed(&self) -> Sequence {
        self.replayed.load(Ordering::Relaxed)
    }

    /// Runs `change` on the folder, which stays locked meanwhile. One thread at a time runs it.
    pub(crate) fn with_folder<T>(
        &self,
        change: impl FnOnce(&dyn Storage) -> Result<T, FileError>,
    ) -> Result<T, FileError> {
        let storage = &*self.storage;
        let folder = lock(&self.folder);
        if folder.is_none() {
            // Another journal may have the folder by now.
            let closed = io::Error::new(ErrorKind::NotConnected, "the journal is closed");
            return Err(file_error(storage, "change the folder", "")(closed));
        }
        change(storage)
    }

    /// Syncs all, marks the end, takes no more events, and unlocks the folder. A second call does
    /// nothing and returns [`WriteError::Closed`].
    pub(crate) fn close(&self) -> Result<(), WriteError> {
        let mut writing = lock(&self.writing);
        // The spares are removed before another process may lock the folder and make its own.
        let closed = writing.close();
        *lock(&self.folder) = None;
        closed
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        // `Journal::close` reports the error, and a journal that it has closed needs no other one.
        let _ = self.close();
    }
}

fn acquire(storage: &dyn Storage) -> Result<FolderLock, OpenError> {
    storage.lock().map_err(|error| match error.kind() {
        ErrorKind::WouldBlock => OpenError::Locked { file: storage.path().join(name::LOCK) },
        _ => file_error(storage, "lock", name::LOCK)(error).into(),
    })
}

fn check_shape(found: Shape, expected: Shape) -> Result<(), OpenError> {
    if found == expected {
        return Ok(());
    }
    let pair = |shape: Shape| (shape.event_bytes, shape.schema);
    Err(OpenError::OtherShape { found: pair(found), expected: pair(expected) })
}
