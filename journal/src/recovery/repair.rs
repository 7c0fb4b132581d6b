//! Makes the files agree with what was recovered: cuts what follows the readable frames, and syncs
//! what no frame proves to be synced.

use std::io::{self, IoSlice};
use std::path::PathBuf;
use std::sync::Arc;

use lapwing::Sequence;

use super::Survey;
use crate::error::OpenError;
use crate::format::name;
use crate::format::segment::SegmentHeader;
use crate::reading::walker::{Walker, open_segment};
use crate::storage::{Storage, StorageFile, file_error, write_zeros};

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
    /// Segments after the cut, which were removed.
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

/// Where the next frame is written.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) file: Arc<dyn StorageFile>,
    pub(crate) header: SegmentHeader,
    pub(crate) offset: u64,
    /// Whether the last frame, if there is one, is the mark of a clean close.
    pub(crate) is_marked: bool,
}

/// Repairs the files. All that is readable is synced afterwards.
pub(crate) fn repair(
    storage: &dyn Storage,
    survey: &Survey,
) -> Result<(Recovered, End), OpenError> {
    let is_cut = survey.rest.used_until > 0 || !survey.later().is_empty();
    let file = cut(storage, survey)?;
    let first_unproven = survey.segments[..=survey.last_index]
        .partition_point(|&first| first <= survey.synced)
        .saturating_sub(1);
    if survey.synced < survey.end {
        for &first in &survey.segments[first_unproven..=survey.last_index] {
            write_again(storage, first, survey.synced)?;
        }
        storage.sync_folder().map_err(file_error(storage, "sync the folder", ""))?;
    }
    let name = name::segment(survey.last.first);
    let recovered = Recovered {
        oldest: survey.oldest(),
        next_sequence: survey.end,
        cut_bytes: survey.cut_bytes(),
        cut: is_cut.then(|| (storage.path().join(name), survey.offset)),
        removed_segments: survey.later().len(),
        resynced_events: survey.end - survey.synced,
    };
    let (header, offset, is_marked) = (survey.last, survey.offset, survey.is_marked);
    Ok((recovered, End { file, header, offset, is_marked }))
}

/// Removes the later segments, the last one first, and fills the rest of this one with zeros. A
/// crash in between leaves a journal that is cut at the same place.
fn cut(storage: &dyn Storage, survey: &Survey) -> Result<Arc<dyn StorageFile>, OpenError> {
    for &later in survey.later().iter().rev() {
        let name = name::segment(later);
        storage.remove(&name).map_err(file_error(storage, "remove a segment", &name))?;
        storage.sync_folder().map_err(file_error(storage, "sync the folder", ""))?;
    }
    let name = name::segment(survey.last.first);
    let (file, _) = open_segment(storage, survey.last.first)?;
    clear(&*file, survey).map_err(file_error(storage, "clear the end of a segment", &name))?;
    Ok(file)
}

/// Fills the file with zeros from the end of the readable frames on, and to its full length.
fn clear(file: &dyn StorageFile, survey: &Survey) -> io::Result<()> {
    let present = file.bytes()?;
    let is_short = present < survey.last.bytes;
    let end = if is_short { survey.last.bytes } else { survey.rest.used_until };
    if survey.offset < end {
        write_zeros(file, survey.offset..end)?;
        file.sync()?;
    }
    Ok(())
}

/// Writes the frames of a segment that end after `synced` again, with its header, and syncs them.
fn write_again(storage: &dyn Storage, first: Sequence, synced: Sequence) -> Result<(), OpenError> {
    let (file, header) = open_segment(storage, first)?;
    let name = name::segment(first);
    let header = header.expect("the survey has read the header");
    copy_onto_itself(&file, header, synced).and_then(|()| file.sync()).map_err(file_error(
        storage,
        "sync a segment",
        &name,
    ))?;
    Ok(())
}

fn copy_onto_itself(
    file: &Arc<dyn StorageFile>,
    header: SegmentHeader,
    synced: Sequence,
) -> io::Result<()> {
    file.write_at(&mut [IoSlice::new(&header.encode())], 0)?;
    let mut walker = Walker::new(Arc::clone(file), header);
    while let Some(frame) = walker.next()? {
        if frame.header.end() > synced {
            let head = frame.header.encode(header.seed());
            let parts = &mut [IoSlice::new(&head), IoSlice::new(frame.body)];
            file.write_at(parts, frame.offset)?;
        }
    }
    Ok(())
}
