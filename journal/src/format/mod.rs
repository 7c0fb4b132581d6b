//! The bytes on disk. All numbers are little-endian. Not here: in which order they are written
//! (`segments`), and what recovery makes of bytes that are not as they should be (`recovery`).
//!
//! A journal is a folder of segments. A segment has a header and frames without gaps between them.
//! It ends at the first sequence of the next segment, or where no frame continues the last one. What
//! follows is not part of the journal: zeros, or what is left of writes that failed or were cut.
//!
//! | segment header: 80 bytes | |
//! |---|---|
//! | 0 | magic |
//! | 8 | version |
//! | 12 | bytes of an event, or 0 if events differ in length |
//! | 16 | schema, the program's number |
//! | 24 | journal, a random number |
//! | 40 | sequence that follows the segment before this one |
//! | 48 | bytes of the file |
//! | 56 | time of creation, nanoseconds since 1970 |
//! | 64 | zero |
//! | 76 | checksum of the bytes before it |
//!
//! | frame: 56 bytes and the events, padded to 8 | |
//! |---|---|
//! | 0 | magic |
//! | 4 | bytes of the events |
//! | 8 | previous: the end of the frame before this one |
//! | 16 | first sequence. Claims that were given up lie between previous and first. |
//! | 24 | time of the write, nanoseconds since 1970 |
//! | 32 | synced: the end of what was synced when the frame was written |
//! | 40 | number of events, 0 for the mark of a clean close |
//! | 44 | zero |
//! | 48 | checksum of the events |
//! | 52 | checksum of the header before it |
//!
//! Events that differ in length each have it before them, in 4 bytes.
//!
//! | file `closed`: 48 bytes | |
//! |---|---|
//! | 0 | magic |
//! | 8 | version |
//! | 12 | zero |
//! | 16 | journal, the number in the headers of its segments |
//! | 32 | the end of the journal when it was last closed |
//! | 40 | zero |
//! | 44 | checksum of the bytes before it |
//!
//! The file `closed` has zeros, or is missing, if the journal was never closed or was copied without
//! it. Otherwise a journal that ends earlier is damaged. A journal that goes on after a close ends
//! later, and the file stays as it is until the next close.
//!
//! | snapshot: 40 bytes and the state | |
//! |---|---|
//! | 0 | magic |
//! | 8 | version |
//! | 12 | zero |
//! | 16 | the first event that is not part of the state |
//! | 24 | bytes of the state |
//! | 32 | checksum of the state |
//! | 36 | checksum of the bytes before it |
//!
//! The checksums are CRC-32C. Those of a segment begin with the number of the journal and the first
//! sequence of the segment. So bytes of another file never pass.

pub(crate) mod bytes; // numbers in a slice
pub(crate) mod checksum; // CRC-32C that begins with the segment's identity
pub(crate) mod name; // file names

pub(crate) mod frame; // header of a frame
pub(crate) mod segment; // header of a segment
pub(crate) mod snapshot; // header of a snapshot

pub(crate) mod closed; // where the journal ended when it was closed

use std::time::{SystemTime, UNIX_EPOCH};

/// Each frame begins at a multiple of this.
pub(crate) const ALIGNMENT: u64 = 8;

/// Rounds up to the next multiple of [`ALIGNMENT`].
pub(crate) fn aligned(bytes: u64) -> u64 {
    bytes.next_multiple_of(ALIGNMENT)
}

/// Nanoseconds since 1970. 0 for a clock that is set to before that.
pub(crate) fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
