//! A spare becomes a segment: it gets its header and its name.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, IoSlice};

use lapwing::Sequence;

use crate::closed;
use crate::error::{FileError, OpenError};
use crate::format::segment::{self, SegmentHeader, Shape};
use crate::format::{name, now_ns};
use crate::recovery::End;
use crate::segments::spares::{Spare, Spares};
use crate::storage::{Storage, file_error};

/// Makes the first segment of a journal.
pub(crate) fn begin(
    storage: &dyn Storage,
    spares: &mut Spares,
    shape: Shape,
) -> Result<End, OpenError> {
    closed::make(storage)?;
    let (journal, created_ns) = (random(), now_ns());
    make(storage, spares, SegmentHeader { shape, journal, first: 0, bytes: 0, created_ns })
}

/// Makes the segment that begins with `first`, after a segment with the header `before`.
pub(crate) fn continue_at(
    storage: &dyn Storage,
    spares: &mut Spares,
    before: SegmentHeader,
    first: Sequence,
) -> Result<End, OpenError> {
    make(storage, spares, SegmentHeader { first, created_ns: now_ns(), ..before })
}

/// Makes an empty segment. Its header is durable before its name, and its name once the folder is
/// synced.
fn make(
    storage: &dyn Storage,
    spares: &mut Spares,
    header: SegmentHeader,
) -> Result<End, OpenError> {
    let spare = spares.take().map_err(file_error(storage, "make a segment", ""))?;
    let header = SegmentHeader { bytes: spare.bytes, ..header };
    activate(storage, &spare, &header, true)?;
    let offset = segment::LENGTH as u64;
    Ok(End { file: spare.file, header, offset, is_proven: true, is_unclean: false })
}

/// Writes the header of a spare and gives it its name. The name is durable once the folder is
/// synced.
///
/// The header must be durable before its name if it replaces a segment with the same name, or if it
/// is that of the oldest segment.
pub(crate) fn activate(
    storage: &dyn Storage,
    spare: &Spare,
    header: &SegmentHeader,
    syncs: bool,
) -> Result<(), FileError> {
    let name = name::segment(header.first);
    let error = |action| file_error(storage, action, &spare.name);
    let activated = write_header(spare, header, syncs)
        .map_err(error("write a segment"))
        .and_then(|()| storage.rename(&spare.name, &name).map_err(error("rename a segment")));
    if activated.is_err() {
        let _ = storage.remove(&spare.name);
    }
    activated
}

fn write_header(spare: &Spare, header: &SegmentHeader, syncs: bool) -> io::Result<()> {
    spare.file.write_at(&mut [IoSlice::new(&header.encode())], 0)?;
    if syncs { spare.file.sync() } else { Ok(()) }
}

/// A number that no other journal has. The standard library seeds its hashers randomly.
fn random() -> u128 {
    let half = || u128::from(RandomState::new().hash_one(now_ns()));
    (half() << 64) | half()
}
