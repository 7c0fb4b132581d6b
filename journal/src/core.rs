//! An open journal: its state and what changes it. Not here: the ends that programs hold
//! (`journal`, `writer`, `syncer`).

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use lapwing::Sequence;

use crate::closed;
use crate::error::{FileError, OpenError, WriteError};
use crate::format::closed::ClosedEnd;
use crate::format::frame::FrameHeader;
use crate::format::segment::{self, SegmentHeader, Shape};
use crate::format::{name, now_ns};
use crate::mutex::lock;
use crate::options::Options;
use crate::recovery::{Recovered, check_synced_to, repair, survey};
use crate::segments::making::{activate, begin};
use crate::segments::spares::{Spares, remove_spares};
use crate::segments::tail::Tail;
use crate::storage::{Storage, StorageFile, file_error};
use crate::syncing::Syncing;

/// An open journal.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) storage: Arc<dyn Storage>,
    /// The file that says where the journal was closed.
    closed: Arc<dyn StorageFile>,
    pub(crate) syncing: Arc<Syncing>,
    pub(crate) recovered: Recovered,
    /// The most bytes of events in a frame.
    pub(crate) body_limit: u64,
    /// The end of what a replay has published or is publishing. The writer skips events below it
    /// that are recorded.
    replayed: AtomicU64,
    writing: Mutex<Writing>,
    /// The lock of the folder, until the journal is closed.
    folder: Mutex<Option<FolderLock>>,
}

type FolderLock = Box<dyn Any + Send + Sync>;

