//! The header of a frame.

use lapwing::Sequence;

use super::bytes::{put, u32_at, u64_at};
use super::checksum::Seed;
use super::{ALIGNMENT, aligned};

/// Bytes of the header. The events follow.
pub(crate) const LENGTH: usize = 56;

/// A byte that erases frames. No header has it everywhere, and a file has zeros after its frames.
pub(crate) const NO_FRAME: u8 = 0xff;

const MAGIC: u32 = u32::from_le_bytes(*b"fram");
const CHECKSUM: usize = LENGTH - 4;

/// A frame as its header describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    /// The end of the frame before this one.
    pub(crate) previous: Sequence,
    /// The first event. It equals `previous`, unless claims were given up in between.
    pub(crate) first: Sequence,
    /// When the frame was written.
    pub(crate) recorded_ns: u64,
    /// The end of what was synced when the frame was written.
    pub(crate) synced: Sequence,
    /// Number of events. 0 marks a clean close.
    pub(crate) count: u32,
    /// Bytes of the events.
    pub(crate) length: u32,
    /// Checksum of the events.
    pub(crate) body_sum: u32,
}

impl FrameHeader {
    /// The sequence after the last event.
    pub(crate) fn end(&self) -> Sequence {
        self.first + u64::from(self.count)
    }

    /// The bytes that the frame takes, with its padding.
    pub(crate) fn frame_bytes(&self) -> u64 {
        frame_bytes(u64::from(self.length))
    }

    pub(crate) fn encode(&self, seed: Seed) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        put(&mut bytes, 0, MAGIC.to_le_bytes());
        put(&mut bytes, 4, self.length.to_le_bytes());
        put(&mut bytes, 8, self.previous.to_le_bytes());
        put(&mut bytes, 16, self.first.to_le_bytes());
        put(&mut bytes, 24, self.recorded_ns.to_le_bytes());
        put(&mut bytes, 32, self.synced.to_le_bytes());
        put(&mut bytes, 40, self.count.to_le_bytes());
        put(&mut bytes, 48, self.body_sum.to_le_bytes());
        let checksum = seed.sum(&bytes[..CHECKSUM]);
        put(&mut bytes, CHECKSUM, checksum.to_le_bytes());
        bytes
    }

    /// Returns the header if the bytes are one. The slice must have [`LENGTH`] bytes.
    pub(crate) fn decode(bytes: &[u8], seed: Seed) -> Option<Self> {
        if u32_at(bytes, 0) != MAGIC || seed.sum(&bytes[..CHECKSUM]) != u32_at(bytes, CHECKSUM) {
            return None;
        }
        let header = Self {
            previous: u64_at(bytes, 8),
            first: u64_at(bytes, 16),
            recorded_ns: u64_at(bytes, 24),
            synced: u64_at(bytes, 32),
            count: u32_at(bytes, 40),
            length: u32_at(bytes, 4),
            body_sum: u32_at(bytes, 48),
        };
        header.first.checked_add(u64::from(header.count))?;
        Some(header)
    }
}

/// The bytes of a frame whose events take `body` bytes.
pub(crate) fn frame_bytes(body: u64) -> u64 {
    aligned(LENGTH as u64 + body)
}

/// The zeros after `length` bytes of events.
pub(crate) fn padding(length: usize) -> &'static [u8] {
    const ZEROS: [u8; ALIGNMENT as usize] = [0; ALIGNMENT as usize];
    let padded = (LENGTH + length).next_multiple_of(ALIGNMENT as usize);
    &ZEROS[..padded - LENGTH - length]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> FrameHeader {
        let (recorded_ns, body_sum) = (5, 77);
        FrameHeader {
            previous: 7,
            first: 9,
            recorded_ns,
            synced: 3,
            count: 2,
            length: 16,
            body_sum,
        }
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let seed = Seed::of_segment(1, 7);
        assert_eq!(FrameHeader::decode(&header().encode(seed), seed), Some(header()));
    }

    #[test]
    fn a_frame_of_another_segment_or_journal_does_not_pass() {
        let bytes = header().encode(Seed::of_segment(1, 7));
        for other in [Seed::of_segment(1, 8), Seed::of_segment(2, 7)] {
            assert_eq!(FrameHeader::decode(&bytes, other), None);
        }
    }

    #[test]
    fn each_changed_bit_is_noticed() {
        let seed = Seed::of_segment(1, 7);
        for bit in 0..LENGTH * 8 {
            let mut bytes = header().encode(seed);
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(FrameHeader::decode(&bytes, seed), None, "bit={bit}");
        }
    }

    #[test]
    fn a_sequence_that_would_overflow_does_not_pass() {
        let seed = Seed::of_segment(1, 7);
        let header = FrameHeader { first: u64::MAX, ..header() };
        assert_eq!(FrameHeader::decode(&header.encode(seed), seed), None);
    }

    #[test]
    fn frames_end_at_multiples_of_eight() {
        for length in 0..20 {
            let bytes = LENGTH + length + padding(length).len();
            assert_eq!((bytes % 8, bytes as u64), (0, frame_bytes(length as u64)));
        }
    }
}
