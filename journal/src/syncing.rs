//! How far the journal is written and synced, and the one place that syncs it. Not here: the stage
//! that asks for it (`syncer`).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use lapwing::Sequence;

use crate::error::{FileError, SyncError};
use crate::mutex::lock;
use crate::storage::{Storage, StorageFile, file_error};

/// The state that the writer and the syncer share.
#[derive(Debug)]
pub(crate) struct Syncing {
    storage: Arc<dyn Storage>,
    /// The segments that may have unsynced data, the one that is written last. The lock is held for
    /// moments only.
    files: Mutex<Vec<Unsynced>>,
    /// Held during a sync. A second thread waits, and then often has nothing to do.
    turn: Mutex<()>,
    /// The end of what is written. The writer stores it, after the write and after the segment is
    /// among `files`.
    written: AtomicU64,
    /// The end of what is synced. Stored by the thread that has the turn.
    durable: AtomicU64,
    /// Held to wait for `synced`.
    waiting: Mutex<()>,
    /// Notified after each sync, also after a failed one.
    synced: Condvar,
    /// Why a sync has failed. After that, nothing is written or synced.
    failure: OnceLock<FileError>,
    /// Whether a syncer exists.
    has_stage: AtomicBool,
    /// Whether the stage of the writer has ended. It ends when a closed ring has no more events for
    /// it.
    has_writer_ended: AtomicBool,
}

/// A segment that may have unsynced data.
#[derive(Debug, Clone)]
struct Unsynced {
    name: String,
    file: Arc<dyn StorageFile>,
    /// Whether the folder must be synced too: the name of the file is new.
    is_new: bool,
}

impl Syncing {
    /// The state of a journal that is synced up to `end`.
    pub(crate) fn new(storage: Arc<dyn Storage>, end: Sequence) -> Self {
        Self {
            storage,
            files: Mutex::default(),
            turn: Mutex::default(),
            written: AtomicU64::new(end),
            durable: AtomicU64::new(end),
            waiting: Mutex::default(),
            synced: Condvar::new(),
            failure: OnceLock::new(),
            has_stage: AtomicBool::new(false),
            has_writer_ended: AtomicBool::new(false),
        }
    }

    /// Notes a segment before its first frame is written.
    pub(crate) fn add(&self, name: String, file: Arc<dyn StorageFile>, is_new: bool) {
        lock(&self.files).push(Unsynced { name, file, is_new });
    }

    /// Notes that everything below `end` is written.
    pub(crate) fn set_written(&self, end: Sequence) {
        // Release: pairs with the Acquire in `sync`. The sync then finds the segment in `files`.
        self.written.store(end, Ordering::Release);
    }

    pub(crate) fn written(&self) -> Sequence {
        // Acquire: what is read from the files afterwards was written.
        self.written.load(Ordering::Acquire)
    }

    /// Everything below it survives a power failure.
    pub(crate) fn durable(&self) -> Sequence {
        // Acquire: pairs with the Release in `sync`.
        self.durable.load(Ordering::Acquire)
    }

    pub(crate) fn set_has_stage(&self) {
        // Relaxed: it only decides which thread syncs a full segment.
        self.has_stage.store(true, Ordering::Relaxed);
    }

    /// Notes that the stage of the writer starts or ends.
    pub(crate) fn set_writer_ended(&self, has_ended: bool) {
        // Relaxed: it only decides when the syncer syncs.
        self.has_writer_ended.store(has_ended, Ordering::Relaxed);
    }

    pub(crate) fn has_writer_ended(&self) -> bool {
        self.has_writer_ended.load(Ordering::Relaxed)
    }

    /// Returns the error of the sync that has failed, if one has.
    pub(crate) fn check(&self) -> Result<(), SyncError> {
        self.failure.get().map_or(Ok(()), |error| Err(SyncError(error.clone())))
    }

    /// Syncs all that is written when the call begins. Returns the end of it.
    pub(crate) fn sync(&self) -> Result<Sequence, SyncError> {
        let _turn = lock(&self.turn);
        self.check()?;
        let end = self.written();
        if end > self.durable() {
            self.sync_up_to(end)?;
        }
        Ok(end)
    }

    /// Syncs also if no event is written that is not synced.
    pub(crate) fn sync_always(&self) -> Result<(), SyncError> {
        let _turn = lock(&self.turn);
        self.check()?;
        self.sync_up_to(self.written())
    }

    /// Syncs all files with unsynced data, which have all events below `end`. The caller has the
    /// turn.
    fn sync_up_to(&self, end: Sequence) -> Result<(), SyncError> {
        let files = lock(&self.files).clone();
        let result = self.sync_files(&files).map_err(|error| self.fail(error));
        if result.is_ok() {
            self.forget(files.len());
            // Release: pairs with the Acquire in `durable`.
            self.durable.store(end, Ordering::Release);
        }
        // A thread that has checked and does not wait yet holds this lock.
        drop(lock(&self.waiting));
        self.synced.notify_all();
        result
    }

    /// Waits until everything below `end` is synced, for at most `timeout`. Returns how far the
    /// journal is synced.
    pub(crate) fn wait(&self, end: Sequence, timeout: Duration) -> Result<Sequence, SyncError> {
        let begun = Instant::now();
        let mut waiting = lock(&self.waiting);
        loop {
            self.check()?;
            let synced = self.durable();
            let left = timeout.saturating_sub(begun.elapsed());
            if synced >= end || left.is_zero() {
                return Ok(synced);
            }
            let woken = self.synced.wait_timeout(waiting, left);
            waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Syncs full segments in the background, so that they do not add up without a syncer.
    pub(crate) fn sync_if_no_stage_does(&self) {
        if !self.has_stage.load(Ordering::Relaxed) {
            // The writer gets the error.
            let _ = self.sync();
        }
    }

    fn sync_files(&self, files: &[Unsynced]) -> Result<(), FileError> {
        let storage = &*self.storage;
        for Unsynced { name, file, .. } in files {
            file.sync().map_err(file_error(storage, "sync a segment", name))?;
        }
        if files.iter().any(|file| file.is_new) {
            storage.sync_folder().map_err(file_error(storage, "sync the folder", ""))?;
        }
        Ok(())
    }

    /// Forgets the first `synced` segments, except for the one that was written last: more may be
    /// written to it.
    fn forget(&self, synced: usize) {
        let mut files = lock(&self.files);
        files.drain(..synced - 1);
        files[0].is_new = false;
    }

    fn fail(&self, error: FileError) -> SyncError {
        SyncError(self.failure.get_or_init(|| error).clone())
    }
}