/// What only one thread at a time may change.
#[derive(Debug)]
pub(crate) struct Writing {
    tail: Tail,
    spares: Spares,
    /// The sequence after the last frame.
    pub(crate) next: Sequence,
    /// The first event of a batch that was not written, or not completely. Only that batch may come
    /// next.
    pub(crate) unwritten: Option<Sequence>,
    is_closed: bool,
    /// Whether a failed write must be erased before the next one.
    must_erase: bool,
    /// Whether the frames prove that all of them are synced.
    is_proven: bool,
}

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
        let (recovered, end) = match survey {
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
        let tail = Tail::new(end.file, end.header, end.offset);
        syncing.add(name::segment(tail.header.first), Arc::clone(&tail.file), false);
        if options.prepares_ahead {
            let started = spares.start(Arc::clone(&syncing));
            started.map_err(file_error(&*storage, "start a thread", ""))?;
        }
        let writing = Writing {
            tail,
            spares,
            next,
            unwritten: None,
            is_closed: false,
            must_erase: false,
            is_proven: end.is_proven,
        };
        Ok(Self {
            storage,
            closed,
            syncing,
            recovered,
            body_limit: options.body_limit(),
            replayed: AtomicU64::new(0),
            writing: Mutex::new(writing),
            folder: Mutex::new(Some(folder)),
        })
    }

    /// The state of the writer. Fails if nothing may be written.
    pub(crate) fn writing(&self) -> Result<MutexGuard<'_, Writing>, WriteError> {
        let writing = lock(&self.writing);
        if writing.is_closed {
            return Err(WriteError::Closed);
        }
        self.syncing.check()?;
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

    /// Writes a frame with `count` events that begin with `first`.
    pub(crate) fn write_frame(
        &self,
        writing: &mut Writing,
        first: Sequence,
        count: u32,
        body: &[u8],
    ) -> Result<(), WriteError> {
        self.erase_given_up(writing)?;
        if !writing.tail.has_room(body.len() as u64) {
            self.roll(writing)?;
        }
        let header = self.frame_header(writing, first, count, body);
        let written = writing.tail.write(&header, body);
        written.map_err(|error| self.segment_error("write", &writing.tail.header, error))?;
        (writing.next, writing.is_proven) = (header.end(), false);
        self.syncing.set_written(writing.next);
        Ok(())
    }

    /// The header of the next frame, whose events begin with `first`.
    fn frame_header(
        &self,
        writing: &Writing,
        first: Sequence,
        count: u32,
        body: &[u8],
    ) -> FrameHeader {
        FrameHeader {
            previous: writing.next,
            first,
            recorded_ns: now_ns(),
            synced: self.syncing.durable(),
            count,
            length: body.len() as u32, // at most `body_limit`
            body_sum: writing.tail.header.seed().sum(body),
        }
    }

    /// Notes that the batch which was not written will not be written again.
    pub(crate) fn give_up_unwritten(&self) {
        if let Ok(mut writing) = self.writing() {
            writing.unwritten = None;
            writing.must_erase = writing.tail.has_failed();
        }
    }

    /// Erases what a failed write may have left, durably, if its batch was given up. Otherwise,
    /// recovery could find that batch in place of the next one.
    fn erase_given_up(&self, writing: &mut Writing) -> Result<(), WriteError> {
        if writing.must_erase {
            let erased = writing.tail.erase_failed_write();
            erased.map_err(|error| self.segment_error("write", &writing.tail.header, error))?;
            self.syncing.sync_always()?;
            writing.must_erase = false;
        }
        Ok(())
    }

    /// Continues in a new segment. After an error, the old one is still the one that is written.
    fn roll(&self, writing: &mut Writing) -> Result<(), FileError> {
        let Writing { tail, spares, next, .. } = writing;
        let spare = spares.take().map_err(file_error(&*self.storage, "make a segment", ""))?;
        let (first, bytes) = (*next, spare.bytes);
        let header = SegmentHeader { first, bytes, created_ns: now_ns(), ..tail.header };
        let replaces = first == tail.header.first;
        activate(&*self.storage, &spare, &header, replaces)?;
        self.syncing.add(name::segment(first), Arc::clone(&spare.file), true);
        *tail = Tail::new(spare.file, header, segment::LENGTH as u64);
        Ok(())
    }

    fn segment_error(
        &self,
        action: &'static str,
        header: &SegmentHeader,
        error: std::io::Error,
    ) -> FileError {
        file_error(&*self.storage, action, &name::segment(header.first))(error)
    }

    /// Syncs all, marks the end, takes no more events, and unlocks the folder. A second call does
    /// nothing.
    pub(crate) fn close(&self) -> Result<(), WriteError> {
        let mut writing = lock(&self.writing);
        if writing.is_closed {
            return Ok(());
        }
        writing.is_closed = true;
        let marked = self.sync_and_mark(&mut writing);
        // Before another process may open the journal and make spares of its own.
        writing.spares.close();
        *lock(&self.folder) = None;
        marked
    }

    fn sync_and_mark(&self, writing: &mut Writing) -> Result<(), WriteError> {
        self.syncing.sync()?;
        self.mark_end(writing)?;
        self.note_end(writing)
    }

    /// Notes in a second place where the journal ends.
    fn note_end(&self, writing: &Writing) -> Result<(), WriteError> {
        let closed = ClosedEnd { journal: writing.tail.header.journal, end: writing.next };
        if writing.next == 0 {
            return Ok(());
        }
        let written = closed::write(&*self.closed, closed);
        Ok(written.map_err(file_error(&*self.storage, "write a file", name::CLOSED))?)
    }

    /// Writes a frame without events that says that all is synced. Without it, damage to the last
    /// frames could not be told from a write that was never synced.
    fn mark_end(&self, writing: &mut Writing) -> Result<(), WriteError> {
        // A mark also overwrites what a failed write may have left.
        let is_proven = writing.is_proven && !writing.tail.has_failed();
        if is_proven || !writing.tail.has_room_for_mark() {
            return Ok(());
        }
        let mark = self.frame_header(writing, writing.next, 0, &[]);
        let written = writing.tail.write(&mark, &[]).and_then(|()| writing.tail.file.sync());
        written.map_err(|error| self.segment_error("write", &writing.tail.header, error))?;
        Ok(())
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        // `Journal::close` reports the error.
        let _ = self.close();
    }
}

fn acquire(storage: &dyn Storage) -> Result<FolderLock, OpenError> {
    storage.lock().map_err(|error| match error.kind() {
        std::io::ErrorKind::WouldBlock => {
            OpenError::Locked { file: storage.path().join(name::LOCK) }
        }
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
