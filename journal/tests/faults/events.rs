//! Events that tell which attempt wrote them. An event of an attempt that was cut must not come
//! back.

use lapwing_journal::error::BoxError;
use lapwing_journal::{Encoding, Plain};

/// A kind of event for the tests.
pub(crate) trait Kind: 'static {
    type Event: Default + PartialEq + Clone + std::fmt::Debug;
    type Encoding: Encoding<Self::Event>;

    /// The event that `attempt` has for `sequence`.
    fn event(attempt: u64, sequence: u64, filler: usize) -> Self::Event;
}

/// Events of plain data.
pub(crate) enum Words {}

impl Kind for Words {
    type Event = [u64; 3];
    type Encoding = Plain;

    fn event(attempt: u64, sequence: u64, filler: usize) -> [u64; 3] {
        [attempt, sequence, filler as u64]
    }
}

/// Events of different lengths.
pub(crate) enum Bytes {}

impl Kind for Bytes {
    type Event = Vec<u8>;
    type Encoding = Self;

    fn event(attempt: u64, sequence: u64, filler: usize) -> Vec<u8> {
        let mut bytes = [attempt.to_le_bytes(), sequence.to_le_bytes()].concat();
        bytes.resize(16 + filler, attempt as u8);
        bytes
    }
}

impl Encoding<Vec<u8>> for Bytes {
    fn encode(event: &Vec<u8>, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(event);
    }

    fn decode(bytes: &[u8], event: &mut Vec<u8>) -> Result<(), BoxError> {
        event.clear();
        event.extend_from_slice(bytes);
        Ok(())
    }
}
