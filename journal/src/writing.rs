//! The end of an open journal, where frames are written: which events come next, and in which
//! segment. Not here: what a stage writes (`writer`), and how the journal is opened (`core`).

use std::io;
use std::sync::Arc;

use lapwing::Sequence;

use crate::closed;
use crate::error::{FileError, WriteError};
use crate::format::closed::ClosedEnd;
use crate::format::frame::FrameHeader;
use crate::format::segment::SegmentHeader;
use crate::format::{name, now_ns};
use crate::segments::making::activate;
use crate::segments::spares::Spares;
use crate::segments::tail::Tail;
use crate::storage::{Storage, StorageFile, file_error};
use crate::syncing::Syncing;

/// What only one thread at a time may change.
#[derive(Debug)]
pub(crate) struct Writing {
    storage: Arc<dyn Storage>,
    /// The file that says where the journal was closed.
    closed: Arc<dyn StorageFile>,
    syncing: Arc<Syncing>,
    tail: Tail,
    spares: Spares,
    /// The sequence after the last frame.
    next: Sequence,
    /// The first event of a batch that was not written, or not completely. Only that batch may come
    /// next.
    unwritten: Option<Sequence>,
    is_closed: bool,
    /// Whether a failed write must be erased before the next one.
    must_erase: bool,
}

impl Writing {
    /// Continues after the last frame of the segment `tail`, which ends before `next`.
    pub(crate) fn new(
        storage: Arc<dyn Storage>,
        closed: Arc<dyn StorageFile>,
        syncing: Arc<Syncing>,
        tail: Tail,
        spares: Spares,
        next: Sequence,
    ) -> Self {
        let (unwritten, is_closed, must_erase) = (None, false, false);
        syncing.add(name::segment(tail.header().first), Arc::clone(tail.file()), false);
        Self { storage, closed, syncing, tail, spares, next, unwritten, is_closed, must_erase }
    }

    /// Fails if nothing may be written.
    pub(crate) fn check(&self) -> Result<(), WriteError> {
        if self.is_closed {
            return Err(WriteError::Closed);
        }
        Ok(self.syncing.check()?)
    }

    /// Begins a batch of `length` events. Returns how many of the first ones are recorded already:
    /// by an earlier attempt to write the batch, or because a replay has published the events below
    /// `replayed`.
    pub(crate) fn begin_batch(
        &mut self,
        first: Sequence,
        length: u64,
        replayed: Sequence,
    ) -> Result<usize, WriteError> {
        let expected = self.next;
        let is_retry = self.unwritten == Some(first);
        if let Some(missing) = self.unwritten
            && !is_retry
        {
            return Err(WriteError::Skipped { first, missing });
        }
        let known = if is_retry { expected } else { replayed };
        let below = expected.min(first + length);
        if first < below && known < below {
            return Err(WriteError::AlreadyRecorded { first, expected });
        }
        self.unwritten = Some(first);
        Ok(below.saturating_sub(first) as usize)
    }

    /// Notes that all of the batch is written.
    pub(crate) fn end_batch(&mut self) {
        self.unwritten = None;
    }

    /// Notes that a batch which was not written will not be written again.
    pub(crate) fn give_up_batch(&mut self) {
        self.unwritten = None;
        self.must_erase = self.tail.has_failed();
    }

    /// Writes a frame with `count` events that begin with `first`.
    pub(crate) fn write_frame(
        &mut self,
        first: Sequence,
        count: u32,
        body: &[u8],
    ) -> Result<(), WriteError> {
        self.erase_given_up()?;
        if !self.tail.has_room(body.len() as u64) {
            self.roll()?;
        }
        let header = self.frame_header(first, count, body);
        let written = self.tail.write(&header, body);
        written.map_err(|error| self.segment_error(error))?;
        self.next = header.end();
        self.syncing.set_written(self.next);
        Ok(())
    }

    /// The header of the next frame, whose events begin with `first`.
    fn frame_header(&self, first: Sequence, count: u32, body: &[u8]) -> FrameHeader {
        FrameHeader {
            previous: self.next,
            first,
            recorded_ns: now_ns(),
            synced: self.syncing.durable(),
            count,
            length: body.len() as u32, // at most the limit of `Options`
            body_sum: self.tail.header().seed().sum(body),
        }
    }

    /// Erases what a failed write may have left, durably, if its batch was given up. Otherwise,
    /// recovery could find that batch in place of the next one.
    fn erase_given_up(&mut self) -> Result<(), WriteError> {
        if self.must_erase {
            let erased = self.tail.erase_failed_write();
            erased.map_err(|error| self.segment_error(error))?;
            self.syncing.sync_always()?;
            self.must_erase = false;
        }
        Ok(())
    }

    /// Continues in a new segment. After an error, the old one is still the one that is written.
    fn roll(&mut self) -> Result<(), FileError> {
        let storage = &*self.storage;
        let spare = self.spares.take().map_err(file_error(storage, "make a segment", ""))?;
        let (first, bytes, last) = (self.next, spare.bytes, *self.tail.header());
        let header = SegmentHeader { first, bytes, created_ns: now_ns(), ..last };
        activate(storage, &spare, &header, first == last.first)?;
        self.syncing.add(name::segment(first), Arc::clone(&spare.file), true);
        self.tail = Tail::empty(spare.file, header, self.tail.is_proven());
        Ok(())
    }

    /// The error of a write to the segment.
    fn segment_error(&self, error: io::Error) -> FileError {
        file_error(&*self.storage, "write", &name::segment(self.tail.header().first))(error)
    }

    /// Syncs all, marks the end, takes no more events, and removes the spares. A second call does
    /// nothing and returns [`WriteError::Closed`].
    pub(crate) fn close(&mut self) -> Result<(), WriteError> {
        if std::mem::replace(&mut self.is_closed, true) {
            return Err(WriteError::Closed);
        }
        let marked = self.sync_and_mark();
        self.spares.close();
        marked
    }

    fn sync_and_mark(&mut self) -> Result<(), WriteError> {
        self.syncing.sync()?;
        self.mark_end()?;
        self.note_end()
    }

    /// Writes a frame without events that says that all is synced. Without it, damage to the last
    /// frames could not be told from a write that was never synced.
    fn mark_end(&mut self) -> Result<(), WriteError> {
        // A mark also overwrites what a failed write may have left.
        let is_proven = self.tail.is_proven() && !self.tail.has_failed();
        if is_proven || !self.tail.has_room_for_mark() {
            return Ok(());
        }
        let mark = self.frame_header(self.next, 0, &[]);
        let written = self.tail.write(&mark, &[]).and_then(|()| self.tail.file().sync());
        written.map_err(|error| self.segment_error(error))?;
        Ok(())
    }

    /// Notes in a second place where the journal ends.
    fn note_end(&self) -> Result<(), WriteError> {
        if self.next == 0 {
            return Ok(());
        }
        let closed = ClosedEnd { journal: self.tail.header().journal, end: self.next };
        let written = closed::write(&*self.closed, closed);
        Ok(written.map_err(file_error(&*self.storage, "write a file", name::CLOSED))?)
    }
}
