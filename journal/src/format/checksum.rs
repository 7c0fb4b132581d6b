//! The checksum of headers and events.

use lapwing::Sequence;

/// What a checksum begins with: the identity of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seed(u32);

impl Seed {
    /// The seed of the segment of `journal` that begins with `first`.
    pub(crate) fn of_segment(journal: u128, first: Sequence) -> Self {
        let crc = crc32c::crc32c(&journal.to_le_bytes());
        Self(crc32c::crc32c_append(crc, &first.to_le_bytes()))
    }

    /// The checksum of `bytes`.
    pub(crate) fn sum(self, bytes: &[u8]) -> u32 {
        crc32c::crc32c_append(self.0, bytes)
    }
}
