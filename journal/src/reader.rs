//! Recorded frames with their events, as programs read them.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lapwing::Sequence;

use crate::body::{decode, next_event};
use crate::encoding::{Encoding, Plain};
use crate::error::{Defect, OpenError, ReadError};
use crate::format::frame::FrameHeader;
use crate::format::name;
use crate::segments::folder::{damage, open_segment, segments};
use crate::segments::walker::Walker;
use crate::storage::disk::Disk;
use crate::storage::{Storage, file_error};

/// Reads recorded events in order. [`Journal::read`](crate::Journal::read) returns it.
#[derive(Debug)]
pub struct Reader<E, T> {
    storage: Arc<dyn Storage>,
    /// The segments that are not begun.
    segments: VecDeque<Sequence>,
    walker: Option<(Sequence, Walker)>,
    /// The last segment without a readable header. If the one before it does not go on there, it is
    /// missing.
    unreadable: Option<Sequence>,
    /// The events that are left.
    left: Range<Sequence>,
    events: PhantomData<fn(T) -> E>,
}

/// Returns a reader of the events `range` in the journal in `folder`, which another process may have
/// open. Takes no lock and changes nothing.
///
/// The caller knows that all events of the range are written, for example since
/// [`Journal::synced`](crate::Journal::synced) has passed them. Plain events are read as they are:
/// their type must be the one that was written. Only their length is checked.
///
/// ```
/// use lapwing_journal::{Journal, read_range};
///
/// let folder = tempfile::tempdir()?;
/// let journal = Journal::<u64>::open(folder.path())?; // stays open, and locked
/// journal.writer().write(&[7, 8, 9], 0)?;
/// let mut events = Vec::new();
/// let reader = read_range::<u64>(folder.path(), 1..2)?;
/// reader.for_each(0, |sequence, event| events.push((sequence, *event)))?;
/// assert_eq!(events, [(1, 8)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`ReadError::NotRecorded`] if the range begins before what is kept, [`ReadError::File`] if the
/// system refused a call. A read after the end of the journal is [`ReadError::Damaged`].
pub fn read_range<E>(
    folder: impl AsRef<Path>,
    range: Range<Sequence>,
) -> Result<Reader<E, Plain>, ReadError>
where
    Plain: Encoding<E>,
{
    let disk = Disk::existing(folder.as_ref())?;
    Reader::new(Arc::new(disk), range.start, range.end)
}

impl<E, T: Encoding<E>> Reader<E, T> {
    pub(crate) fn new(
        storage: Arc<dyn Storage>,
        from: Sequence,
        end: Sequence,
    ) -> Result<Self, ReadError> {
        let firsts = segments(&*storage)?;
        let oldest = firsts.first().copied().unwrap_or(end);
        if from < oldest || from > end {
            return Err(ReadError::NotRecorded { requested: from, oldest, end });
        }
        let (segments, left) = (firsts.into(), from..end);
        let (walker, unreadable, events) = (None, None, PhantomData);
        Ok(Self { storage, segments, walker, unreadable, left, events })
    }

    /// Returns the sequences that are left to read. Some may be gaps.
    #[must_use]
    pub fn left(&self) -> Range<Sequence> {
        self.left.clone()
    }

