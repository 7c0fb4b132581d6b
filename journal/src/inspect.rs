//! What is in the folder of a journal. Reads only, and needs no lock.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lapwing::Sequence;

use crate::error::OpenError;
use crate::format::name;
use crate::recovery::survey;
use crate::storage::disk::Disk;

/// What [`inspect`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// The segments in which readable frames are, in order.
    pub segments: Vec<SegmentInfo>,
    /// The sequence after the last event.
    pub end: Sequence,
    /// The end of what frames prove to be synced.
    pub synced: Sequence,
    /// Whether the journal was closed cleanly.
    pub is_closed: bool,
    /// Bytes after the readable frames that an open would cut.
    pub cut_bytes: u64,
    /// Segments that an open would remove: those after them, and those without a readable header.
    pub removed_segments: usize,
}

/// One segment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentInfo {
    /// The file.
    pub file: PathBuf,
    /// The first event.
    pub first: Sequence,
    /// The sequence after the last event.
    pub end: Sequence,
    /// Number of frames, marks of a clean close included.
    pub frames: u64,
    /// Number of events. Gaps do not count.
    pub events: u64,
    /// Bytes of header and frames.
    pub bytes: u64,
}

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameInfo {
    /// First sequence of the segment.
    pub segment: Sequence,
    /// Where the frame begins in the file.
    pub offset: u64,
    /// The end of the frame before it. The sequences from there to `first` were given up.
    pub previous: Sequence,
    /// The first event.
    pub first: Sequence,
    /// Number of events. 0 is the mark of a clean close.
    pub count: u32,
    /// Bytes of the events.
    pub body_bytes: u32,
    /// When the frame was written.
    pub recorded_at: SystemTime,
    /// The end of what was synced when the frame was written.
    pub synced: Sequence,
}

/// Reads all frames of the journal in `folder`, checks them, and calls `visit` with each.
///
/// If the journal is open in another process, what that process writes meanwhile may look like
/// something to cut.
///
/// ```
/// use lapwing_journal::{Journal, inspect::inspect};
///
/// let folder = tempfile::tempdir()?;
/// let journal = Journal::<u64>::open(folder.path())?;
/// journal.writer().write(&[7, 8], 0)?;
/// journal.close()?;
/// let mut counts = Vec::new();
/// let found = inspect(folder.path(), |frame| counts.push(frame.count))?;
/// assert_eq!(counts, [2, 0]); // the second is the mark of the close
/// assert_eq!((found.end, found.synced, found.is_closed), (2, 2, true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`OpenError::Damaged`] if synced events are unreadable or missing, [`OpenError::Version`] if a later
/// version of this crate wrote the journal, [`OpenError::File`] if the system refused a call.
pub fn inspect(
    folder: impl AsRef<Path>,
    mut visit: impl FnMut(&FrameInfo),
) -> Result<Inspection, OpenError> {
    let folder = folder.as_ref();
    let disk = Disk::existing(folder)?;
    let mut segments = Vec::new();
    let survey = survey(&disk, &mut |segment, offset, frame| {
        let frame = FrameInfo {
            segment,
            offset,
            previous: frame.previous,
            first: frame.first,
            count: frame.count,
            body_bytes: frame.length,
            recorded_at: UNIX_EPOCH + Duration::from_nanos(frame.recorded_ns),
            synced: frame.synced,
        };
        add(&mut segments, folder, &frame);
        visit(&frame);
    })?;
    let mut found = Inspection {
        segments,
        end: 0,
        synced: 0,
        is_closed: true,
        cut_bytes: 0,
        removed_segments: 0,
    };
    if let Some(survey) = survey {
        (found.end, found.synced) = (survey.end, survey.synced);
        found.is_closed = survey.is_marked;
        found.cut_bytes = survey.cut_bytes();
        found.removed_segments = survey.others.len();
    }
    Ok(found)
}

/// Counts a frame in its segment.
fn add(segments: &mut Vec<SegmentInfo>, folder: &Path, frame: &FrameInfo) {
    let first = frame.segment;
    if segments.last().is_none_or(|last| last.first != first) {
        let file = folder.join(name::segment(first));
        segments.push(SegmentInfo { file, first, end: first, frames: 0, events: 0, bytes: 0 });
    }
    if let Some(last) = segments.last_mut() {
        last.end = frame.first + u64::from(frame.count);
        last.frames += 1;
        last.events += u64::from(frame.count);
        last.bytes = frame.offset + crate::format::frame::frame_bytes(frame.body_bytes.into());
    }
}
