//! A spare becomes a segment: it gets its header and its name.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, IoSlice};

use super::spares::{Spare, Spares};
use super::tail::Tail;
use crate::error::FileError;
use crate::format::segment::{SegmentHeader, Shape};
use crate::format::{name, now_ns};
use crate::storage::{Storage, file_error};

/// Makes the first segment of a journal. Its header is durable before its name, and its name once
/// the folder is synced.
pub(crate) fn begin(
    storage: &dyn Storage,
    spares: &mut Spares,
    shape: Shape,
) -> Result<Tail, FileError> {
    let spare = spares.take().map_err(file_error(storage, "make a segment", ""))?;
    let (journal, bytes, created_ns) = (random(), spare.bytes, now_ns());
    let header = SegmentHeader { shape, journal, first: 0, bytes, created_ns };
    activate(storage, &spare, &header, true)?;
    Ok(Tail::empty(spare.file, header, true))
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