    /// Returns the next frame, or `None` at the end.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// let journal = lapwing_journal::Journal::<u64>::open(folder.path())?;
    /// journal.writer().write(&[7, 8], 0)?;
    /// let mut reader = journal.read(0)?;
    /// let frame = reader.next_frame()?.unwrap();
    /// assert_eq!(frame.sequences(), 0..2);
    /// assert!(reader.next_frame()?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`ReadError::Damaged`] if the frame is not readable.
    /// - [`ReadError::EventBytes`] and [`ReadError::Version`] if another program, or a later version
    ///   of this crate, wrote the journal that [`read_range`] reads.
    /// - [`ReadError::File`] if the system refused a call.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_, E, T>>, ReadError> {
        while !self.left.is_empty() {
            let Some(header) = self.step()? else { continue };
            if header.first >= self.left.end {
                // The rest is a gap. What follows may still be being written.
                self.left.start = self.left.end;
                break;
            }
            let end = header.end().min(self.left.end);
            let sequences = header.first.max(self.left.start)..end;
            if sequences.is_empty() {
                continue;
            }
            self.left.start = end;
            let body = self.walker.as_ref().map_or([].as_slice(), |(_, walker)| walker.last_body());
            return Ok(Some(Frame::new(header, body, sequences)));
        }
        Ok(None)
    }

    /// Reads one frame, or goes to the next segment.
    fn step(&mut self) -> Result<Option<FrameHeader>, ReadError> {
        let Some((first, walker)) = &mut self.walker else {
            self.begin()?;
            return Ok(None);
        };
        let (expected, offset) = (walker.expected(), walker.offset());
        if let Some(&next) = self.segments.front().filter(|&&next| next <= expected) {
            self.segments.pop_front();
            // One that begins inside of this segment has nothing that is not here.
            if next == expected {
                self.open(next)?;
            }
            return Ok(None);
        }
        let (first, name) = (*first, name::segment(*first));
        let read = walker.next().map_err(file_error(&*self.storage, "read a segment", &name))?;
        match read {
            Some(frame) => Ok(Some(frame.header)),
            None if self.unreadable == Some(expected) => {
                Err(self.damage(expected, 0, expected, Defect::Frame))
            }
            None => Err(self.damage(first, offset, expected, Defect::Frame)),
        }
    }

    /// Opens the last segment that begins at or before the events to read.
    fn begin(&mut self) -> Result<(), ReadError> {
        let mut later = self.segments.partition_point(|&first| first <= self.left.start);
        let wanted = later.checked_sub(1).map_or(self.left.start, |index| self.segments[index]);
        while self.walker.is_none() {
            let Some(index) = later.checked_sub(1) else {
                return Err(self.damage(wanted, 0, wanted, Defect::Frame));
            };
            self.open(self.segments[index])?;
            later = index;
        }
        self.segments.drain(..=later);
        Ok(())
    }

    /// Goes on in a segment, if its header is readable.
    fn open(&mut self, first: Sequence) -> Result<(), ReadError> {
        let opened = open_segment(&*self.storage, first).map_err(|error| match error {
            OpenError::File(error) => ReadError::File(error),
            OpenError::Version { file, version } => ReadError::Version { file, version },
            _ => self.damage(first, 0, first, Defect::Frame),
        });
        let (file, Some(header)) = opened? else {
            self.unreadable = Some(first);
            return Ok(());
        };
        if self.walker.as_ref().is_some_and(|(_, walker)| walker.journal() != header.journal) {
            return Err(self.damage(first, 0, first, Defect::OtherJournal));
        }
        let (found, expected) = (header.shape.event_bytes, T::EVENT_BYTES);
        if u64::from(found) != expected as u64 {
            return Err(ReadError::EventBytes { found, expected });
        }
        self.walker = Some((first, Walker::new(file, header, Vec::new())));
        Ok(())
    }

    fn damage(
        &self,
        segment: Sequence,
        offset: u64,
        sequence: Sequence,
        defect: Defect,
    ) -> ReadError {
        damage(&*self.storage, segment, offset, sequence, defect).into()
    }

    /// Calls `handle` with each event. `event` is what events are decoded into.
    ///
    /// # Errors
    ///
    /// Those of [`next_frame`](Self::next_frame), and [`ReadError::Decode`] if the encoding refuses
    /// the bytes of an event.
    pub fn for_each(
        mut self,
        mut event: E,
        mut handle: impl FnMut(Sequence, &E),
    ) -> Result<(), ReadError> {
        while let Some(frame) = self.next_frame()? {
            for (sequence, bytes) in frame.events() {
                decode::<E, T>(sequence, bytes, &mut event)?;
                handle(sequence, &event);
            }
        }
        Ok(())
    }
}

/// A batch as it was written.
#[derive(Debug)]
pub struct Frame<'a, E, T> {
    header: FrameHeader,
    body: &'a [u8],
    /// The events that were asked for.
    sequences: Range<Sequence>,
    events: PhantomData<fn(T) -> E>,
}

impl<'a, E, T: Encoding<E>> Frame<'a, E, T> {
    fn new(header: FrameHeader, body: &'a [u8], sequences: Range<Sequence>) -> Self {
        Self { header, body, sequences, events: PhantomData }
    }

    /// Returns the sequences of its events. If reading begins or ends in the middle of a frame, these
    /// are the events that were asked for.
    #[must_use]
    pub fn sequences(&self) -> Range<Sequence> {
        self.sequences.clone()
    }

    /// Returns when the frame was written.
    #[must_use]
    pub fn recorded_at(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_nanos(self.header.recorded_ns)
    }

    /// Returns each event's sequence and bytes.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// let journal = lapwing_journal::Journal::<u8>::open(folder.path())?;
    /// journal.writer().write(&[7, 8], 0)?;
    /// let mut reader = journal.read(1)?;
    /// let frame = reader.next_frame()?.unwrap();
    /// assert_eq!(frame.events().collect::<Vec<_>>(), [(1, [8].as_slice())]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn events(&self) -> impl Iterator<Item = (Sequence, &'a [u8])> + use<'a, E, T> {
        let mut left = self.body;
        let all = (self.header.first..self.header.end())
            .map(move |sequence| (sequence, next_event::<E, T>(&mut left)));
        let skipped = self.sequences.start - self.header.first;
        let count = self.sequences.end - self.sequences.start;
        all.skip(skipped as usize).take(count as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::segment::{self, SegmentHeader};

    /// A journal of a later version was a damaged one, to be restored from a copy.
    #[test]
    fn a_later_version_is_not_damage() {
        let folder = tempfile::tempdir().unwrap();
        crate::Journal::<u64>::open(folder.path()).unwrap().writer().write(&[7], 0).unwrap();
        let path = folder.path().join(name::segment(0));
        let mut bytes = std::fs::read(&path).unwrap();
        let (header, _) = bytes.split_first_chunk_mut::<{ segment::LENGTH }>().unwrap();
        let seed = SegmentHeader::decode(header).unwrap().seed();
        header[8] = 2;
        let sum = seed.sum(&header[..segment::LENGTH - 4]);
        header[segment::LENGTH - 4..].copy_from_slice(&sum.to_le_bytes());
        std::fs::write(&path, bytes).unwrap();

        let mut reader = read_range::<u64>(folder.path(), 0..1).unwrap();
        let error = reader.next_frame().unwrap_err();
        assert!(matches!(error, ReadError::Version { version: 2, .. }), "{error}");
    }
}
