//! The events of a frame as bytes: one after the other, each after its length if they differ in
//! length. Not here: the bytes of one event (`encoding`).

use std::sync::Arc;

use lapwing::Sequence;

use crate::encoding::Encoding;
use crate::error::ReadError;
use crate::format::bytes::{put, u32_at};

/// Bytes of the length of an event.
const LENGTH: usize = 4;

/// Returns how many of the events fit into `limit` bytes, and their bytes. `buffer` is for events
/// that are not their bytes.
pub(crate) fn encode<'a, E, T: Encoding<E>>(
    events: &'a [E],
    limit: usize,
    buffer: &'a mut Vec<u8>,
) -> (usize, &'a [u8]) {
    match T::as_bytes(events) {
        Some(bytes) if T::EVENT_BYTES > 0 => {
            let count = events.len().min(limit / T::EVENT_BYTES);
            (count, &bytes[..count * T::EVENT_BYTES])
        }
        _ => encode_each::<E, T>(events, limit, buffer),
    }
}

fn encode_each<'a, E, T: Encoding<E>>(
    events: &[E],
    limit: usize,
    buffer: &'a mut Vec<u8>,
) -> (usize, &'a [u8]) {
    buffer.clear();
    for (index, event) in events.iter().enumerate() {
        let begin = buffer.len();
        if T::EVENT_BYTES == 0 {
            buffer.extend_from_slice(&[0; LENGTH]);
        }
        T::encode(event, buffer);
        if buffer.len() > limit {
            buffer.truncate(begin);
            return (index, buffer);
        }
        if T::EVENT_BYTES == 0 {
            let length = (buffer.len() - begin - LENGTH) as u32; // at most `limit`
            put(buffer, begin, length.to_le_bytes());
        }
    }
    (events.len(), buffer)
}

/// Takes the bytes of one event. The checksum was right, so they are as the writer left them.
pub(crate) fn next_event<'a, E, T: Encoding<E>>(left: &mut &'a [u8]) -> &'a [u8] {
    let length = match T::EVENT_BYTES {
        0 if left.len() >= LENGTH => {
            let length = u32_at(left, 0) as usize;
            *left = &left[LENGTH..];
            length
        }
        bytes => bytes,
    };
    let (event, rest) = left.split_at(length.min(left.len()));
    *left = rest;
    event
}

/// Decodes an event into `event`.
pub(crate) fn decode<E, T: Encoding<E>>(
    sequence: Sequence,
    bytes: &[u8],
    event: &mut E,
) -> Result<(), ReadError> {
    let decoded = T::decode(bytes, event);
    decoded.map_err(|error| ReadError::Decode { sequence, error: Arc::new(error) })
}
