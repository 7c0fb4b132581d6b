//! The segments of a folder: which there are, and the header of each.

use std::sync::Arc;

use lapwing::Sequence;

use crate::error::{Damage, Defect, FileError, OpenError};
use crate::format::name;
use crate::format::segment::{self, NoHeader, SegmentHeader};
use crate::storage::{Storage, StorageFile, file_error, read_fully};

/// The first sequences of all segments, in order.
pub(crate) fn segments(storage: &dyn Storage) -> Result<Vec<Sequence>, FileError> {
    let names = storage.names().map_err(file_error(storage, "list the folder", ""))?;
    let mut firsts: Vec<_> = names.iter().filter_map(|name| name::parse_segment(name)).collect();
    firsts.sort_unstable();
    Ok(firsts)
}

/// Opens a segment. The header is `None` if it is unreadable.
pub(crate) fn open_segment(
    storage: &dyn Storage,
    first: Sequence,
) -> Result<(Arc<dyn StorageFile>, Option<SegmentHeader>), OpenError> {
    let name = name::segment(first);
    let file = storage.open(&name).map_err(file_error(storage, "open a segment", &name))?;
    let mut bytes = [0; segment::LENGTH];
    let read = read_fully(&*file, &mut bytes, 0);
    let read = read.map_err(file_error(storage, "read a segment", &name))?;
    match SegmentHeader::decode(&bytes[..read]) {
        Ok(header) => Ok((file, Some(header).filter(|header| header.first == first))),
        Err(NoHeader::Unreadable) => Ok((file, None)),
        Err(NoHeader::Version(version)) => {
            Err(OpenError::Version { file: storage.path().join(name), version })
        }
    }
}

/// What is wrong at an offset of a segment.
pub(crate) fn damage(
    storage: &dyn Storage,
    segment: Sequence,
    offset: u64,
    sequence: Sequence,
    defect: Defect,
) -> Damage {
    Damage { file: storage.path().join(name::segment(segment)), offset, sequence, defect }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::format::segment::Shape;
    use crate::storage::disk::Disk;

    /// A header whose last byte is zero, as that of one segment in 256.
    fn ends_with_zero() -> [u8; segment::LENGTH] {
        let shape = Shape { event_bytes: 8, schema: 0 };
        let header =
            |created_ns| SegmentHeader { shape, journal: 7, first: 0, bytes: 1024, created_ns };
        let mut headers = (0..).map(|time| header(time).encode());
        headers.find(|bytes| bytes.ends_with(&[0])).unwrap()
    }

    #[test]
    fn a_header_that_is_cut_was_whole_if_it_ended_with_zero() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::create(folder.path()).unwrap();
        let header = ends_with_zero();
        for (length, is_whole) in [(segment::LENGTH, true), (segment::LENGTH - 1, false)] {
            fs::write(folder.path().join(name::segment(0)), &header[..length]).unwrap();
            let (_, found) = open_segment(&disk, 0).unwrap();
            assert_eq!(found.is_some(), is_whole, "length={length}");
        }
    }
}
