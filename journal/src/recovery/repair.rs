//! Makes the files agree with what was recovered: cuts what follows the readable frames, and syncs
//! what no frame proves to be synced.

use std::io::{self, IoSlice};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use lapwing::Sequence;

use super::survey::Survey;
use crate::error::OpenError;
use crate::format::frame::NO_FRAME;
use crate::format::name;
use crate::format::segment::SegmentHeader;
use crate::segments::folder::open_segment;
use crate::segments::tail::Tail;
use crate::segments::walker::Walker;
use crate::storage::{Storage, StorageFile, file_error};

/// Bytes that are erased with one call.
const ERASED_PIECE: usize = 1 << 20;

/// What [`Journal::open`](crate::Journal::open) found.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let journal = lapwing_journal::Journal::<u64>::open(folder.path())?;
/// let recovered = journal.recovered();
/// assert_eq!((recovered.oldest, recovered.next_sequence, recovered.cut_bytes), (0, 0, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// The oldest event that is kept, or the next one if there is none.
    pub oldest: Sequence,
    /// The sequence after the last event.
    pub next_sequence: Sequence,
    /// Bytes of writes that were never synced and are not complete. They were cut.
    pub cut_bytes: u64,
    /// Where they were cut: the segment and the offset.
    pub cut: Option<(PathBuf, u64)>,
    /// Segments that are no part of the journal, which were removed: those after the cut, and those
    /// without a readable header.
    pub removed_segments: usize,
    /// Events that were readable although no frame proved that they were synced. They are synced
    /// now.
    pub resynced_events: u64,
}

impl Recovered {
    /// A journal that has just been made.
    pub(crate) fn nothing() -> Self {
        Self {
            oldest: 0,
            next_sequence: 0,
            cut_bytes: 0,
            cut: None,
            removed_segments: 0,
            resynced_events: 0,
        }
    }
}

/// Repairs the files. All that is readable is synced afterwards, and durable once the folder is
/// synced too. Returns also where the next frame is written.
pub(crate) fn repair(
    storage: &dyn Storage,
    survey: &Survey,
) -> Result<(Recovered, Tail), OpenError> {
    let name = name::segment(survey.last.first);
    let (file, _) = open_segment(storage, survey.last.first)?;
    remove_others(storage, survey)?;
    erase(&*file, survey.offset..survey.rest.used_until).map_err(file_error(
        storage,
        "erase the end of a segment",
        &name,
    ))?;
    write_unproven_again(storage, survey)?;
    let recovered = Recovered {
        oldest: survey.oldest(),
        next_sequence: survey.end,
        cut_bytes: survey.cut_bytes(),
        cut: survey.is_cut().then(|| (storage.path().join(name), survey.offset)),
        removed_segments: survey.others.len(),
        resynced_events: survey.end - survey.synced,
    };
    let is_proven = survey.synced == survey.end;
    Ok((recovered, Tail::new(file, survey.last, survey.offset, is_proven)))
}

/// Removes the segments that are no part of the journal. A crash before the folder is synced leaves a
/// journal that is cut at the same place.
fn remove_others(storage: &dyn Storage, survey: &Survey) -> Result<(), OpenError> {
    for &other in &survey.others {
        let name = name::segment(other);
        storage.remove(&name).map_err(file_error(storage, "remove a segment", &name))?;
    }
    Ok(())
}

/// Erases what follows the readable frames, durably: a frame in it could continue those that will be
/// written. This takes no space.
///
/// Zeros are not enough. If their sync failed, the next recovery would read zeros where the disk has
/// something else. It sees the other value, and erases again.
fn erase(file: &dyn StorageFile, range: Range<u64>) -> io::Result<()> {
    if range.is_empty() {
        return Ok(());
    }
    let mut piece = vec![0; ERASED_PIECE.min((range.end - range.start) as usize)];
    for value in [NO_FRAME, 0] {
        piece.fill(value);
        for offset in range.clone().step_by(piece.len()) {
            let length = piece.len().min((range.end - offset) as usize);
            file.write_at(&mut [IoSlice::new(&piece[..length])], offset)?;
        }
        file.sync()?;
    }
    Ok(())
}

/// Writes what no frame proves to be synced again, and syncs it. That includes a mark of a close at
/// the end, and the header of the last segment: no frame says that these are synced.
fn write_unproven_again(storage: &dyn Storage, survey: &Survey) -> Result<(), OpenError> {
    let segments = &survey.segments;
    let after = segments.partition_point(|&first| first <= survey.synced);
    for index in after.saturating_sub(1)..segments.len() {
        let later = segments[index + 1..].to_vec();
        write_again(storage, segments[index], later, survey.synced)?;
    }
    Ok(())
}

/// Writes the frames of a segment that do not end before `synced` again, with its header, and syncs
/// them.
fn write_again(
    storage: &dyn Storage,
    first: Sequence,
    later: Vec<Sequence>,
    synced: Sequence,
) -> Result<(), OpenError> {
    let (file, header) = open_segment(storage, first)?;
    let name = name::segment(first);
    let header = header.expect("the survey has read the header");
    copy_onto_itself(&file, header, later, synced)
        .and_then(|()| file.sync())
        .map_err(file_error(storage, "sync a segment", &name))?;
    Ok(())
}

fn copy_onto_itself(
    file: &Arc<dyn StorageFile>,
    header: SegmentHeader,
    later: Vec<Sequence>,
    synced: Sequence,
) -> io::Result<()> {
    file.write_at(&mut [IoSlice::new(&header.encode())], 0)?;
    let mut walker = Walker::new(Arc::clone(file), header, later);
    while let Some(frame) = walker.next()? {
        if frame.header.end() >= synced {
            let head = frame.header.encode(header.seed());
            let parts = &mut [IoSlice::new(&head), IoSlice::new(frame.body)];
            file.write_at(parts, frame.offset)?;
        }
    }
    Ok(())
}
