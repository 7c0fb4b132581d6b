//! The header of a segment.

use lapwing::Sequence;

use super::bytes::{put, u32_at, u64_at, u128_at};
use super::checksum::Seed;

/// Bytes of the header. The first frame follows.
pub(crate) const LENGTH: usize = 80;

const MAGIC: u64 = u64::from_le_bytes(*b"lapwjrnl");
const VERSION: u32 = 1;
const CHECKSUM: usize = LENGTH - 4;

/// What the program journals: events of another shape are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Bytes of each event, or 0 if events differ in length.
    pub(crate) event_bytes: u32,
    /// The program's number.
    pub(crate) schema: u64,
}

/// A segment as its header describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub(crate) shape: Shape,
    /// The random number of the journal.
    pub(crate) journal: u128,
    /// The sequence that follows the segment before this one.
    pub(crate) first: Sequence,
    /// Length of the file.
    pub(crate) bytes: u64,
    pub(crate) created_ns: u64,
}

/// Why bytes are not a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoHeader {
    /// The checksum or the magic is wrong.
    Unreadable,
    /// A later version of this crate has written it.
    Version(u32),
}

impl SegmentHeader {
    /// The seed of all checksums of the segment.
    pub(crate) fn seed(&self) -> Seed {
        Seed::of_segment(self.journal, self.first)
    }

    pub(crate) fn encode(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        put(&mut bytes, 0, MAGIC.to_le_bytes());
        put(&mut bytes, 8, VERSION.to_le_bytes());
        put(&mut bytes, 12, self.shape.event_bytes.to_le_bytes());
        put(&mut bytes, 16, self.shape.schema.to_le_bytes());
        put(&mut bytes, 24, self.journal.to_le_bytes());
        put(&mut bytes, 40, self.first.to_le_bytes());
        put(&mut bytes, 48, self.bytes.to_le_bytes());
        put(&mut bytes, 56, self.created_ns.to_le_bytes());
        let checksum = self.seed().sum(&bytes[..CHECKSUM]);
        put(&mut bytes, CHECKSUM, checksum.to_le_bytes());
        bytes
    }

    /// Decodes what a file has of its header: all of it, or less if the file was cut.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, NoHeader> {
        if bytes.len() != LENGTH {
            return Err(NoHeader::Unreadable);
        }
        let header = Self {
            shape: Shape { event_bytes: u32_at(bytes, 12), schema: u64_at(bytes, 16) },
            journal: u128_at(bytes, 24),
            first: u64_at(bytes, 40),
            bytes: u64_at(bytes, 48),
            created_ns: u64_at(bytes, 56),
        };
        let is_intact = header.seed().sum(&bytes[..CHECKSUM]) == u32_at(bytes, CHECKSUM);
        if u64_at(bytes, 0) != MAGIC || !is_intact {
            return Err(NoHeader::Unreadable);
        }
        match u32_at(bytes, 8) {
            VERSION => Ok(header),
            version => Err(NoHeader::Version(version)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> SegmentHeader {
        let shape = Shape { event_bytes: 64, schema: 3 };
        SegmentHeader { shape, journal: 1 << 100, first: 7, bytes: 1 << 20, created_ns: 9 }
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        assert_eq!(SegmentHeader::decode(&header().encode()), Ok(header()));
    }

    #[test]
    fn each_cut_and_each_changed_bit_is_noticed() {
        for length in 0..LENGTH {
            let bytes = &header().encode()[..length];
            assert_eq!(SegmentHeader::decode(bytes), Err(NoHeader::Unreadable), "length={length}");
        }
        for bit in 0..LENGTH * 8 {
            let mut bytes = header().encode();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(SegmentHeader::decode(&bytes), Err(NoHeader::Unreadable), "bit={bit}");
        }
    }
}
