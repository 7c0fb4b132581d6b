//! The header of each message: which events follow, of which publisher, in which form.
//!
//! ```text
//!  0        4        8          12      16            24        32        40
//! ┌────────┬────────┬──────────┬───────┬─────────────┬─────────┬─────────┬────────────
//! │ magic  │ schema │ bytes of │ count │ publisher   │ after   │ first   │ events
//! │ "LPW1" │        │ an event │       │             │         │         │
//! └────────┴────────┴──────────┴───────┴─────────────┴─────────┴─────────┴────────────
//! ```
//!
//! `first` and `after` are sequences of the publisher's ring. A publisher has passed everything
//! below `after`, so a subscriber that expects less has lost events. Claims that were given up lie
//! between `after` and `first`. Numbers have the byte order of the machine, and the magic number
//! detects another order.

use bytemuck::{Pod, Zeroable};

use crate::notice::Rejected;

/// Bytes before the events.
pub(crate) const HEAD: usize = size_of::<Frame>();

/// Size of an event if each has a length of its own.
pub(crate) const VARIABLE: u32 = u32::MAX;

/// Bytes before each event if it has a length of its own: that length.
pub(crate) const LENGTH: usize = size_of::<u32>();

/// Magic and version.
const MAGIC: u32 = u32::from_le_bytes(*b"LPW1");

/// The header of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Frame {
    pub(crate) magic: u32,
    /// A number that both ends have agreed on for the form of their events.
    pub(crate) schema: u32,
    /// Size of an event, or [`VARIABLE`].
    pub(crate) event_bytes: u32,
    /// Number of events in the message.
    pub(crate) count: u32,
    /// A random number of the publisher.
    pub(crate) publisher: u64,
    /// The sequence after the last event that the publisher has sent or dropped.
    pub(crate) after: u64,
    /// The sequence of the first event in the message.
    pub(crate) first: u64,
}

impl Frame {
    pub(crate) fn new(schema: u32, event_bytes: u32, publisher: u64) -> Self {
        Self { magic: MAGIC, schema, event_bytes, count: 0, publisher, after: 0, first: 0 }
    }

    /// The sequence after the last event of the message.
    pub(crate) fn end(&self) -> u64 {
        self.first + u64::from(self.count)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        bytemuck::bytes_of(self)
    }

    /// Splits a message into its head and its events, if it is one that this end can read.
    pub(crate) fn read(
        message: &[u8],
        schema: u32,
        event_bytes: u32,
    ) -> Result<(Self, &[u8]), Rejected> {
        let Some((head, events)) = message.split_at_checked(HEAD) else {
            return Err(Rejected::NotLapwing);
        };
        let frame: Self = bytemuck::pod_read_unaligned(head);
        if frame.magic != MAGIC {
            return Err(Rejected::NotLapwing);
        }
        if frame.schema != schema {
            return Err(Rejected::Schema { expected: schema, found: frame.schema });
        }
        if frame.event_bytes != event_bytes {
            return Err(Rejected::EventSize { expected: event_bytes, found: frame.event_bytes });
        }
        if !frame.is_consistent(events.len()) {
            return Err(Rejected::Damaged);
        }
        Ok((frame, events))
    }

    fn is_consistent(&self, bytes: usize) -> bool {
        let is_in_range = self.first.checked_add(u64::from(self.count)).is_some();
        let (count, bytes) = (u64::from(self.count), bytes as u64);
        let has_its_length = match self.event_bytes {
            VARIABLE => count * LENGTH as u64 <= bytes,
            event_bytes => count * u64::from(event_bytes) == bytes,
        };
        self.count > 0 && self.after <= self.first && is_in_range && has_its_length
    }
}

/// Returns the size of a plain event in a frame. An event without bytes does not compile, since its
/// count would say all.
pub(crate) fn plain_bytes<E>() -> u32 {
    const { assert!(size_of::<E>() > 0, "a plain event needs at least one byte") };
    u32::try_from(size_of::<E>()).unwrap_or(VARIABLE - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(change: impl FnOnce(&mut Frame)) -> Vec<u8> {
        let mut frame = Frame { count: 2, after: 5, first: 5, ..Frame::new(7, 4, 99) };
        change(&mut frame);
        [frame.as_bytes(), &[0; 8]].concat()
    }

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let message = message(|_| {});
        let (frame, events) = Frame::read(&message, 7, 4).unwrap();
        assert_eq!((frame.publisher, frame.after, frame.first, frame.end()), (99, 5, 5, 7));
        assert_eq!(events, [0; 8]);
        assert_eq!(HEAD, 40);
    }

    #[test]
    fn a_message_of_another_kind_is_rejected_with_its_reason() {
        let reason = |message: &[u8]| Frame::read(message, 7, 4).unwrap_err();
        assert_eq!(reason(b"hello"), Rejected::NotLapwing);
        assert_eq!(reason(&[0; 100]), Rejected::NotLapwing);
        assert_eq!(
            reason(&message(|frame| frame.magic = MAGIC.swap_bytes())),
            Rejected::NotLapwing
        );
        let other_schema = message(|frame| frame.schema = 8);
        assert_eq!(reason(&other_schema), Rejected::Schema { expected: 7, found: 8 });
        let other_size = message(|frame| frame.event_bytes = 8);
        assert_eq!(reason(&other_size), Rejected::EventSize { expected: 4, found: 8 });
    }

    #[test]
    fn a_damaged_head_is_rejected() {
        let damages: [fn(&mut Frame); 4] = [
            |frame| frame.count = 0,
            |frame| frame.count = 3,
            |frame| frame.after = 6,
            |frame| (frame.after, frame.first) = (0, u64::MAX),
        ];
        for damage in damages {
            assert_eq!(Frame::read(&message(damage), 7, 4), Err(Rejected::Damaged));
        }
        let too_many = message(|frame| (frame.event_bytes, frame.count) = (VARIABLE, 3));
        assert_eq!(Frame::read(&too_many, 7, VARIABLE), Err(Rejected::Damaged));
    }
}
