//! What is in the files after the readable frames: headers of frames, which say how far the journal
//! was synced, and bytes that are not zero.

use lapwing::Sequence;

use crate::error::OpenError;
use crate::format::ALIGNMENT;
use crate::format::checksum::Seed;
use crate::format::frame::{self, FrameHeader};
use crate::format::name;
use crate::format::segment::SegmentHeader;
use crate::segments::folder::open_segment;
use crate::segments::window::Window;
use crate::storage::{Storage, file_error};

/// What follows the readable frames.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Evidence {
    /// The greatest `synced` of a frame header, or 0.
    pub(crate) synced: Sequence,
    /// In the segment where the readable frames end: the end of the bytes that are not zero, or 0.
    pub(crate) used_until: u64,
    /// Bytes that are not zero in later segments, up to the last of each.
    pub(crate) later_bytes: u64,
}

/// Searches from the end of the readable frames to the end of their segment, and the other segments.
///
/// The readable frames end before `end`, at `offset` of the segment `last`.
pub(super) fn after(
    storage: &dyn Storage,
    last: &SegmentHeader,
    offset: u64,
    end: Sequence,
    others: &[Sequence],
) -> Result<Evidence, OpenError> {
    let mut evidence = search(storage, last.journal, last.first, offset)?;
    for &other in others {
        let found = search(storage, last.journal, other, 0)?;
        evidence.synced = evidence.synced.max(found.synced);
        if other >= end {
            evidence.later_bytes += found.used_until;
        }
    }
    Ok(evidence)
}

/// Searches one segment from `offset` on. Its header may be unreadable: the name has its first
/// sequence, and so the seed of its checksums is known.
fn search(
    storage: &dyn Storage,
    journal: u128,
    first: Sequence,
    offset: u64,
) -> Result<Evidence, OpenError> {
    let (file, _) = open_segment(storage, first)?;
    let seed = Seed::of_segment(journal, first);
    let name = name::segment(first);
    let mut found = Evidence::default();
    let mut window = Window::new(file);
    let mut at = offset;
    loop {
        let bytes = window.bytes_from(at, frame::LENGTH).map_err(file_error(
            storage,
            "read a segment",
            &name,
        ))?;
        if bytes.is_empty() {
            return Ok(found);
        }
        at += search_bytes(bytes, at, seed, &mut found);
    }
}

/// Searches `bytes`, which begin at `offset` of the file. Returns the number of bytes that are
/// done: not a header's length at the end, unless it is the end of the file.
fn search_bytes(bytes: &[u8], offset: u64, seed: Seed, found: &mut Evidence) -> u64 {
    const STEP: usize = ALIGNMENT as usize;
    let whole = (bytes.len() + 1).saturating_sub(frame::LENGTH).next_multiple_of(STEP);
    let done = if whole == 0 { bytes.len() } else { whole.min(bytes.len()) };
    for (index, word) in bytes[..done].chunks(STEP).enumerate() {
        if word.iter().all(|&byte| byte == 0) {
            continue;
        }
        let at = index * STEP;
        found.used_until = offset + (at + word.len()) as u64;
        let header = bytes.get(at..at + frame::LENGTH);
        if let Some(header) = header.and_then(|bytes| FrameHeader::decode(bytes, seed)) {
            found.synced = found.synced.max(header.synced);
        }
    }
    done as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(synced: Sequence) -> FrameHeader {
        let (previous, first, recorded_ns) = (7, 7, 0);
        FrameHeader { previous, first, recorded_ns, synced, count: 1, length: 8, body_sum: 0 }
    }

    /// Searches as `search` does, with pieces of `piece` bytes.
    fn found(bytes: &[u8], seed: Seed, piece: usize) -> Evidence {
        let (mut at, mut found) = (0, Evidence::default());
        while at < bytes.len() {
            let end = bytes.len().min(at + piece);
            at += search_bytes(&bytes[at..end], at as u64, seed, &mut found) as usize;
        }
        found
    }

    #[test]
    fn a_header_is_found_wherever_a_piece_ends() {
        let seed = Seed::of_segment(1, 0);
        for at in (0..400).step_by(8) {
            let mut bytes = vec![0; 512];
            bytes[at..at + frame::LENGTH].copy_from_slice(&header(9).encode(seed));
            for piece in [frame::LENGTH, 64, 72, 100, 512] {
                let found = found(&bytes, seed, piece);
                assert_eq!((found.synced, found.used_until), (9, (at + frame::LENGTH) as u64));
            }
        }
    }

    #[test]
    fn zeros_are_no_evidence() {
        let found = found(&[0; 300], Seed::of_segment(1, 0), 100);
        assert_eq!((found.synced, found.used_until), (0, 0));
    }
}
