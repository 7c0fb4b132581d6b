//! The header of a snapshot.

use lapwing::Sequence;

use super::bytes::{put, u32_at, u64_at};

/// Bytes of the header. The state follows.
pub(crate) const LENGTH: usize = 40;

const MAGIC: u64 = u64::from_le_bytes(*b"lapwsnap");
const VERSION: u32 = 1;
const CHECKSUM: usize = LENGTH - 4;

/// A snapshot as its header describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SnapshotHeader {
    /// The first event that is not part of the state.
    pub(crate) sequence: Sequence,
    /// Bytes of the state.
    pub(crate) length: u64,
    /// Checksum of the state.
    pub(crate) state_sum: u32,
}

impl SnapshotHeader {
    pub(crate) fn encode(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        put(&mut bytes, 0, MAGIC.to_le_bytes());
        put(&mut bytes, 8, VERSION.to_le_bytes());
        put(&mut bytes, 16, self.sequence.to_le_bytes());
        put(&mut bytes, 24, self.length.to_le_bytes());
        put(&mut bytes, 32, self.state_sum.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..CHECKSUM]);
        put(&mut bytes, CHECKSUM, checksum.to_le_bytes());
        bytes
    }

    /// Returns the header if the bytes, all that a file has of it, are one of this version.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != LENGTH {
            return None;
        }
        let (sequence, length) = (u64_at(bytes, 16), u64_at(bytes, 24));
        let header = Self { sequence, length, state_sum: u32_at(bytes, 32) };
        (header.encode() == bytes).then_some(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_it_was_written_and_each_cut_and_changed_bit_is_noticed() {
        let header = SnapshotHeader { sequence: 7, length: 9, state_sum: 11 };
        assert_eq!(SnapshotHeader::decode(&header.encode()), Some(header));
        for length in 0..LENGTH {
            assert_eq!(SnapshotHeader::decode(&header.encode()[..length]), None, "length={length}");
        }
        for bit in 0..LENGTH * 8 {
            let mut bytes = header.encode();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(SnapshotHeader::decode(&bytes), None, "bit={bit}");
        }
    }
}
