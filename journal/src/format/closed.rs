//! The file `closed`.

use lapwing::Sequence;

use super::bytes::{put, u32_at, u64_at, u128_at};
use super::segment::NoHeader;

/// Bytes of the file. A disk writes it as a whole.
pub(crate) const LENGTH: usize = 48;

const MAGIC: u64 = u64::from_le_bytes(*b"lapwclsd");
const VERSION: u32 = 1;
const CHECKSUM: usize = LENGTH - 4;

/// Where the journal ended when it was last closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClosedEnd {
    /// The random number of the journal.
    pub(crate) journal: u128,
    /// The sequence after the last event.
    pub(crate) end: Sequence,
}

impl ClosedEnd {
    pub(crate) fn encode(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        put(&mut bytes, 0, MAGIC.to_le_bytes());
        put(&mut bytes, 8, VERSION.to_le_bytes());
        put(&mut bytes, 16, self.journal.to_le_bytes());
        put(&mut bytes, 32, self.end.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..CHECKSUM]);
        put(&mut bytes, CHECKSUM, checksum.to_le_bytes());
        bytes
    }

    /// Decodes what there is of the file. Zeros, or nothing, are a journal that was never closed.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Option<Self>, NoHeader> {
        if bytes.iter().all(|&byte| byte == 0) {
            return Ok(None);
        }
        if bytes.len() != LENGTH {
            return Err(NoHeader::Unreadable);
        }
        let is_intact = crc32c::crc32c(&bytes[..CHECKSUM]) == u32_at(bytes, CHECKSUM);
        if u64_at(bytes, 0) != MAGIC || !is_intact {
            return Err(NoHeader::Unreadable);
        }
        match u32_at(bytes, 8) {
            VERSION => Ok(Some(Self { journal: u128_at(bytes, 16), end: u64_at(bytes, 32) })),
            version => Err(NoHeader::Version(version)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_read_as_it_was_written_and_each_cut_and_changed_bit_is_noticed() {
        let closed = ClosedEnd { journal: 1 << 100, end: 7 };
        assert_eq!(ClosedEnd::decode(&closed.encode()), Ok(Some(closed)));
        assert_eq!(ClosedEnd::decode(&[0; LENGTH]), Ok(None));
        assert_eq!(ClosedEnd::decode(&[]), Ok(None));
        for length in 1..LENGTH {
            let bytes = &closed.encode()[..length];
            assert_eq!(ClosedEnd::decode(bytes), Err(NoHeader::Unreadable), "length={length}");
        }
        for bit in 0..LENGTH * 8 {
            let mut bytes = closed.encode();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(ClosedEnd::decode(&bytes), Err(NoHeader::Unreadable), "bit={bit}");
        }
    }
}
