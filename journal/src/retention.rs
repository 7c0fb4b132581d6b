//! Segments that are no longer needed are removed or archived, the oldest first.

use std::io;
use std::path::Path;

use lapwing::Sequence;

use crate::error::{FileError, OpenError};
use crate::format::name;
use crate::format::segment::SegmentHeader;
use crate::segments::folder::{open_segment, segments};
use crate::storage::disk::Disk;
use crate::storage::{Storage, file_error};

/// Removes the segments whose events are all below `sequence`. All below it must be synced.
pub(crate) fn remove(storage: &dyn Storage, sequence: Sequence) -> Result<usize, FileError> {
    each_before(storage, sequence, |name| {
        storage.remove(name).map_err(file_error(storage, "remove a segment", name))
    })
}

/// Moves the segments whose events are all below `sequence` to `archive`.
pub(crate) fn archive(
    storage: &dyn Storage,
    sequence: Sequence,
    archive: &Path,
) -> Result<usize, FileError> {
    let kept = Disk::archive(archive)?;
    check_archive(storage, &kept)?;
    each_before(storage, sequence, |name| {
        let moved = storage.move_out(name, kept.folder());
        moved.map_err(file_error(&kept, "archive a segment", name))
    })
}

/// Fails if the archive has segments of another journal.
fn check_archive(storage: &dyn Storage, archive: &Disk) -> Result<(), FileError> {
    match (last_segment(storage), last_segment(archive)) {
        (Some(own), Some(other)) if own.journal != other.journal => {
            let error = io::Error::new(
                io::ErrorKind::AlreadyExists,
                "the archive has segments of another journal",
            );
            let name = name::segment(other.first);
            Err(file_error(archive, "archive a segment", &name)(error))
        }
        _ => Ok(()),
    }
}

/// The last segment whose header is readable.
fn last_segment(storage: &dyn Storage) -> Option<SegmentHeader> {
    let firsts = segments(storage).ok()?;
    firsts.iter().rev().find_map(|&first| open_segment(storage, first).ok()?.1)
}

fn each_before(
    storage: &dyn Storage,
    sequence: Sequence,
    mut take: impl FnMut(&str) -> Result<(), FileError>,
) -> Result<usize, FileError> {
    let taken = before(storage, sequence)?;
    let sync = || storage.sync_folder().map_err(file_error(storage, "sync the folder", ""));
    for &first in &taken {
        // One at a time, so that a crash leaves no hole. The first sync is for the removal of an
        // earlier call whose sync has failed.
        sync()?;
        take(&name::segment(first))?;
    }
    if !taken.is_empty() {
        sync()?;
    }
    Ok(taken.len())
}

/// The segments whose events are all below `sequence`, in the order in which they may be taken.
fn before(storage: &dyn Storage, sequence: Sequence) -> Result<Vec<Sequence>, FileError> {
    let (mut readable, mut strays) = (Vec::new(), Vec::new());
    for first in segments(storage)?.into_iter().take_while(|&first| first < sequence) {
        match open_segment(storage, first) {
            Ok((_, Some(_))) => readable.push(first),
            Ok((_, None)) => strays.push(first),
            Err(OpenError::File(error)) => return Err(error),
            // One of a later version, which came after the journal was opened.
            Err(_) => break,
        }
    }
    // The last one begins below `sequence`, so one of its events is synced, and so is its header.
    // Recovery begins with that header, and a file without one must not be the oldest.
    let kept = readable.pop();
    strays.retain(|&stray| kept.is_some_and(|kept| stray < kept));
    Ok(strays.into_iter().chain(readable).collect())
}
