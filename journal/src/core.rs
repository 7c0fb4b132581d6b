//! An open journal: its state and what changes it. Not here: the ends that programs hold (`journal`,
//! `writer`, `syncer`).

use std::any::Any;
use std::hash::{BuildHasher, RandomState};
use std::io::IoSlice;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use lapwing::Sequence;

use crate::error::{FileError, OpenError, WriteError};
use crate::format::frame::FrameHeader;
use crate::format::segment::{self, SegmentHeader, Shape};
use crate::format::{name, now_ns};
use crate::options::Options;
use crate::recovery::{End, Recovered, repair, survey};
use crate::segments::spares::{Spares, remove_spares};
use crate::segments::tail::Tail;
use crate::storage::{Storage, StorageFile, file_error};
use crate::syncing::{Syncing, lock};

/// An open journal.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) syncing: Arc<Syncing>,
    pub(crate) recovered: Recovered,
    /// The most bytes of events in a frame.
    pub(crate) body_limit: u64,
    /// The end of what a replay has published or is publishing. The writer skips events below it
    /// that are recorded.
    replayed: AtomicU64,
    writing: Mutex<Writing>,
    /// Dropped last: then another process may open the journal.
    _lock: Box<dyn Any + Send + Sync>,
}

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
    /// Whether the last frame, if there is one, is the mark of a clean close.
    is_marked: bool,
}

impl Core {
    /// Locks, recovers and opens the journal in `storage`.
    pub(crate) fn open(
        storage: Arc<dyn Storage>,
        shape: Shape,
        options: &Options,
    ) -> Result<Self, OpenError> {
        let lock = acquire(&*storage)?;
        remove_spares(&*storage).map_err(file_error(&*storage, "remove a spare", ""))?;
        let mut spares = Spares::new(Arc::clone(&storage), options.segment_bytes);
        let survey = survey(&*storage, &mut |_, _, _| {})?;
        let (recovered, end) = match survey {
            Some(survey) => {
                check_shape(survey.last.shape, shape)?;
                repair(&*storage, &survey)?
            }
            None => begin(&*storage, &mut spares, shape, options.segment_bytes)?,
        };
        let next = recovered.next_sequence;
        let syncing = Arc::new(Syncing::new(Arc::clone(&storage), next));
        let tail = Tail::new(end.file, end.header, end.offset);
        syncing.add(name::segment(tail.header.first), Arc::clone(&tail.file), false);
        if options.prepares_ahead {
            let started = spares.start(Arc::clone(&syncing));
            started.map_err(file_error(&*storage, "start a thread", ""))?;
        }
        let (is_closed, is_marked) = (false, end.is_marked);
        let writing = Writing { tail, spares, next, unwritten: None, is_closed, is_marked };
        Ok(Self {
            storage,
            syncing,
            recovered,
            body_limit: options.body_limit(),
            replayed: AtomicU64::new(0),
            writing: Mutex::new(writing),
            _lock: lock,
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
        if !writing.tail.has_room(body.len() as u64) {
            self.roll(writing)?;
        }
        let header = FrameHeader {
            previous: writing.next,
            first,
            recorded_ns: now_ns(),
            synced: self.syncing.durable(),
            count,
            length: body.len() as u32, // at most `body_limit`
            body_sum: writing.tail.header.seed().sum(body),
        };
        let written = writing.tail.write(&header, body);
        written.map_err(|error| self.segment_error("write", &writing.tail.header, error))?;
        (writing.next, writing.is_marked) = (header.end(), false);
        self.syncing.set_written(writing.next);
        Ok(())
    }

    /// Continues in a new segment. After an error, the old one is still the one that is written.
    fn roll(&self, writing: &mut Writing) -> Result<(), FileError> {
        let Writing { tail, spares, next, .. } = writing;
        let erased = tail.erase_failed_write();
        erased.map_err(|error| self.segment_error("write", &tail.header, error))?;
        let spare = spares.take().map_err(file_error(&*self.storage, "make a segment", ""))?;
        let bytes = spare.file.bytes().map_err(file_error(&*self.storage, "read", &spare.name))?;
        let header = SegmentHeader { first: *next, bytes, created_ns: now_ns(), ..tail.header };
        let name = name::segment(*next);
        activate(&*self.storage, &spare.name, &*spare.file, &header)?;
        self.syncing.add(name, Arc::clone(&spare.file), true);
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

    /// Syncs all, marks the end, and takes no more events. A second call does nothing.
    pub(crate) fn close(&self) -> Result<(), WriteError> {
        let mut writing = lock(&self.writing);
        if writing.is_closed {
            return Ok(());
        }
        writing.is_closed = true;
        let end = self.syncing.sync()?;
        self.mark_end(&mut writing, end)
    }

    /// Writes a frame without events that says that all is synced. Without it, damage to the last
    /// frames could not be told from a write that was never synced.
    fn mark_end(&self, writing: &mut Writing, end: Sequence) -> Result<(), WriteError> {
        if writing.is_marked || !writing.tail.has_room_for_mark() {
            return Ok(());
        }
        let first = writing.next;
        let mark = FrameHeader {
            previous: first,
            first,
            recorded_ns: now_ns(),
            synced: end,
            count: 0,
            length: 0,
            body_sum: writing.tail.header.seed().sum(&[]),
        };
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

fn acquire(storage: &dyn Storage) -> Result<Box<dyn Any + Send + Sync>, OpenError> {
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

/// Makes the first segment of a journal. Its header is durable before its name.
fn begin(
    storage: &dyn Storage,
    spares: &mut Spares,
    shape: Shape,
    bytes: u64,
) -> Result<(Recovered, End), OpenError> {
    let spare = spares.take().map_err(file_error(storage, "make a segment", ""))?;
    let journal = random();
    let header = SegmentHeader { shape, journal, first: 0, bytes, created_ns: now_ns() };
    write_header(storage, &spare.name, &*spare.file, &header)?;
    spare.file.sync().map_err(file_error(storage, "sync a segment", &spare.name))?;
    let name = name::segment(0);
    storage.rename(&spare.name, &name).map_err(file_error(storage, "rename", &spare.name))?;
    storage.sync_folder().map_err(file_error(storage, "sync the folder", ""))?;
    let end = End { file: spare.file, header, offset: segment::LENGTH as u64, is_marked: true };
    Ok((Recovered::nothing(), end))
}

/// Writes the header of a spare and gives it its name.
fn activate(
    storage: &dyn Storage,
    spare: &str,
    file: &dyn StorageFile,
    header: &SegmentHeader,
) -> Result<(), FileError> {
    let name = name::segment(header.first);
    let activated = write_header(storage, spare, file, header)
        .and_then(|()| storage.rename(spare, &name).map_err(file_error(storage, "rename", spare)));
    if activated.is_err() {
        let _ = storage.remove(spare);
    }
    activated
}

fn write_header(
    storage: &dyn Storage,
    name: &str,
    file: &dyn StorageFile,
    header: &SegmentHeader,
) -> Result<(), FileError> {
    let written = file.write_at(&mut [IoSlice::new(&header.encode())], 0);
    written.map_err(file_error(storage, "write a segment", name))
}

/// A number that no other journal has. The standard library seeds its hashers randomly.
fn random() -> u128 {
    let half = || u128::from(RandomState::new().hash_one(now_ns()));
    (half() << 64) | half()
}
